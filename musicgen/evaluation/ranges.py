"""One piece's figures beside the ranges of a corpus: what is usual in it, and what is not.

Shapes: N notes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from musicgen.evaluation.excerpts import ENOUGH, cut_excerpt
from musicgen.evaluation.references import load_references
from musicgen.evaluation.spread import Reference
from musicgen.evaluation.statistics import measure
from musicgen.evaluation.words import FIGURE_WORDS, FigureWords
from musicgen.midi import NoteTable


@dataclass(frozen=True, slots=True, kw_only=True)
class RangedFigure:
    """A statistic of a piece, and where the middle nine tenths of a corpus's excerpts lie.

    Attributes:
        name: One of `STATISTICS`.
        value: Of the piece; None where it has too few notes for one.
        low: 5th percentile of the corpus.
        median: Its 50th.
        high: Its 95th.
    """

    name: str
    value: float | None
    low: float
    median: float
    high: float

    @property
    def words(self) -> FigureWords:
        """What it is called, and how its values are written."""
        return FIGURE_WORDS[self.name]

    @property
    def is_inside(self) -> bool:
        """Whether the value lies between the percentiles."""
        return self.value is not None and self.low <= self.value <= self.high

    @property
    def can_be_outside(self) -> bool:
        """Whether there are values outside: a share that is usual from 0 to 1 tells nothing."""
        return not (self.words.is_share and self.low <= 0.0 and self.high >= 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranges:
    """A piece's figures beside a corpus's.

    Attributes:
        corpus: Name of the corpus.
        excerpt_s: Length of the corpus's excerpts; as much of the piece's beginning was measured.
        seconds: How much of the piece that is: less where the piece is shorter.
        figures: In the order of `STATISTICS`.
    """

    corpus: str
    excerpt_s: float
    seconds: float
    figures: tuple[RangedFigure, ...]

    @property
    def telling(self) -> tuple[RangedFigure, ...]:
        """The figures that can be outside: one that cannot is none to list to a reader or count."""
        return tuple(figure for figure in self.figures if figure.can_be_outside)

    @property
    def n_inside(self) -> int:
        """How many of the telling figures are inside."""
        return sum(figure.is_inside for figure in self.telling)

    @property
    def share_inside(self) -> float:
        """Which share of the telling figures is inside."""
        return self.n_inside / len(self.telling)


def ranges_of(notes: NoteTable, path: Path | None = None) -> Ranges:
    """Measure a piece beside the corpus of the shipped reference.

    Args:
        notes: The piece (N,), as `heard_notes` returns it.
        path: File of the reference; None for the one that ships.

    Raises:
        ConfigError: The reference cannot be used.
    """
    end_s = float(notes.end_s.max(initial=0.0))
    reference = _fitting(load_references(path), end_s)
    seconds = min(reference.seconds, end_s)
    excerpt = cut_excerpt(notes, piece="", start_s=0.0, seconds=seconds or reference.seconds)
    found = measure(excerpt).statistics.as_dict()

    def figures() -> Iterator[RangedFigure]:
        for name, value in found.items():
            spread = reference.statistics[name]
            yield RangedFigure(
                name=name,
                value=None if math.isnan(value) else value,
                low=spread.low,
                median=spread.median,
                high=spread.high,
            )

    return Ranges(
        corpus=reference.corpus,
        excerpt_s=reference.seconds,
        seconds=seconds,
        figures=tuple(figures()),
    )


def _fitting(references: Sequence[Reference], end_s: float) -> Reference:
    """Return the reference of the longest excerpts that a piece fills, or else of the shortest."""
    by_length = sorted(references, key=lambda reference: reference.seconds)
    filled = [each for each in by_length if end_s >= ENOUGH * each.seconds]
    return filled[-1] if filled else by_length[0]
