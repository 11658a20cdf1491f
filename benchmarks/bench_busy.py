"""Decoding beside others: what is left of its speed with another process busy on every core.

    python benchmarks/bench_busy.py
    python benchmarks/bench_busy.py --smoke            # seconds, for CI

Where every core has one other process at work, a fair share is half. A decoder whose threads wait
for each other by spinning loses far more. Alone and busy alternate, one stream on one thread;
plain PyTorch runs with a thread a core, as it does by default.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from decode_plain import PlainTorch
from decode_shapes import SHAPES, OurSteps, random_decoder
from rounds import Table, interleaved, parser_of

FAIR = 0.5
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


def contenders(options: argparse.Namespace) -> dict[str, Callable[[], float]]:
    """Return our engine and plain PyTorch, alone and beside others."""
    shape, n_cores = SHAPES[options.shape], cores_used()
    mine, plain = OurSteps(random_decoder(shape), "numba"), PlainTorch(shape)

    def ours() -> float:
        return mine.measure(options.position, options.steps)

    def peers() -> float:
        torch.set_num_threads(n_cores)
        try:
            return plain.measure(options.position, max(4, options.steps // 8))
        finally:
            torch.set_num_threads(1)

    def beside_others(measure: Callable[[], float]) -> float:
        with busy_cores(n_cores):
            return measure()

    return {
        BASE: ours,
        "musicgen, every core busy": lambda: beside_others(ours),
        f"plain PyTorch, {n_cores} threads, alone": peers,
        f"plain PyTorch, {n_cores} threads, every core busy": lambda: beside_others(peers),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = parser_of("Decoding beside busy processes", rounds=5)
    parser.add_argument("--shape", choices=SHAPES, default="6M")
    parser.add_argument("--position", type=int, default=256)
    parser.add_argument("--steps", type=int, default=800)
    options = parser.parse_args(arguments)
    if options.smoke:
        options.shape, options.position, options.steps, options.rounds = "smoke", 16, 200, 1
    torch.set_num_threads(1)
    table = Table(
        title=f"{options.shape}, {cores_used()} core(s), a fair share is {FAIR:g}",
        unit="steps/s",
        base=BASE,
        measured=interleaved(contenders(options), options.rounds),
    )
    table.show()
    table.keep("busy.jsonl", options, threads=1, shape=options.shape, position=options.position)


if __name__ == "__main__":
    main()
