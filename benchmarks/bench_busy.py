"""Decoding beside others: what is left of its speed with another process busy on every core.

    python benchmarks/bench_busy.py
    python benchmarks/bench_busy.py --smoke            # seconds, for CI

A stream on one thread loses what the scheduler gives to others, and no more: what it does in a
second of its own processor time stays the same. A decoder whose threads wait for each other by
spinning loses there too. So there are two tables from the same runs: steps a second of the clock
(with one other process on a core a fair share is half), and steps a second of the processor. Alone
and busy alternate; plain PyTorch runs with a thread a core, as it does by default.
"""

from __future__ import annotations

import argparse
import functools
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from decode_plain import PlainTorch
from decode_shapes import SHAPES, OurSteps, random_decoder
from rounds import Table, interleaved, parser_of

BASE = "musicgen, alone"


@contextmanager
def busy_cores(n_cores: int) -> Iterator[None]:
    """Keep a process busy on every core."""
    others = [
        subprocess.Popen([sys.executable, "-c", "print(flush=True)\nwhile True: pass"], stdout=-1)
        for _ in range(n_cores)
    ]
    try:
        for other in others:
            if other.stdout is not None:
                other.stdout.readline()  # it has begun
        yield
    finally:
        for other in others:
            other.kill()
            other.communicate()


def cores_used() -> int:
    """Return how many cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def contenders(
    options: argparse.Namespace, by_clock: dict[str, list[float]]
) -> dict[str, Callable[[], float]]:
    """Return our engine and plain PyTorch, alone and beside others.

    Each measures steps a second of the processor, and adds those of the clock to `by_clock`.
    """
    shape, n_cores = SHAPES[options.shape], cores_used()
    mine, plain = OurSteps(random_decoder(shape), "numba"), PlainTorch(shape)

    def ours(n_steps: int) -> float:
        return mine.measure(options.position, n_steps)

    def theirs(n_steps: int) -> float:
        torch.set_num_threads(n_cores)
        try:
            return plain.measure(options.position, n_steps)
        finally:
            torch.set_num_threads(1)

    def counted(name: str, measure: Callable[[int], float], n_steps: int) -> float:
        began = time.process_time()
        by_clock.setdefault(name, []).append(measure(n_steps))
        return n_steps / (time.process_time() - began)

    def beside_others(name: str, measure: Callable[[int], float], n_steps: int) -> float:
        with busy_cores(n_cores):
            return counted(name, measure, n_steps)

    found: dict[str, Callable[[], float]] = {}
    for who, measure, n_steps in (
        ("musicgen", ours, options.steps),
        (f"plain PyTorch, {n_cores} thread(s)", theirs, max(4, options.steps // 8)),
    ):
        measure(4)  # warm, the prompt included
        found |= {
            f"{who}, {state}": functools.partial(way, f"{who}, {state}", measure, n_steps)
            for state, way in (("alone", counted), ("every core busy", beside_others))
        }
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = parser_of("Decoding beside busy processes", rounds=5)
    parser.add_argument("--shape", choices=SHAPES, default="6M")
    parser.add_argument("--position", type=int, default=256)
    parser.add_argument("--steps", type=int, default=800)
    options = parser.parse_args(arguments)
    if options.smoke:
        options.shape, options.position, options.steps, options.rounds = "smoke", 16, 200, 1
    torch.set_num_threads(1)
    by_clock: dict[str, list[float]] = {}
    calls = contenders(options, by_clock)
    by_processor = interleaved(calls, options.rounds, n_warm=0)
    for seconds, measured in (("clock", by_clock), ("processor", by_processor)):
        table = Table(
            title=f"{options.shape}, {cores_used()} core(s), seconds of the {seconds}",
            unit="steps/s",
            base=BASE,
            measured=measured,
        )
        table.show()
        facts = {"shape": options.shape, "position": options.position, "seconds_of": seconds}
        table.keep("busy.jsonl", options, threads=1, **facts)


if __name__ == "__main__":
    main()
