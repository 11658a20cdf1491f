"""A folder of music beside a corpus: what `musicgen statistics` tells."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from musicgen.errors import NoUsableFilesError
from musicgen.evaluation.comparison import Comparison, compare
from musicgen.evaluation.excerpts import Excerpt, FolderMusic, read_excerpts
from musicgen.evaluation.references import load_reference
from musicgen.evaluation.spread import Reference, make_reference
from musicgen.evaluation.statistics import Measured, measure

MOST_EXCERPTS = 2000
"""Of a corpus: more would narrow its percentiles by less than they differ between corpora."""

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
    """

    comparison: Comparison
    short: int
    unreadable: int

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as `--json` prints them."""
        return {
            **self.comparison.as_dict(),
            "short": self.short,
            "unreadable": self.unreadable,
        }


def compare_folder(
    folder: Path, *, seconds: float = 60.0, against: Path | None = None
) -> Iterator[FolderProgress | FolderReport]:
    """Hold a folder's music against a corpus; yield progress, then the report.

    Args:
        folder: MIDI files at any depth: takes, or any music.
        seconds: Length of the excerpts; a file that lasts 95% of it gives one.
        against: A folder to compare with: four of five of its pieces are the corpus, the fifth
            gives the yardstick. None for the reference that ships, of MAESTRO.

    Raises:
        CorpusError: A folder is missing, or nothing in it is long enough.
        ConfigError: No reference of this length ships.
    """
    if against is None:
        reference = load_reference(seconds)
    else:
        reference = yield from _reference_of(against, seconds)
    music = yield from _read(folder, seconds)
    measured = yield from measure_all(music.excerpts, folder)
    yield FolderReport(
        comparison=compare(measured, reference), short=music.short, unreadable=music.unreadable
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


def _read(folder: Path, seconds: float) -> Generator[FolderProgress, None, FolderMusic]:
    for step in read_excerpts(folder, seconds=seconds):
        if isinstance(step, FolderMusic):
            if not step.excerpts:
                raise NoUsableFilesError(
                    f"No piece of {folder} lasts {seconds:g} s: {step.short} are shorter, "
                    f"{step.unreadable} cannot be read.",
                    hint="Choose shorter excerpts (on the command line --seconds 30).",
                )
            return step
        done, total = step
        yield FolderProgress(folder=folder, stage="read", done=done, total=total)
    raise RuntimeError("a folder was read without an end")


def _reference_of(folder: Path, seconds: float) -> Generator[FolderProgress, None, Reference]:
    generator = np.random.default_rng(0)
    music = yield from _read(folder, seconds)
    pieces = sorted({excerpt.piece for excerpt in music.excerpts})
    if len(pieces) < 2:
        raise NoUsableFilesError(
            f"{folder} holds one piece of {seconds:g} s; a comparison needs two at least.",
            hint="Compare with a folder of more music, or choose shorter excerpts.",
        )
    order = generator.permutation(len(pieces))
    held_out = {pieces[row] for row in order[: max(1, len(pieces) // HELD_OUT)].tolist()}
    chosen = sample(music.excerpts, MOST_EXCERPTS, generator)
    measured = yield from measure_all(chosen, folder)
    return make_reference(
        [m for m in measured if m.piece not in held_out],
        [m for m in measured if m.piece in held_out],
        names=(folder.name, f"{folder.name}, one piece in {HELD_OUT}"),
        seconds=seconds,
        generator=generator,
    )
