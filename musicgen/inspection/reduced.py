"""Maps made smaller so that they can be read: several heads as one, events bar by bar.

Shapes: H heads, T events, G groups of events, R bars.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

How = Literal["mean", "max"]


def combine_heads(weights: ArrayLike, heads: Sequence[int], how: How = "mean") -> NDArray:
    """Return the mean or the largest of some heads' attention as one, float32 (...).

    Args:
        weights: (H, ...), such as a layer's maps (H, T, T) or one row of them (H, T).
        heads: Which of them, at least one.
        how: "mean" keeps rows that sum to 1; "max" shows what any of them looks at.

    Raises:
        ValueError: No head is chosen, or there is no such way.
        IndexError: There is no such head.
    """
    if not heads or how not in ("mean", "max"):
        raise ValueError("choose one head at least, and their mean or max")
    every = np.asarray(weights)
    total = every[heads[0]].astype(np.float32)
    for head in heads[1:]:
        if how == "mean":
            total += every[head]
        else:
            np.maximum(total, every[head], out=total)
    return total / len(heads) if how == "mean" else total


def group_events(onset_s: ArrayLike, bar_s: ArrayLike) -> NDArray[np.int64]:
    """Return in which bar each event lies, counted from 0, int64 (T,).

    An event that is no note (NaN) lies where the one before it does; what stands before the first
    line lies in bar 0.

    Args:
        onset_s: When the events sound, (T,).
        bar_s: Where bars begin, ascending (R,).
    """
    onset = np.asarray(onset_s, dtype=np.float64)
    known = np.where(np.isnan(onset), -np.inf, onset)
    latest = np.maximum.accumulate(known)
    # A hair's breadth forgives rounding: events lie on a grid of 10 ms, bars do not.
    bars = np.searchsorted(np.asarray(bar_s), latest + 0.006, side="right") - 1
    return np.maximum(bars, 0).astype(np.int64)


def mean_by_group(weights: ArrayLike, group: ArrayLike) -> NDArray[np.float32]:
    """Return how much of the attention of each bar falls on each bar, float32 (G, G).

    The mean over a bar's events of what they give to a bar's events in all: rows sum to 1.

    Args:
        weights: A map (T, T), rows of which sum to 1.
        group: Ascending numbers of bars, (T,); those between without events are left out of the
            result, of which row i is the i-th bar that has events.
    """
    square = np.asarray(weights, dtype=np.float32)
    starts = np.flatnonzero(np.diff(np.asarray(group), prepend=-1))
    counts = np.diff(np.append(starts, len(square)))
    columns = np.add.reduceat(square, starts, axis=1)
    means = np.add.reduceat(columns, starts, axis=0) / counts[:, None]
    return means.astype(np.float32)
