"""`musicgen copies`: the longest passage that files share with a model's training corpus."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from musicgen.cli import options
from musicgen.cli.console import EXIT_ERROR, Console, session
from musicgen.errors import MusicgenError

if TYPE_CHECKING:
    from musicgen.evaluation.copies import CopyIndex, CopyReport

_NAMED = 3
"""So many other pieces are named; all of them are in the JSON."""


def copies(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="MIDI files.")],
    model: options.Model = "piano",
    as_json: options.AsJson = False,
) -> None:
    """Find what music shares with a model's training music.

    The longest passage is told, with its piece and place.
    """
    with session(as_json=as_json, only_tells=True) as console:
        from musicgen.evaluation.copies import load_copy_index

        index = load_copy_index(model)
        bad = sum(not _tell(console, index, file) for file in files)
        if bad:
            raise typer.Exit(EXIT_ERROR)


def _tell(console: Console, index: CopyIndex, file: Path) -> bool:
    """Report one file; a bad one stops nothing."""
    from musicgen.evaluation.copies import find_copies
    from musicgen.midi import note_table, read_midi

    try:
        report = find_copies(index, note_table(read_midi(file).score))
    except MusicgenError as error:
        lines = [f"{file}: {error.message}"] + [f"  {error.hint}"] * bool(error.hint)
        console.result({"file": str(file), "ok": False, "error": error.as_dict()}, *lines)
        return False
    console.result({"file": str(file), "ok": True, **report.as_dict()}, *_lines(file, report))
    return True


def _lines(file: Path, report: CopyReport) -> Iterator[str]:
    yield f"{file}: {report.verdict}"
    found = report.passage
    if found is None:
        return
    yield (
        f"  in the piece {found.piece_start_s:.1f} to {found.piece_end_s:.1f} s, here "
        f"{found.take_start_s:.1f} to {found.take_end_s:.1f} s, {found.transposition:+d} "
        f"semitones, {found.tempo:.2f} times as fast, {found.timing_ms:.0f} ms from a steady tempo"
    )
    if found.also_in:
        named, more = found.also_in[:_NAMED], len(found.also_in) - _NAMED
        yield f"  also in {', '.join(named)}" + (f" and {more} more" if more > 0 else "")
