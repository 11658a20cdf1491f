"""`musicgen statistics`: what a folder of music is like, beside a corpus."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from musicgen.cli import options
from musicgen.cli.console import Console, counted, session
from musicgen.cli.paths import music_folder

if TYPE_CHECKING:
    from musicgen.evaluation import FolderReport

SHORTEST_S, LONGEST_S = 10.0, 600.0


def statistics(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder of MIDI files.")],
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Music to compare with; without it: the pieces of MAESTRO.",
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            metavar="S",
            parser=options.number(SHORTEST_S, LONGEST_S),
            help="Length of the excerpts that are compared; without it: 60, or 30 where fewer than "
            "half of the pieces last 60.",
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Tell how a folder of music compares with a corpus.

    In density, pitch, dynamics, repetition and other figures.
    """
    with session(as_json=as_json, only_tells=True) as console:
        music = music_folder(console, folder)
        corpus = None if against is None else music_folder(console, against)
        report = _compare(console, music, seconds, corpus)
        if report.notice:
            console.note(report.notice)
        console.result({"folder": str(folder), **report.as_dict()}, *_lines(report))


def _compare(
    console: Console, folder: Path, seconds: float | None, against: Path | None
) -> FolderReport:
    from musicgen.evaluation import FolderReport, compare_folder

    for step in compare_folder(folder, seconds=seconds, against=against):
        if isinstance(step, FolderReport):
            return step
        what = "files read" if step.stage == "read" else "excerpts measured"
        line = f"{step.folder}: {step.done:,} of {step.total:,} {what}"
        console.progress(line, last=step.done == step.total)
    raise RuntimeError("the comparison ended without a report")


def _lines(report: FolderReport) -> Iterator[str]:
    from musicgen.evaluation import FIGURE_WORDS, HISTOGRAM_WORDS

    found = report.comparison
    yield (
        f"{counted(found.excerpts, 'excerpt')} of {found.seconds:g} s from "
        f"{counted(found.pieces, 'piece')}, beside {found.corpus} (yardstick: {found.held_out})"
    )
    yield f"{'':38}{'median':>7}{'corpus 5, 50, 95%':>19}{'inside':>7}{'distance':>9}"
    for name, one in found.statistics.items():
        words = FIGURE_WORDS[name]
        spread = "  ".join(words.written(value) for value in (one.low, one.middle, one.high))
        yield (
            f"{words.title:38}{words.written(one.median):>7}{spread:>19}{one.inside:>7.0%}"
            f"{one.distance.ratio:>8.1f}×"
        )
    for name, one in found.histograms.items():
        yield f"{HISTOGRAM_WORDS[name] + ': histogram':38}{'':>33}{one.ratio:>8.1f}×"
    yield (
        f"distance from the corpus: {found.ratio:.2f} times that of held-out music, on average; "
        f"least share inside 5–95%: {found.inside_least:.0%}"
    )
    if report.short or report.unreadable:
        yield f"left out: {report.short} shorter files, {report.unreadable} unreadable"
