"""Which products made a number: the largest by name, the others in one sum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Terms:
    """A sum of products, its largest terms first.

    Attributes:
        index: Which terms these are, int64 (n,).
        left: Their first factors (n,).
        right: Their second factors (n,).
        rest: Sum of the terms that are not named.
        n_rest: How many those are.
    """

    index: np.ndarray
    left: np.ndarray
    right: np.ndarray
    rest: float
    n_rest: int

    @property
    def total(self) -> float:
        """The sum of all terms."""
        return float((self.left * self.right).sum()) + self.rest


def largest_terms(left: np.ndarray, right: np.ndarray, count: int = 6) -> Terms:
    """Return the terms of a scalar product that weigh most, in the order of their places.

    Args:
        left: (N,).
        right: (N,).
        count: How many are named; with one more than that, all are.

    Raises:
        ValueError: The two have different lengths.
    """
    if left.shape != right.shape or left.ndim != 1:
        raise ValueError(f"no scalar product of {left.shape} and {right.shape}")
    left, right = left.astype(np.float64), right.astype(np.float64)
    products = left * right
    named = len(products) if len(products) <= count + 1 else count
    index = np.sort(np.argsort(-np.abs(products), kind="stable")[:named])
    return Terms(
        index=index,
        left=left[index],
        right=right[index],
        rest=float(np.delete(products, index).sum()),
        n_rest=len(products) - named,
    )
