"""What making music takes in memory, counted from after the imports.

    python benchmarks/bench_memory.py
    python benchmarks/bench_memory.py --smoke          # seconds, for CI

A new process imports what a take needs, loads the shipped model, makes a take, and tells by how
much it grew at most: with compiled code from the cache, with none there (so that it compiles), and
by torch. Linux only.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from rounds import ROOT, Table, interleaved, parser_of

ALLOWED_MB = 300
"""Beside the weights and the cache."""
BASE = "compiled code from the cache"
STATUS = Path("/proc/self/status")
CHILD = """
import json, re
from pathlib import Path
import llvmlite.binding, mido, numba, pretty_midi, safetensors.torch, symusic, torch
import musicgen.audio, musicgen.cli.app, musicgen.engine, musicgen.generation, musicgen.pipeline

def megabytes(name):
    text = Path("/proc/self/status").read_text()
    return int(re.search(name + r":\\s+(\\d+) kB", text).group(1)) / 1024

before = megabytes("VmRSS")
pipeline = musicgen.pipeline.MusicPipeline.load("piano", threads=1, engine=ENGINE)
pipeline.generate(seconds=SECONDS, seed=1)
config = pipeline.model.config
numbers = sum(each.numel() * each.element_size() for each in pipeline.model.parameters())
cache = 2 * config.n_layers * config.max_seq_len * config.d_model * BYTES
print(json.dumps([megabytes("VmHWM") - before, (numbers + cache) / 2**20]))
"""


def growth(engine: str, seconds: float, told: list[float], *, from_nothing: bool) -> float:
    """Return by how many MB a process grows; add the MB of weights and cache to `told`.

    Raises:
        RuntimeError: The process failed.
    """
    code = CHILD.replace("ENGINE", repr(engine)).replace("SECONDS", repr(seconds))
    code = code.replace("BYTES", "1" if engine == "numba" else "4")
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    with tempfile.TemporaryDirectory() as folder:
        if from_nothing:
            environment["NUMBA_CACHE_DIR"] = folder
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True
        )
    if done.returncode:
        raise RuntimeError(done.stderr)
    grown, needed = json.loads(done.stdout)
    told.append(needed)
    return grown


def contenders(
    options: argparse.Namespace, told: dict[str, list[float]]
) -> dict[str, Callable[[], float]]:
    """Return the ways to make a take."""
    ways = {BASE: ("numba", False)}
    if not options.smoke:
        ways |= {"compiling": ("numba", True), "by torch": ("torch", False)}
    return {
        name: functools.partial(
            growth, engine, options.seconds, told.setdefault(name, []), from_nothing=nothing
        )
        for name, (engine, nothing) in ways.items()
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = parser_of("Memory of a take", rounds=2)
    parser.add_argument("--seconds", type=float, default=30.0)
    options = parser.parse_args(arguments)
    if not STATUS.exists():
        print("left out: this system does not tell how much memory a process has used")
        return
    if options.smoke:
        options.seconds, options.rounds = 1.0, 1
    told: dict[str, list[float]] = {}
    measured = interleaved(contenders(options, told), options.rounds, n_warm=0)
    title = f"memory of {options.seconds:g} s of music, from after the imports"
    table = Table(title=title, unit="MB", base=BASE, measured=measured)
    table.show()
    needed = {name: round(figures[0], 1) for name, figures in told.items()}
    for name, figures in measured.items():
        beside = max(figures) - needed[name]
        print(f"{name}: weights and cache {needed[name]:.0f} MB, beside them {beside:.0f} MB")
    table.keep(
        "memory.jsonl", options, threads=1, seconds=options.seconds, weights_and_cache=needed
    )


if __name__ == "__main__":
    main()
