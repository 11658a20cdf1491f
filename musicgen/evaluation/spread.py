"""A corpus's own spread of every statistic, and how far held-out music lies from it.

Made once from many excerpts and kept as a small file, so that takes can be compared where the
corpus is not.

Shapes: E excerpts, B bins, Z sample sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from musicgen.evaluation.distance import js_distance
from musicgen.evaluation.histograms import HISTOGRAM_EDGES
from musicgen.evaluation.statistics import STATISTICS, Measured

LOW, HIGH = 5, 95
N_BINS = 10
"""Bins of a statistic's distribution, of equal shares in the corpus; one more is for undefined."""

SAMPLE_SIZES = (10, 20, 50, 100, 200, 400)
"""Excerpts drawn of held-out music for the yardstick: a small sample lies further off by chance."""

_DRAWS = 100

Draws = Sequence[Sequence[np.ndarray]]
"""For each sample size the rows that were drawn, several times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How one statistic is distributed over a corpus's excerpts.

    Attributes:
        low: 5th percentile.
        median: 50th percentile.
        high: 95th percentile.
        edges: Inner edges of the bins (B − 2,), ascending.
        shares: Share of the excerpts in each bin (B,); the last bin is for undefined values.
        yardstick: Mean distance of held-out samples of each size (Z,).
    """

    low: float
    median: float
    high: float
    edges: tuple[float, ...]
    shares: tuple[float, ...]
    yardstick: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HistogramSpread:
    """A corpus's mean histogram.

    Attributes:
        shares: Mean share of each bin (B,).
        yardstick: Mean distance of held-out samples of each size (Z,).
    """

    shares: tuple[float, ...]
    yardstick: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What music of one corpus is like, in excerpts of one length.

    Attributes:
        corpus: Name of the music it is made from.
        held_out: Name of the music that gave the yardstick.
        seconds: Length of the excerpts.
        excerpts: How many were measured.
        pieces: From how many pieces.
        sizes: Sample sizes of the yardsticks (Z,), ascending.
        statistics: By name.
        histograms: By name.
    """

    corpus: str
    held_out: str
    seconds: float
    excerpts: int
    pieces: int
    sizes: tuple[int, ...]
    statistics: Mapping[str, Spread]
    histograms: Mapping[str, HistogramSpread]


def make_reference(
    corpus: Sequence[Measured],
    held_out: Sequence[Measured],
    *,
    names: tuple[str, str],
    seconds: float,
    generator: np.random.Generator,
) -> Reference:
    """Make the reference of a corpus.

    Args:
        corpus: Its excerpts (E,).
        held_out: Excerpts of other pieces of the same kind, for the yardstick.
        names: What the two are called.
        seconds: Length of the excerpts.
        generator: Draws the held-out samples: of different pieces as long as there are enough.

    Raises:
        ValueError: One of them holds no excerpt.
    """
    if not corpus or not held_out:
        raise ValueError("a reference needs excerpts of the corpus and of held-out music")
    sizes = tuple(size for size in SAMPLE_SIZES if size <= len(held_out)) or (len(held_out),)
    draws = [[draw(held_out, size, generator) for _ in range(_DRAWS)] for size in sizes]
    return Reference(
        corpus=names[0],
        held_out=names[1],
        seconds=seconds,
        excerpts=len(corpus),
        pieces=len({measured.piece for measured in corpus}),
        sizes=sizes,
        statistics={
            name: _spread(column(corpus, name), column(held_out, name), draws)
            for name in STATISTICS
        },
        histograms={
            name: _histogram_spread(
                np.array([measured.histograms[name] for measured in corpus]),
                np.array([measured.histograms[name] for measured in held_out]),
                draws,
            )
            for name in HISTOGRAM_EDGES
        },
    )


def draw(measured: Sequence[Measured], size: int, generator: np.random.Generator) -> np.ndarray:
    """Draw rows of excerpts (size,), of different pieces as far as there are pieces."""
    order = generator.permutation(len(measured))
    turn: dict[str, int] = {}
    turns = np.zeros(len(order), dtype=np.int64)
    for place, row in enumerate(order.tolist()):
        piece = measured[row].piece
        turns[place] = turn[piece] = turn.get(piece, -1) + 1
    return order[np.argsort(turns, kind="stable")][:size]


def column(measured: Sequence[Measured], name: str) -> np.ndarray:
    """Return one statistic of the excerpts (E,), nan where it is undefined."""
    return np.array([getattr(m.statistics, name) for m in measured], dtype=np.float64)


def binned(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Return the share of the values (E,) in each bin (B,): between the edges, then undefined."""
    known = np.isfinite(values)
    bins = np.where(known, np.searchsorted(edges, values, side="right"), len(edges) + 1)
    return _normal(np.bincount(bins, minlength=len(edges) + 2).astype(np.float64))


def mean_histogram(measured: Sequence[Measured], name: str) -> np.ndarray:
    """Return the mean histogram of the excerpts (B,)."""
    return _normal(np.sum([m.histograms[name] for m in measured], axis=0))


def _spread(values: np.ndarray, held_out: np.ndarray, draws: Draws) -> Spread:
    known = values[np.isfinite(values)]
    if not len(known):
        raise ValueError("a statistic is undefined in every excerpt of the corpus")
    low, median, high = np.percentile(known, [LOW, 50, HIGH]).tolist()
    edges = np.unique(np.quantile(known, np.arange(1, N_BINS) / N_BINS))
    shares = binned(values, edges)
    return Spread(
        low=low,
        median=median,
        high=high,
        edges=tuple(edges.tolist()),
        shares=tuple(shares.tolist()),
        yardstick=_yardstick(draws, lambda rows: binned(held_out[rows], edges), shares),
    )


def _histogram_spread(shares: np.ndarray, held_out: np.ndarray, draws: Draws) -> HistogramSpread:
    mean = _normal(shares.sum(axis=0))
    return HistogramSpread(
        shares=tuple(mean.tolist()),
        yardstick=_yardstick(draws, lambda rows: _normal(held_out[rows].sum(axis=0)), mean),
    )


def _yardstick(
    draws: Draws,
    shares_of: Callable[[np.ndarray], np.ndarray],
    reference: np.ndarray,
) -> tuple[float, ...]:
    return tuple(
        float(np.mean([js_distance(shares_of(rows), reference) for rows in of_size]))
        for of_size in draws
    )


def _normal(counts: np.ndarray) -> np.ndarray:
    return counts / max(float(counts.sum()), 1e-12)
