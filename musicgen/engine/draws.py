"""The filters of `filters`, compiled: from scores to a choice in a few microseconds.

Same choices, made without sorting the whole vocabulary: the best are parted from the others, in
whatever order. Letters: V the vocabulary of one attribute.

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


def draw(logits, allowed, filters, uniform, scores, weights, ids):
    """Return the id chosen, NO_NUMBER or NOTHING_ALLOWED.

    Args:
        logits: float32 (V).
        allowed: bool (V).
        filters: temperature, top_k, top_p, min_p; float64 (4).
        uniform: float64, in [0, 1).
        scores: float32 (V or more), room to compute.
        weights: float64 (V or more), likewise.
        ids: int64 (V or more), likewise.
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
            ids[n_left] = i
            n_left += 1
    if 0 < top_k < n_left or top_p < 1.0:
        _keep_best(scores, weights, ids[:n_left], top_k, top_p)
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
def _keep_best(scores, weights, ids, top_k, top_p):
    """Leave weight to the `top_k` best, and of those to the first that reach `top_p` together."""
    n_kept, total = ids.size, 0.0
    if 0 < top_k < n_kept:
        n_kept = _find_best(scores, weights, ids, top_k, np.inf)
    if top_p < 1.0:
        for i in ids[:n_kept]:
            total += weights[i]
        n_kept = _find_best(scores, weights, ids[:n_kept], n_kept, (top_p - TIE) * total)
    for i in ids[n_kept:]:
        weights[i] = 0.0


@njit(**EXACT)
def _find_best(scores, weights, ids, most, enough):
    """Move the best ids to the front, and return how many: `most`, or those that weigh `enough`.

    As Hoare's selection: only the side of the pivot where the last of them lies is looked at again.
    """
    low, high, weight = 0, ids.size, 0.0  # those before `low` are kept, those from `high` on not
    while low < high and not (low >= most or (low > 0 and weight >= enough)):
        pivot = ids[(low + high) // 2]
        ids[(low + high) // 2] = ids[low]
        ids[low] = pivot
        behind, better = low + 1, 0.0
        for i in range(low + 1, high):
            if _is_better(scores, ids[i], pivot):
                ids[i], ids[behind] = ids[behind], ids[i]
                better += weights[ids[behind]]
                behind += 1
        behind -= 1
        ids[low], ids[behind] = ids[behind], pivot
        if behind >= most or (behind > 0 and weight + better >= enough):
            high = behind
        else:
            low, weight = behind + 1, weight + better + weights[pivot]
    return low


@njit(**EXACT)
def _is_better(scores, a, b):
    return scores[a] > scores[b] or (scores[a] == scores[b] and a < b)
