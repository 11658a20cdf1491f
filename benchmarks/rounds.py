"""Runs that are compared stand side by side: interleaved rounds, medians, ratios, one line a run.

A shared machine drifts by a factor of two within a minute, so nothing is measured alone: each round
times every contender once, and a ratio is the median of the rounds' ratios.
"""

from __future__ import annotations

import argparse
import functools
import gc
import json
import os
import platform
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"


def parser_of(description: str, *, rounds: int) -> argparse.ArgumentParser:
    """Return a parser with what every benchmark understands."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rounds", type=int, default=rounds, help="those that count")
    parser.add_argument("--smoke", action="store_true", help="tiny sizes and one round, for CI")
    parser.add_argument("--note", default="", help="kept with the figures: what else was going on")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder of results")
    return parser


def interleaved(
    contenders: Mapping[str, Callable[[], float]], n_rounds: int, *, n_warm: int = 1
) -> dict[str, list]:
    """Return what each contender measured in each round.

    Args:
        contenders: By name, a call that measures once and returns a figure.
        n_rounds: Rounds that count.
        n_warm: Rounds before them, which do not.
    """
    measured: dict[str, list[float]] = {name: [] for name in contenders}
    for i in range(n_warm + n_rounds):
        for name, measure in contenders.items():
            gc.collect()
            figure = measure()
            if i >= n_warm:
                measured[name].append(figure)
    return measured


def interleaved_times(
    works: Mapping[str, Callable[[], object]], n_rounds: int, *, n_warm: int = 1
) -> dict[str, dict[str, list[float]]]:
    """Return how long each work takes in each round: seconds by "clock" and by "processor".

    The processor's seconds, those of processes that have ended included, hardly change on a shared
    machine. They are left out where the system does not tell them.
    """
    by_processor: dict[str, list[float]] = {name: [] for name in works}

    def timed(name: str, work: Callable[[], object]) -> float:
        spent, began = sum(os.times()[:4]), time.perf_counter()
        work()
        taken = time.perf_counter() - began
        by_processor[name].append(sum(os.times()[:4]) - spent)
        return taken

    calls = {name: functools.partial(timed, name, work) for name, work in works.items()}
    by_clock = interleaved(calls, n_rounds, n_warm=n_warm)
    by_processor = {name: seconds[n_warm:] for name, seconds in by_processor.items()}
    are_told = all(min(seconds) > 0 for seconds in by_processor.values())
    return {"clock": by_clock, **({"processor": by_processor} if are_told else {})}


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What one run of contenders found.

    Attributes:
        title: What was measured.
        unit: Of the figures, such as "steps/s".
        base: The contender to whose figures the ratios are.
        measured: By contender, its figure in each round.
    """

    title: str
    unit: str
    base: str
    measured: Mapping[str, list[float]]

    def show(self) -> None:
        """Print medians, spread and the ratio to `base`."""
        width = max(40, *(len(name) + 1 for name in self.measured))
        print(f"\n{self.title}; ratios to {self.base}")
        print(f"{'':<{width}}{self.unit:>12}{'spread':>20}{'ratio':>9}")
        for name, figures in self.measured.items():
            spread = f"{said(min(figures))}–{said(max(figures))}"
            ratio = f"{said(ratio_of(self.measured, name, self.base))}×"
            print(f"{name:<{width}}{said(statistics.median(figures)):>12}{spread:>20}{ratio:>9}")

    def keep(self, file: str, options: argparse.Namespace, **facts: Any) -> None:
        """Append one line to `file`: what, when, of which code, where, and every figure."""
        options.results.mkdir(parents=True, exist_ok=True)
        line = {
            "when": time.strftime("%Y-%m-%dT%H:%M:%S"),
            "commit": _commit(),
            "machine": _machine(),
            "note": options.note,
            **({"smoke": True} if options.smoke else {}),
            **facts,
            "unit": self.unit,
            "base": self.base,
            "measured": {
                name: [float(f"{figure:.5g}") for figure in figures]
                for name, figures in self.measured.items()
            },
        }
        with (options.results / file).open("a", encoding="utf-8") as out:
            out.write(json.dumps(line, ensure_ascii=False) + "\n")


def ratio_of(measured: Mapping[str, list[float]], name: str, base: str) -> float:
    """Return the median of the rounds' ratios."""
    pairs = zip(measured[name], measured[base], strict=True)
    return statistics.median(mine / other for mine, other in pairs)


def said(figure: float) -> str:
    """Return a figure with as many digits as it deserves."""
    if abs(figure) >= 100:
        return f"{figure:,.0f}"
    return f"{figure:.1f}" if abs(figure) >= 10 else f"{figure:.3g}"


def files_of(folder: Path, n_files: int) -> list[Path]:
    """Return MIDI files of a folder, drawn with seed 0."""
    import random

    from musicgen.midi import find_midi_files

    paths = find_midi_files(folder)
    return random.Random(0).sample(paths, min(n_files, len(paths)))


def _commit() -> str | None:
    """Return the code's commit, with "-dirty" where something is not committed."""
    if shutil.which("git") is None:
        return None
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--exclude", "*"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip() or None


def _machine() -> dict[str, Any]:
    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text(encoding="utf-8").splitlines()
        name = next((x.split(":")[1].strip() for x in lines if x.startswith("model name")), name)
    return {
        "processor": name,
        "cores": os.cpu_count(),
        "cores_used": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "system": platform.system(),
        "python": platform.python_version(),
    }
