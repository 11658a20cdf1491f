"""From logits to a choice: pure functions on one row of scores.

The scores leave the model's device once; everything here is float32 on the CPU (sums in float64),
so the same scores give the same choice on every device. A masked score is -inf. No filter ever
leaves an empty set: the best of what it was given always stays.

Shapes: V the vocabulary of one attribute.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from musicgen.errors import NoNumbersError

GREEDY_BELOW = 1e-8  # in float32, a score divided by less is not a number any more
TIE = 1e-9  # so near to top_p it is reached: sums in another order differ in their last digits


class Filters(Protocol):
    """The filters' values, in the order in which they apply."""

    @property
    def temperature(self) -> float:
        """What scores are divided by; 0 always takes the best."""
        ...

    @property
    def top_k(self) -> int:
        """How many of the best remain; 0 for all."""
        ...

    @property
    def top_p(self) -> float:
        """The probability that those which remain reach together; 1 for all."""
        ...

    @property
    def min_p(self) -> float:
        """The share of the best's probability that each has which remains; 0 for all."""
        ...


def checked_logits(logits: np.ndarray) -> np.ndarray:
    """Return `logits` (V,) as float32.

    Raises:
        NoNumbersError: One of them is not finite.
    """
    scores = np.asarray(logits, dtype=np.float32)
    if not np.isfinite(scores).all():
        raise NoNumbersError
    return scores


def apply_mask(logits: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Mask what is not allowed.

    Raises:
        ValueError: Nothing is allowed.
    """
    if not allowed.any():
        raise ValueError("at least one id must be allowed")
    return np.where(allowed, logits, np.float32(-np.inf))


def apply_temperature(logits: np.ndarray, temperature: float) -> np.ndarray:
    """Divide by the temperature, the best score being moved to 0; 0 leaves the first best alone."""
    best = int(np.argmax(logits))
    if temperature < GREEDY_BELOW:
        greedy = np.full_like(logits, -np.inf)
        greedy[best] = 0.0
        return greedy
    with np.errstate(over="ignore"):  # far below the best, -inf is the right answer
        return (logits - logits[best]) / np.float32(temperature)


def apply_top_k(logits: np.ndarray, top_k: int) -> np.ndarray:
    """Keep the `top_k` best (of equals the first); 0 keeps all."""
    if top_k == 0 or top_k >= len(logits):
        return logits
    kept = np.argsort(-logits, kind="stable")[:top_k]
    filtered = np.full_like(logits, -np.inf)
    filtered[kept] = logits[kept]
    return filtered


def apply_top_p(logits: np.ndarray, top_p: float) -> np.ndarray:
    """Keep the fewest best whose probabilities reach `top_p`, at least one."""
    if top_p >= 1.0:
        return logits
    order = np.argsort(-logits, kind="stable")
    chances = probabilities(logits[order])
    before = np.cumsum(chances) - chances
    n_kept = max(1, int(np.searchsorted(before, top_p - TIE, side="left")))
    filtered = np.full_like(logits, -np.inf)
    filtered[order[:n_kept]] = logits[order[:n_kept]]
    return filtered


def apply_min_p(logits: np.ndarray, min_p: float) -> np.ndarray:
    """Keep those at least `min_p` times as probable as the best."""
    if min_p <= 0.0:
        return logits
    floor = logits.max() + np.float32(math.log(min_p))
    return np.where(logits >= floor, logits, np.float32(-np.inf))


def probabilities(logits: np.ndarray) -> np.ndarray:
    """Softmax in float64; masked scores become exactly 0."""
    weights = np.exp((logits - logits.max()).astype(np.float64))
    return weights / weights.sum()


def filtered_probabilities(
    logits: np.ndarray, allowed: np.ndarray, settings: Filters
) -> np.ndarray:
    """Apply every filter to finite scores.

    Args:
        logits: (V,) float32, as `checked_logits` returns them.
        allowed: (V,) bool, at least one True.
        settings: The filters' values.

    Returns:
        (V,) float64, summing to 1, zero wherever `allowed` is False.

    Raises:
        ValueError: Nothing is allowed.
    """
    scores = apply_mask(logits, allowed)
    scores = apply_temperature(scores, settings.temperature)
    scores = apply_top_k(scores, settings.top_k)
    scores = apply_top_p(scores, settings.top_p)
    scores = apply_min_p(scores, settings.min_p)
    return probabilities(scores)


def choose(chances: np.ndarray, uniform: float) -> int:
    """Return the id at which the running sum of `chances` (V,) passes `uniform` in [0, 1)."""
    running = np.cumsum(chances)
    chosen = int(np.searchsorted(running, uniform * running[-1], side="right"))
    if chosen >= len(chances) or chances[chosen] == 0.0:  # only by rounding at the upper end
        chosen = int(np.flatnonzero(chances)[-1])
    return chosen
