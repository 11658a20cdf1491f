"""`musicgen quality`: what can be measured of a piece, beside what real music gives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from musicgen.cli import options
from musicgen.cli.console import EXIT_ERROR, Console, counted, session
from musicgen.errors import MusicgenError

if TYPE_CHECKING:
    from musicgen.pipeline import MusicPipeline
    from musicgen.pipeline.quality import QualityCard


def quality(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="MIDI files.")],
    model: options.Model = "piano",
    as_json: options.AsJson = False,
) -> None:
    """Measure pieces beside real performances.

    In figures, bits a note, faults, and passages shared with the training music. Of several files
    the one closest to real music is named. How it sounds is for the listener to say.
    """
    with session(as_json=as_json, only_tells=True) as console:
        from musicgen.pipeline import MusicPipeline

        pipeline = MusicPipeline.load(model, threads=1)
        cards = {file: _tell(console, pipeline, file) for file in files}
        good = {file: card for file, card in cards.items() if card is not None}
        if len(good) > 1:
            _compare(console, good)
        if len(good) < len(cards):
            raise typer.Exit(EXIT_ERROR)


def _tell(console: Console, pipeline: MusicPipeline, file: Path) -> QualityCard | None:
    """Report one file; a bad one stops nothing."""
    from musicgen.pipeline.quality import quality_card

    try:
        card = quality_card(pipeline, file)
    except MusicgenError as error:
        lines = [f"{file}: {error.message}"] + [f"  {error.hint}"] * bool(error.hint)
        console.result({"file": str(file), "ok": False, "error": error.as_dict()}, *lines)
        return None
    console.result({"file": str(file), "ok": True, **card.as_dict()}, *_lines(file, card))
    return card


def _lines(file: Path, card: QualityCard) -> Iterator[str]:
    ranges = card.ranges
    yield (
        f"{file}: {ranges.n_inside} of {len(ranges.telling)} figures of its first "
        f"{ranges.seconds:.0f} s lie where nine tenths of {ranges.corpus} do "
        f"(excerpts of {ranges.excerpt_s:g} s)"
    )
    for figure in ranges.telling:
        written = figure.words.written
        usual = f"{written(figure.low)} to {written(figure.high)}"
        mark = "" if figure.is_inside else "  outside"
        yield f"  {figure.words.title:38}{written(figure.value):>7}   {usual:16}{mark}".rstrip()
    if card.bits_per_note is not None:
        yield f"  bits a note by this model: {card.bits_per_note:.2f}"
    faults = card.faults
    yield (
        f"  {counted(faults.loops, 'loop')}, {counted(faults.silences, 'silence')} of more than "
        f"4 s, {counted(faults.long_notes, 'note')} of more than 20 s"
    )
    yield "  " + ("no copy index" if card.copies is None else card.copies.verdict)


def _compare(console: Console, cards: dict[Path, QualityCard]) -> None:
    from musicgen.pipeline.quality import best_of

    best = str(list(cards)[best_of(list(cards.values()))])
    console.result({"best": best}, f"closest to real music by these figures: {best}")
