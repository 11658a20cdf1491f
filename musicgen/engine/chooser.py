"""Drawing by compiled code: what every engine but the reference calls.

This module imports numba: import it only where something is to be computed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from musicgen.engine import compiled
from musicgen.engine.draws import NO_NUMBER, NOTHING_ALLOWED
from musicgen.engine.filters import Filters
from musicgen.errors import NoNumbersError


class Chooser:
    """Draws for one take: room to compute, which no other thread may use."""

    def __init__(self, vocab_sizes: Sequence[int]) -> None:
        """Set room aside for the largest vocabulary; compile, or load what was compiled."""
        largest = max(vocab_sizes)
        self._draw = compiled.draw()
        self._allowed = np.zeros(largest, dtype=bool)
        self._filters = np.zeros(4, dtype=np.float64)
        self._scores = np.zeros(largest, dtype=np.float32)
        self._chances = np.zeros(largest, dtype=np.float64)
        self._ids = np.zeros(largest, dtype=np.int64)

    def try_out(self) -> None:
        """Draw once: numba compiles when a function is first called."""
        self.draw(np.zeros(1, dtype=np.float32), np.ones(1, dtype=bool), _TRIAL, 0.5)

    def draw(
        self, logits: np.ndarray, allowed: np.ndarray, filters: Filters, uniform: float
    ) -> int:
        """Choose an id; see `StepDecoder`."""
        values = self._filters
        values[0], values[1] = filters.temperature, filters.top_k
        values[2], values[3] = filters.top_p, filters.min_p
        # To numba a read-only mask is of another type, for which it would compile once more.
        mask = self._allowed[: len(logits)]
        mask[:] = allowed
        chosen = self._draw(logits, mask, values, uniform, self._scores, self._chances, self._ids)
        if chosen == NO_NUMBER:
            raise NoNumbersError
        if chosen == NOTHING_ALLOWED:
            raise ValueError("at least one id must be allowed")
        return chosen


class _Trial:
    temperature, top_k, top_p, min_p = 1.0, 0, 0.9, 0.0


_TRIAL = _Trial()
