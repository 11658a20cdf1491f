"""`musicgen train --plan`: what a run would take on this machine, size by size."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from musicgen.cli.console import Console, duration

if TYPE_CHECKING:
    from musicgen.training import Outlook, TrainingRecipe

_HEAD = ("size", "parameters", "a step", "events/s", "steps", "takes", "times read", "memory")


def tell_plan(
    console: Console,
    music: Path,
    recipe: TrainingRecipe,
    output: Path | None,
    device: str,
    start_from: str | None,
) -> None:
    """Try a few steps of each size, or way to fine-tune, and tell what a run of it would take."""
    from musicgen import training

    found: list[Outlook] = []
    for event in training.look_ahead(
        music, recipe, run_folder=output, start_from=start_from, device=device
    ):
        if isinstance(event, training.Outlook):
            found.append(event)
            console.progress(f"{event.size}: {event.verdict}")
        elif isinstance(event, training.Scanned):
            console.note(event.summary)
            what = "size" if start_from is None else "way to fine-tune"
            console.progress(f"Trying a few steps of each {what} ...")
        else:
            line = f"{event.done:,} of {event.total:,} files read"
            console.progress(line, last=event.done == event.total)
    console.result({"sizes": [_as_data(each) for each in found]}, *_table(found))


def _as_data(outlook: Outlook) -> dict[str, Any]:
    trial = outlook.trial
    return {
        "size": outlook.size,
        "parameters": outlook.parameters,
        "fits": trial is not None and not outlook.is_too_large,
        "verdict": outlook.verdict,
        "free_bytes": outlook.free_bytes,
        "seconds_per_step": None if trial is None else trial.seconds_per_step,
        "events_per_s": None if trial is None else trial.events_per_s,
        "steps": None if trial is None else trial.steps,
        "minutes": None if trial is None else trial.minutes,
        "epochs": None if trial is None else trial.epochs,
        "memory_bytes": None if trial is None else trial.memory_bytes,
        "windows_at_once": None if trial is None else trial.windows_at_once,
    }


def _table(found: list[Outlook]) -> list[str]:
    rows = [_HEAD, *(_row(each) for each in found)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    lines = [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
    verdicts = ["", *(f"  {each.verdict}" for each in found)]
    free = found[0].free_bytes if found else None
    told = [] if free is None else [f"{_gigabytes(free)} of memory are free."]
    return [line + verdict for line, verdict in zip(lines, verdicts, strict=True)] + told


def _row(outlook: Outlook) -> tuple[str, ...]:
    name, parameters, trial = outlook.size, f"{outlook.parameters:,}", outlook.trial
    if trial is None:
        return (name, parameters, *["-"] * (len(_HEAD) - 2))
    return (
        name,
        parameters,
        f"{trial.seconds_per_step:.2f} s",
        f"{trial.events_per_s:,.0f}",
        f"{trial.steps:,}",
        duration(60 * trial.minutes),
        f"{trial.epochs:.2f}",
        _gigabytes(trial.memory_bytes),
    )


def _gigabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:.2f} GB"
