"""How far two distributions are apart.

Shapes: B bins.
"""

from __future__ import annotations

import numpy as np


def js_distance(p: np.ndarray, q: np.ndarray) -> float:
    """Return the Jensen–Shannon distance of two distributions (B,): 0 for equal, 1 for disjoint.

    The square root of the Jensen–Shannon divergence in bits, which is a metric (Endres and
    Schindelin, "A new metric for probability distributions", IEEE Trans. Inf. Theory 49, 2003).
    """
    middle = (p + q) / 2
    divergence = (_relative_entropy(p, middle) + _relative_entropy(q, middle)) / 2
    return float(np.sqrt(min(max(divergence, 0.0), 1.0)))


def overlap(p: np.ndarray, q: np.ndarray) -> float:
    """Return the area that two distributions (B,) share: 1 for equal, 0 for disjoint."""
    return float(np.minimum(p, q).sum())


def _relative_entropy(p: np.ndarray, q: np.ndarray) -> float:
    some = p > 0
    return float((p[some] * np.log2(p[some] / q[some])).sum())
