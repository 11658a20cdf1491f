"""What `layout.make_plan` packed into one array, opened again in compiled code.

This module imports numba: import it only where something is to be computed.
"""
# ruff: noqa: ANN001, ANN201  numba takes the types from what is passed in

from __future__ import annotations

import numpy as np
from numba import njit

from musicgen.engine.layout import N_SIZES, PLACE, Cache, Sizes, Weights, Work
from musicgen.engine.numerics import EXACT
from musicgen.engine.vectors import array_at

_REAL = np.zeros(1, dtype=np.float32)


@njit(inline="always", **EXACT)
def opened(plan, matrix, narrow_):
    """Return the `Sizes`, `Weights` and `Work` that `make_plan` was made of.

    Args:
        plan: int64, as `make_plan` returned it.
        matrix: `Weights.matrix`.
        narrow_: `Work.narrow`, and of its type the narrowed scores.
    """
    sizes = Sizes(
        plan[0], plan[1], plan[2], plan[3], plan[4], plan[5], plan[6], plan[7],
        plan[8], plan[9], plan[10], plan[11], plan[12], plan[13], plan[14],
    )  # fmt: skip
    i = N_SIZES
    weights = Weights(
        matrix, array_at(plan, i + 2, _REAL), array_at(plan, i + 4, _REAL),
        array_at(plan, i + 6, _REAL), array_at(plan, i + 8, plan), array_at(plan, i + 10, plan),
        array_at(plan, i + 12, plan), array_at(plan, i + 14, plan), array_at(plan, i + 16, plan),
        array_at(plan, i + 18, _REAL), array_at(plan, i + 20, _REAL), array_at(plan, i + 22, _REAL),
    )  # fmt: skip
    work = Work(
        array_at(plan, i + 32, _REAL), array_at(plan, i + 34, _REAL), array_at(plan, i + 36, _REAL),
        narrow_, array_at(plan, i + 40, _REAL), array_at(plan, i + 42, _REAL),
        array_at(plan, i + 44, narrow_), array_at(plan, i + 46, _REAL),
        array_at(plan, i + 48, matrix), array_at(plan, i + 50, _REAL),
    )  # fmt: skip
    return sizes, weights, work


@njit(inline="always", **EXACT)
def opened_take(takes, t, plan, matrix):
    """Return the `Cache`, the place of the state (C) and the position of event t.

    Args:
        takes: int64 (T · PLACE), by event where the plan of its take lies, and its position.
        t: Number of the event.
        plan: Any plan: of its type are all.
        matrix: `Weights.matrix`, and of its type the cache.
    """
    its_plan = array_at(takes, t * PLACE, plan)
    i = N_SIZES
    cache = Cache(
        array_at(its_plan, i + 24, matrix), array_at(its_plan, i + 26, _REAL),
        array_at(its_plan, i + 28, matrix), array_at(its_plan, i + 30, _REAL),
    )  # fmt: skip
    return cache, array_at(its_plan, i + 50, _REAL), takes[t * PLACE + 2]
