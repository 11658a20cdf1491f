"""`musicgen evaluate`: how well a model predicts a folder of music, in bits a note."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from musicgen.cli import options
from musicgen.cli.console import Console, counted, session
from musicgen.cli.paths import music_folder

if TYPE_CHECKING:
    from musicgen.checkpoint import Checkpoint
    from musicgen.evaluation import EvaluationReport


def evaluate(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model's name or its folder.")],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder of MIDI files.")],
    device: options.Device = "auto",
    as_json: options.AsJson = False,
) -> None:
    """Measure how well a model predicts a folder of music.

    In bits a note; lower is better. Every file that can be read counts, twins too, which
    `musicgen corpus` and training leave out.
    """
    with session(as_json=as_json, only_tells=True) as console:
        from musicgen.checkpoint import find_device, resolve_checkpoint

        resolve_checkpoint(model)  # a name that is wrong is said before torch is imported
        where = find_device(device)
        music = music_folder(console, folder)

        from musicgen.checkpoint import load_checkpoint

        checkpoint = load_checkpoint(model, device=where)
        report = _measure(console, checkpoint, music)
        split = ", ".join(f"{name} {bits:.2f}" for name, bits in report.bits_by_attribute.items())
        refused = ", ".join(f"{count} {code}" for code, count in report.refused.items())
        console.result(
            {"folder": str(folder), **report.as_dict()},
            f"{report.bits_per_note:.3f} bits a note ({split})",
            f"{counted(report.notes, 'note')} in {counted(report.pieces, 'piece')} "
            "(all that can be read, twins too), "
            f"{report.events_per_note:.3f} events a note, "
            f"grid {report.grid_ms:g} ms, {report.velocity_bins} velocities",
            *([f"left out: {refused}"] if refused else []),
        )


def _measure(console: Console, checkpoint: Checkpoint, folder: Path) -> EvaluationReport:
    from musicgen.evaluation import EvaluationReport
    from musicgen.evaluation import evaluate as steps

    for step in steps(checkpoint, folder):
        if isinstance(step, EvaluationReport):
            return step
        what = "files read" if step.stage == "read" else "windows measured"
        console.progress(f"{step.done:,} of {step.total:,} {what}", last=step.done == step.total)
    raise RuntimeError("the evaluation ended without a report")
