"""Runs that are compared stand side by side: interleaved rounds, medians, ratios, one line a run.

A shared machine drifts by a factor of two within a minute, so nothing is measured alone: each round
times every contender once, and a ratio is the median of the rounds' ratios.
"""

from __future__ import annotations

import gc
import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def interleaved(contenders: Mapping[str, Callable[[], float]], n_rounds: int) -> dict[str, list]:
    """Return what each contender measured in each round; the first round warms up and is dropped.

    Args:
        contenders: By name, a call that measures once and returns a figure.
        n_rounds: Rounds that count.
    """
    measured: dict[str, list[float]] = {name: [] for name in contenders}
    for i in range(n_rounds + 1):
        for name, measure in contenders.items():
            gc.collect()
            figure = measure()
            if i:
                measured[name].append(figure)
    return measured


def print_table(title: str, measured: Mapping[str, list[float]], base: str, unit: str) -> None:
    """Print medians, spread and the ratio to `base`."""
    print(f"\n{title}")
    print(f"{'':<40}{unit:>14}{'spread':>18}{'ratio':>9}")
    for name, figures in measured.items():
        low, high = min(figures), max(figures)
        ratio = ratio_of(measured, name, base)
        middle = statistics.median(figures)
        print(f"{name:<40}{middle:>14,.0f}{f'{low:,.0f}–{high:,.0f}':>18}{ratio:>8.2f}×")


def ratio_of(measured: Mapping[str, list[float]], name: str, base: str) -> float:
    """Return the median of the rounds' ratios."""
    pairs = zip(measured[name], measured[base], strict=True)
    return statistics.median(mine / other for mine, other in pairs)


def append_result(file: str, facts: Mapping[str, Any], measured: Mapping[str, list[float]]) -> None:
    """Append one line to `results/file`: what, when, on which machine, and every figure."""
    RESULTS.mkdir(exist_ok=True)
    line = {
        "when": time.strftime("%Y-%m-%dT%H:%M:%S"),
        "machine": _machine(),
        **facts,
        "measured": {name: [round(x, 3) for x in figures] for name, figures in measured.items()},
    }
    with (RESULTS / file).open("a", encoding="utf-8") as out:
        out.write(json.dumps(line) + "\n")


def _machine() -> dict[str, Any]:
    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text(encoding="utf-8").splitlines()
        name = next((x.split(":")[1].strip() for x in lines if x.startswith("model name")), name)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {"processor": name, "cores": os.cpu_count(), "load": load, "system": platform.system()}
