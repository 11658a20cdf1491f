"""A folder of music beside a corpus: what `musicgen statistics` tells."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from musicgen.corpus import list_music
from musicgen.errors import NoUsableFilesError
from musicgen.evaluation.comparison import Comparison, compare
from musicgen.evaluation.excerpts import Excerpt, FolderPieces, read_pieces
from musicgen.evaluation.references import load_reference
from musicgen.evaluation.spread import Reference, make_reference
from musicgen.evaluation.statistics import Measured, measure

MOST_EXCERPTS = 2000
"""Of a corpus: more would narrow its percentiles by less than they differ between corpora."""

USUAL_S, SHORTER_S = 60.0, 30.0
"""Length of the excerpts where none is given; the second where fewer than half of the pieces last
the first."""

HELD_OUT = 5  # one piece in five gives the yardstick where a folder is compared with a folder


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderProgress:
    """How far it is: files read, then excerpts measured, of which folder."""

    folder: Path
    stage: str
    done: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderReport:
    """A folder's music beside a corpus.

    Attributes:
        comparison: The figures.
        short: Files of the folder that are shorter than one excerpt.
        unreadable: Files of the folder that cannot be read.
        notice: Why the excerpts are shorter than usual, or empty.
    """

    comparison: Comparison
    short: int
    unreadable: int
    notice: str

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as `--json` prints them."""
        return {
            **self.comparison.as_dict(),
            "short": self.short,
            "unreadable": self.unreadable,
            "notice": self.notice,
        }


def compare_folder(
    folder: Path, *, seconds: float | None = None, against: Path | None = None
) -> Iterator[FolderProgress | FolderReport]:
    """Hold a folder's music against a corpus; yield progress, then the report.

    Args:
        folder: MIDI files at any depth: takes, or any music.
        seconds: Length of the excerpts; a file that lasts 95% of it gives one. None for 60 s, or
            30 s where fewer than half of the folder's pieces last 60 s.
        against: A folder to compare with: four of five of its pieces are the corpus, the fifth
            gives the yardstick. None for the reference that ships, of MAESTRO.

    Raises:
        CorpusError: A folder is missing, or nothing in it is long enough.
        ConfigError: No reference of this length ships.
    """
    # What is wrong with the other side is said before a long folder is read.
    if against is not None:
        list_music(against)
    elif seconds is not None:
        load_reference(seconds)
    pieces = yield from _read(folder)
    notice = ""
    if seconds is None:
        seconds, notice = _chosen_length(pieces)
    excerpts = _excerpts(pieces, seconds)
    if against is None:
        reference = load_reference(seconds)
    else:
        reference = yield from _reference_of(against, seconds)
    measured = yield from measure_all(excerpts, folder)
    yield FolderReport(
        comparison=compare(measured, reference),
        short=len(pieces.notes) - pieces.filling(seconds),
        unreadable=pieces.unreadable,
        notice=notice,
    )


def _chosen_length(pieces: FolderPieces) -> tuple[float, str]:
    """Return the excerpts' length where none was given, and why if it is not the usual one."""
    n_pieces, n_long = len(pieces.notes), pieces.filling(USUAL_S)
    if 2 * n_long >= n_pieces:
        return USUAL_S, ""
    few = f"{n_long} of {n_pieces} pieces" if n_long else "no piece"
    return SHORTER_S, (
        f"The excerpts are {SHORTER_S:g} s long: {few} of {pieces.folder} "
        f"{'last' if n_long > 1 else 'lasts'} the usual {USUAL_S:g} s."
    )


def measure_all(
    excerpts: Sequence[Excerpt], folder: Path
) -> Generator[FolderProgress, None, list[Measured]]:
    """Measure excerpts; yield progress and return them (`yield from`)."""
    measured: list[Measured] = []
    for done, excerpt in enumerate(excerpts, start=1):
        measured.append(measure(excerpt))
        yield FolderProgress(folder=folder, stage="measure", done=done, total=len(excerpts))
    return measured


def sample(excerpts: Sequence[Excerpt], most: int, generator: np.random.Generator) -> list[Excerpt]:
    """Draw at most so many excerpts, in their order."""
    rows = np.sort(generator.permutation(len(excerpts))[:most])
    return [excerpts[row] for row in rows.tolist()]


def _read(folder: Path) -> Generator[FolderProgress, None, FolderPieces]:
    for step in read_pieces(folder):
        if isinstance(step, FolderPieces):
            return step
        done, total = step
        yield FolderProgress(folder=folder, stage="read", done=done, total=total)
    raise RuntimeError("a folder was read without an end")


def _excerpts(pieces: FolderPieces, seconds: float) -> list[Excerpt]:
    excerpts = pieces.excerpts(seconds)
    if excerpts:
        return excerpts
    if not pieces.notes:
        raise NoUsableFilesError(
            f"No file of {pieces.folder} can be read: {pieces.unreadable} were tried.",
            hint="`musicgen info` tells what is wrong with a file.",
        )
    if pieces.filling(SHORTER_S):
        hint = f"Choose shorter excerpts (on the command line --seconds {SHORTER_S:g})."
    else:
        hint = (
            "Shorter excerpts need music to compare with "
            "(on the command line --against FOLDER --seconds 10)."
        )
    raise NoUsableFilesError(
        f"No piece of {pieces.folder} lasts {seconds:g} s: {len(pieces.notes)} are shorter, "
        f"{pieces.unreadable} cannot be read.",
        hint=hint,
    )


def _reference_of(folder: Path, seconds: float) -> Generator[FolderProgress, None, Reference]:
    generator = np.random.default_rng(0)
    excerpts = _excerpts((yield from _read(folder)), seconds)
    pieces = sorted({excerpt.piece for excerpt in excerpts})
    if len(pieces) < 2:
        raise NoUsableFilesError(
            f"{folder} holds one piece of {seconds:g} s; a comparison needs two at least.",
            hint="Compare with a folder of more music, or choose shorter excerpts.",
        )
    order = generator.permutation(len(pieces))
    held_out = {pieces[row] for row in order[: max(1, len(pieces) // HELD_OUT)].tolist()}
    chosen = sample(excerpts, MOST_EXCERPTS, generator)
    measured = yield from measure_all(chosen, folder)
    return make_reference(
        [m for m in measured if m.piece not in held_out],
        [m for m in measured if m.piece in held_out],
        names=(folder.name, f"{folder.name}, one piece in {HELD_OUT}"),
        seconds=seconds,
        generator=generator,
    )
