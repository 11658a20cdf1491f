"""How long one waits before anything happens: whole processes, and a take with a warm engine.

    python benchmarks/bench_startup.py
    python benchmarks/bench_startup.py --compiling     # also with no compiled code kept
    python benchmarks/bench_startup.py --smoke         # seconds, for CI

Every figure is a whole process from its start to its end, the files in the system's cache. "From
nothing compiled" gives numba an empty folder, as on a machine where the engine never ran. The warm
takes are made one after another in this process, each round with another seed. Seconds are told by
the clock and by the processor: on a shared machine only the latter keep still.
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
from collections.abc import Callable, Sequence
from pathlib import Path

from rounds import ROOT, Table, interleaved_times, parser_of


def run_python(arguments: Sequence[str], **environment: str) -> None:
    """Run a Python process to its end.

    Raises:
        RuntimeError: It failed.
    """
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    surroundings = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **environment}
    done = subprocess.run(
        [sys.executable, *arguments], env=surroundings, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(done.stderr)


def generate(seconds: float, *, from_nothing: bool = False) -> None:
    """Run `musicgen generate` as a new process."""
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
        run_python(line, **environment)


def measure_processes(options: argparse.Namespace) -> None:
    """Measure whole processes."""
    calls: dict[str, Callable[[], object]] = {
        "python, nothing else": lambda: run_python(["-c", "pass"]),
        "import musicgen": lambda: run_python(["-c", "import musicgen"]),
        "musicgen --help": lambda: run_python(["-m", "musicgen", "--help"]),
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
            calls[f"import {name}"] = functools.partial(run_python, ["-c", f"import {name}"])
    n_warm = 0 if options.smoke else 1
    tables = interleaved_times(calls, options.rounds, n_warm=n_warm)
    show(tables, "whole processes", options, what="processes")


def show(
    tables: dict[str, dict[str, list[float]]],
    title: str,
    options: argparse.Namespace,
    **facts: object,
) -> None:
    """Print and keep seconds of the clock and of the processor."""
    for seconds_of, measured in tables.items():
        table = Table(
            title=f"{title}, seconds of the {seconds_of}",
            unit="s",
            base=next(iter(measured)),
            measured=measured,
        )
        table.show()
        facts |= {"seconds_of": seconds_of, "seconds": options.seconds}
        table.keep("startup.jsonl", options, **facts)


def measure_warm(options: argparse.Namespace) -> None:
    """Measure takes with everything loaded."""
    from musicgen.pipeline import MusicPipeline

    pipeline = MusicPipeline.load("piano", threads=1)
    engine = pipeline.prepare().name
    seeds = itertools.count()

    def take() -> None:
        pipeline.generate(seconds=options.seconds, seed=next(seeds))

    works = {f"{options.seconds:g} s of music, {engine}": take}
    tables = interleaved_times(works, options.warm_rounds)
    facts = {"what": "warm", "model_sha256": pipeline.sha256, "threads": 1}
    show(tables, "a take, warm", options, **facts)


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
