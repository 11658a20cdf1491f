"""Histograms of an excerpt, with bins that are the same for all music.

Shapes: B bins.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

_LOG_SECONDS = np.concatenate(([0.0], np.geomspace(0.04, 5.12, 22), [np.inf]))
HISTOGRAM_EDGES: Mapping[str, np.ndarray] = {
    "degree": np.arange(13) - 0.5,
    "pitch": np.concatenate(([-0.5], np.arange(27, 106, 3) + 0.5, [127.5])),
    "interval": np.concatenate(([-np.inf], np.arange(-24, 25) + 0.5, [np.inf])),
    "ioi": _LOG_SECONDS,
    "length": _LOG_SECONDS,
    "velocity": np.arange(0, 129, 8) - 0.5,
    "polyphony": np.concatenate((np.arange(17) - 0.5, [np.inf])),
    "onset_notes": np.concatenate((np.arange(0.5, 7), [np.inf])),
}
"""Where the bins of each histogram begin and end (B + 1,)."""


def shares(name: str, values: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Return the share of the values in each bin of a histogram (B,): all 0 without a value."""
    edges = HISTOGRAM_EDGES[name]
    # Times are multiples of 10 ms as floats: one that lies on an edge belongs to the bin above it.
    bins = np.searchsorted(edges, values + 1e-6, side="right") - 1
    counts = np.bincount(bins, weights=weights, minlength=len(edges) - 1).astype(np.float64)
    return counts / max(counts.sum(), 1e-12)
