"""What hangs together: numbers joined by pairs, in classes that are told at any time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Components:
    """The numbers from 0 to N − 1, at first each for itself.

    Source: R. E. Tarjan, "Efficiency of a good but not linear set union algorithm", Journal of the
    ACM 22, 1975.
    """

    def __init__(self, n: int) -> None:
        self._parent = list(range(n))

    def root(self, number: int) -> int:
        """Return the number that stands for a number's class."""
        parent = self._parent
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    def join(self, one: int, other: int) -> None:
        """Make one class of two numbers' classes."""
        self._parent[self.root(one)] = self.root(other)

    def labels(self) -> NDArray[np.int64]:
        """Return the number that stands for the class of each, int64 (N,)."""
        return np.array([self.root(number) for number in range(len(self._parent))], dtype=np.int64)
