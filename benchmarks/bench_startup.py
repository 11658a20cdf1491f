"""How long one waits before anything happens: whole processes, and a take with a warm engine.

    python benchmarks/bench_startup.py
    python benchmarks/bench_startup.py --compiling     # also with no compiled code kept
    python benchmarks/bench_startup.py --smoke         # seconds, for CI

Every figure is a whole process from its start to its end, the files in the system's cache. "From
nothing compiled" gives numba an empty folder, as on a machine where the engine never ran. The warm
takes are made one after another in this process, each round with another seed.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import itertools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rounds import ROOT, Table, interleaved, parser_of


def seconds_of(arguments: Sequence[str], **environment: str) -> float:
    """Return how long a Python process takes.

    Raises:
        RuntimeError: It failed.
    """
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    surroundings = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **environment}
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments], env=surroundings, capture_output=True, text=True
    )
    taken = time.perf_counter() - began
    if done.returncode:
        raise RuntimeError(done.stderr)
    return taken


def generate(seconds: float, *, from_nothing: bool = False) -> float:
    """Return how long `musicgen generate` takes as a new process."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {"NUMBA_CACHE_DIR": str(Path(folder) / "numba")} if from_nothing else {}
        take = str(Path(folder) / "take.mid")
        line = [
            "-m",
            "musicgen",
            "generate",
            "-o",
            take,
            "--seconds",
            f"{seconds:g}",
            "--seed",
            "1",
        ]
        return seconds_of(line, **environment)


def measure_processes(options: argparse.Namespace) -> None:
    """Measure whole processes."""
    calls: dict[str, Callable[[], float]] = {
        "python, nothing else": lambda: seconds_of(["-c", "pass"]),
        "import musicgen": lambda: seconds_of(["-c", "import musicgen"]),
        "musicgen --help": lambda: seconds_of(["-m", "musicgen", "--help"]),
        f"musicgen generate, {options.seconds:g} s": lambda: generate(options.seconds),
    }
    if options.compiling:
        calls["the same, from nothing compiled"] = lambda: generate(
            options.seconds, from_nothing=True
        )
    for name in ("torch", "miditok", "transformers"):
        if importlib.util.find_spec(name) is None:
            print(f"left out: import {name} (pip install {name})")
        elif not options.smoke:
            calls[f"import {name}"] = functools.partial(seconds_of, ["-c", f"import {name}"])
    table = Table(
        title="whole processes",
        unit="s",
        base="python, nothing else",
        measured=interleaved(calls, options.rounds, n_warm=0 if options.smoke else 1),
    )
    table.show()
    table.keep("startup.jsonl", options, what="processes", seconds=options.seconds)


def measure_warm(options: argparse.Namespace) -> None:
    """Measure takes with everything loaded."""
    from musicgen.pipeline import MusicPipeline

    pipeline = MusicPipeline.load("piano", threads=1)
    engine = pipeline.prepare().name
    seeds = itertools.count()

    def take() -> float:
        began = time.perf_counter()
        pipeline.generate(seconds=options.seconds, seed=next(seeds))
        return time.perf_counter() - began

    name = f"{options.seconds:g} s of music, {engine}"
    measured = interleaved({name: take}, options.warm_rounds)
    table = Table(title="a take, warm", unit="s", base=name, measured=measured)
    table.show()
    facts = {"what": "warm", "seconds": options.seconds, "model_sha256": pipeline.sha256}
    table.keep("startup.jsonl", options, threads=1, **facts)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = parser_of("Waiting times", rounds=5)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--warm-rounds", type=int, default=15)
    parser.add_argument("--compiling", action="store_true")
    options = parser.parse_args(arguments)
    if options.smoke:
        options.seconds, options.rounds, options.warm_rounds = 2.0, 1, 2
    measure_processes(options)
    measure_warm(options)


if __name__ == "__main__":
    main()
