"""Excerpts beside a corpus: inside its range or not, and how far off, by the yardstick.

Shapes: E excerpts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from musicgen.evaluation.distance import js_distance, overlap
from musicgen.evaluation.histograms import HISTOGRAM_EDGES
from musicgen.evaluation.spread import Reference, binned, column, mean_histogram
from musicgen.evaluation.statistics import STATISTICS, Measured

LEAST_YARDSTICK = 0.01
"""Where held-out music is no further off than this, a ratio to it would say nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Distance:
    """How far a distribution lies from the corpus's.

    Attributes:
        distance: Jensen–Shannon distance, 0 to 1.
        overlap: Area that both share, 0 to 1.
        yardstick: Distance of held-out music in samples of this size.
        ratio: `distance` as a multiple of `yardstick` (of 0.01 where that is smaller).
    """

    distance: float
    overlap: float
    yardstick: float
    ratio: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticComparison:
    """One statistic of the excerpts beside the corpus's.

    Attributes:
        median: Of the excerpts; None if it is undefined in all.
        low: 5th percentile of the corpus.
        middle: Median of the corpus.
        high: 95th percentile of the corpus.
        inside: Share of the excerpts from `low` to `high`; an undefined value is outside.
        distance: How far the distributions are apart.
    """

    median: float | None
    low: float
    middle: float
    high: float
    inside: float
    distance: Distance


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Excerpts beside a corpus.

    Attributes:
        excerpts: How many.
        pieces: From how many pieces.
        seconds: Their length.
        corpus: What they are compared with.
        held_out: Whose distance from it is the yardstick.
        statistics: By name.
        histograms: By name.
        ratio: Mean of all ratios: the headline.
        inside_least: The least share inside of any statistic.
    """

    excerpts: int
    pieces: int
    seconds: float
    corpus: str
    held_out: str
    statistics: Mapping[str, StatisticComparison]
    histograms: Mapping[str, Distance]
    ratio: float
    inside_least: float

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as `--json` prints them."""
        facts = {name: getattr(self, name) for name in self.__dataclass_fields__}
        facts["statistics"] = {
            name: {**_plain(one), "distance": _plain(one.distance)}
            for name, one in self.statistics.items()
        }
        facts["histograms"] = {name: _plain(one) for name, one in self.histograms.items()}
        return facts


def compare(measured: Sequence[Measured], reference: Reference) -> Comparison:
    """Hold excerpts against a reference of excerpts of the same length.

    Raises:
        ValueError: There is no excerpt.
    """
    if not measured:
        raise ValueError("there is no excerpt to compare")
    statistics = {}
    for name in STATISTICS:
        spread = reference.statistics[name]
        values = column(measured, name)
        known = values[np.isfinite(values)]
        inside = (values >= spread.low) & (values <= spread.high)
        statistics[name] = StatisticComparison(
            median=float(np.median(known)) if len(known) else None,
            low=spread.low,
            middle=spread.median,
            high=spread.high,
            inside=float(inside.mean()),
            distance=_distance(
                binned(values, np.array(spread.edges)),
                np.array(spread.shares),
                _yardstick(reference, spread.yardstick, len(measured)),
            ),
        )
    histograms = {
        name: _distance(
            mean_histogram(measured, name),
            np.array(reference.histograms[name].shares),
            _yardstick(reference, reference.histograms[name].yardstick, len(measured)),
        )
        for name in HISTOGRAM_EDGES
    }
    ratios = [one.distance.ratio for one in statistics.values()]
    ratios += [one.ratio for one in histograms.values()]
    return Comparison(
        excerpts=len(measured),
        pieces=len({m.piece for m in measured}),
        seconds=reference.seconds,
        corpus=reference.corpus,
        held_out=reference.held_out,
        statistics=statistics,
        histograms=histograms,
        ratio=float(np.mean(ratios)),
        inside_least=min(one.inside for one in statistics.values()),
    )


def _distance(found: np.ndarray, corpus: np.ndarray, yardstick: float) -> Distance:
    distance = js_distance(found, corpus)
    return Distance(
        distance=distance,
        overlap=overlap(found, corpus),
        yardstick=yardstick,
        ratio=distance / max(yardstick, LEAST_YARDSTICK),
    )


def _yardstick(reference: Reference, of_sizes: Sequence[float], size: int) -> float:
    """Return the yardstick for a sample of this size: between those measured, or the nearest."""
    # Squared, a sample's distance falls with one over its size (towards that of all music).
    at = -1.0 / np.array(reference.sizes)
    return float(np.sqrt(np.interp(-1.0 / size, at, np.square(of_sizes))))


def _plain(one: Any) -> dict[str, Any]:
    return {name: getattr(one, name) for name in one.__dataclass_fields__}
