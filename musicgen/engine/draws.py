"""The filters of `filters`, compiled: from scores to a choice in a few microseconds.

Same choices, made without sorting the whole vocabulary: the best are taken from a heap one by one
until there are enough. Letters: V the vocabulary of one attribute.

This module imports numba: import it only where something is to be computed.
"""
# ruff: noqa: ANN001, ANN201, ANN202  numba takes the types from what is passed in

from __future__ import annotations

import math

import numpy as np
from numba import njit

from musicgen.engine.filters import GREEDY_BELOW, TIE
from musicgen.engine.numerics import EXACT

NO_NUMBER, NOTHING_ALLOWED = -1, -2
_INFINITY = np.float32(np.inf)


def draw(logits, allowed, filters, uniform, scores, weights, heap):
    """Return the id chosen, NO_NUMBER or NOTHING_ALLOWED.

    Args:
        logits: float32 (V).
        allowed: bool (V).
        filters: temperature, top_k, top_p, min_p; float64 (4).
        uniform: float64, in [0, 1).
        scores: float32 (V or more), room to compute.
        weights: float64 (V or more), likewise.
        heap: int64 (V or more), likewise.
    """
    temperature, top_k, top_p, min_p = filters[0], int(filters[1]), filters[2], filters[3]
    n_ids, best = logits.size, -1
    for i in range(n_ids):
        if not np.isfinite(logits[i]):
            return NO_NUMBER
        if allowed[i] and (best < 0 or logits[i] > logits[best]):
            best = i
    if best < 0:
        return NOTHING_ALLOWED
    if temperature < GREEDY_BELOW:
        return best
    heat = np.float32(temperature)
    floor = np.float32(math.log(min_p)) if min_p > 0.0 else -_INFINITY
    n_left = 0
    for i in range(n_ids):
        weights[i] = 0.0
        scores[i] = (logits[i] - logits[best]) / heat if allowed[i] else -_INFINITY
        if scores[i] > -_INFINITY:
            weights[i] = math.exp(np.float64(scores[i]))
            heap[n_left] = i
            n_left += 1
    if 0 < top_k < n_left or top_p < 1.0:
        _keep_best(scores, weights, heap[:n_left], top_k, top_p)
    total = 0.0
    for i in range(n_ids):
        weights[i] = weights[i] if scores[i] >= floor else 0.0
        total += weights[i]
    return _passed(weights[:n_ids], uniform * total)


@njit(**EXACT)
def _passed(weights, mark):
    """Return where the running sum passes `mark`; by rounding at the end, the last that counts."""
    running, last = 0.0, 0
    for i in range(weights.size):
        if weights[i] > 0.0:
            running += weights[i]
            last = i
            if running > mark:
                return i
    return last


@njit(**EXACT)
def _keep_best(scores, weights, heap, top_k, top_p):
    """Leave weight to the `top_k` best, and of those to the first that reach `top_p` together."""
    n_left, n_taken = heap.size, 0
    for at in range(n_left // 2 - 1, -1, -1):
        _sink(scores, heap, at, n_left)
    total = 0.0
    if 0 < top_k < heap.size:
        while n_taken < top_k:
            n_taken += 1
            total += weights[_take_best(scores, heap, heap.size - n_taken + 1)]
    else:
        top_k = heap.size
        for i in heap:
            total += weights[i]
    n_kept, running = 0, 0.0
    while n_kept < top_k and (n_kept == 0 or running < top_p - TIE or top_p >= 1.0):
        n_kept += 1
        if n_taken < n_kept:
            n_taken = n_kept
            _take_best(scores, heap, heap.size - n_taken + 1)
        running += weights[heap[heap.size - n_kept]] / total
    for at in range(heap.size - n_kept):
        weights[heap[at]] = 0.0


@njit(**EXACT)
def _take_best(scores, heap, n_left):
    """Move the best of the first `n_left` behind the others, and return it."""
    best = heap[0]
    heap[0] = heap[n_left - 1]
    heap[n_left - 1] = best
    _sink(scores, heap, 0, n_left - 1)
    return best


@njit(**EXACT)
def _sink(scores, heap, at, n_left):
    """Let the id at `at` sink until none below it is better; of equals the first is the better."""
    sinking = heap[at]
    while True:
        below = 2 * at + 1
        if below >= n_left:
            break
        if below + 1 < n_left and _is_better(scores, heap[below + 1], heap[below]):
            below += 1
        if not _is_better(scores, heap[below], sinking):
            break
        heap[at] = heap[below]
        at = below
    heap[at] = sinking


@njit(**EXACT)
def _is_better(scores, a, b):
    return scores[a] > scores[b] or (scores[a] == scores[b] and a < b)
