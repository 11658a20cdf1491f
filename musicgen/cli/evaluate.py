"""`musicgen evaluate`: how well a model predicts a folder of music, in bits a note."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from musicgen.cli import options
from musicgen.cli.console import session


def evaluate(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model's name or its folder.")],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder of MIDI files.")],
    device: options.Device = "auto",
    as_json: options.AsJson = False,
) -> None:
    """Measure how well a model predicts a folder of music: bits a note, lower is better."""
    with session(as_json=as_json) as console:
        from musicgen.checkpoint import load_checkpoint
        from musicgen.evaluation import evaluate as measure

        checkpoint = load_checkpoint(model, device=device)
        report = measure(checkpoint, folder)
        split = ", ".join(f"{name} {bits:.2f}" for name, bits in report.bits_by_attribute.items())
        console.result(
            {"model": checkpoint.name, "folder": str(folder), **dataclasses.asdict(report)},
            f"{report.bits_per_note:.3f} bits a note ({split})",
            f"{report.notes:,} notes in {report.pieces} pieces, "
            f"{report.events_per_note:.3f} events a note, "
            f"grid {report.grid_ms:g} ms, {report.velocity_bins} velocities",
        )
