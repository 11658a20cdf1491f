"""What training's attention does with rows: gathering them, softening scores, writing groups.

Letters as in `causal`. This module imports numba: import it only where something is to be computed.
"""
# ruff: noqa: ANN001, ANN201, ANN202  numba takes the types from the arrays that are passed in

from __future__ import annotations

import numpy as np
from numba import njit, types
from numba.extending import overload

from musicgen.engine.numerics import EXACT, LOOSE, ONE, ZERO, exp, highest, rounded
from musicgen.engine.products import write_column_pairs, write_pairs
from musicgen.engine.vectors import float_of_bits, part

_LOG2_E, _LOWEST = np.float32(1.44269504), np.float32(-126)
_P1, _P2, _P3, _P4 = map(np.float32, (0.693121990, 0.240237185, 0.0559169357, 0.00960040237))
_HALF, _LOW, _HIGH = np.int32(16), np.int32(0xFFFF), np.int32(-65536)


@njit(**EXACT)
def gather(x, b, h, step, length, width, out):
    """Copy the rows of one head, and zeros behind them, into `out` (rows · width)."""
    begin = b * step[0] + h * step[1]
    for t in range(length):
        row, copied = part(x, begin + t * step[2], width), part(out, t * width, width)
        for i in range(width):
            copied[i] = row[i]
    for i in range(length * width, out.size):
        out[i] = 0


@njit(**EXACT)
def across(rows, width, out):
    """Turn (rows, groups of D) into (groups of D, rows)."""
    n_rows = rows.size // width
    for t in range(n_rows):
        for i in range(width):
            out[i * n_rows + t] = rows[t * width + i]


@njit(**LOOSE)
def soften(row, n_seen, scale, g):
    """Turn the first scores into e^(scale · (score − largest)), the rest into 0; return the sum."""
    seen = part(row, 0, n_seen)
    best, total = highest(seen), ZERO
    if g == 2:
        scale *= _LOG2_E
        for i in range(n_seen):
            weight = _power_of_two((seen[i] - best) * scale)
            total += weight
            seen[i] = weight
    else:
        for i in range(n_seen):
            weight = exp((seen[i] - best) * scale)
            total += weight
            seen[i] = weight
    for i in range(n_seen, row.size):
        row[i] = ZERO
    return total


@njit(**EXACT)
def _power_of_two(x):
    """Return 2^x for x ≤ 0, within a hundredth of what bf16 tells apart; nan for nan."""
    x = _LOWEST if x < _LOWEST else x
    n = rounded(x)
    r = x - n
    power = (np.int32(n) + np.int32(127)) << np.int32(23)
    return ((((_P4 * r + _P3) * r + _P2) * r + _P1) * r + ONE) * float_of_bits(power)


@njit(**LOOSE)
def slope(weights, factor, pull, scale):
    """Scale weights w, and turn their gradient into that of scores: w · (pull − Σ w · pull)."""
    mean = ZERO
    for i in range(weights.size):
        mean += weights[i] * pull[i]
    mean *= factor
    for i in range(weights.size):
        weights[i] *= factor
        pull[i] = weights[i] * (pull[i] - mean) * scale


@njit(**EXACT)
def scale_by(x, factor):
    """Multiply all of x."""
    for i in range(x.size):
        x[i] *= factor


@njit(**EXACT)
def clear(x):
    """Fill x with zeros."""
    for i in range(x.size):
        x[i] = ZERO


def write(x, out):
    """Write float32 numbers in groups of neighbours."""
    raise TypeError("write exists in compiled code only")


@overload(write, jit_options=EXACT)  # pyright: ignore
def _write(x, out):
    def in_pairs(x, out):
        write_pairs(x, out)

    def singly(x, out):
        for i in range(out.size):
            out[i] = x[i]

    return in_pairs if out.dtype == types.int32 else singly


def write_together(x, begin, n, out):
    """Write G rows of n float32 numbers, each group the numbers of one column."""
    raise TypeError("write_together exists in compiled code only")


@overload(write_together, jit_options=EXACT)  # pyright: ignore
def _written_together(x, begin, n, out):
    def in_pairs(x, begin, n, out):
        write_column_pairs(part(x, begin, n), part(x, begin + n, n), out)

    def singly(x, begin, n, out):
        row = part(x, begin, n)
        for i in range(n):
            out[i] = row[i]

    return in_pairs if out.dtype == types.int32 else singly


def regroup(rows, width, out):
    """Turn (rows, groups of D) into (groups of rows, D)."""
    raise TypeError("regroup exists in compiled code only")


@overload(regroup, jit_options=EXACT)  # pyright: ignore
def _regrouped(rows, width, out):
    def pairs(rows, width, out):
        for t in range(0, rows.size // width, 2):
            upper, lower = part(rows, t * width, width), part(rows, (t + 1) * width, width)
            both = part(out, t * width, 2 * width)
            for i in range(width):
                both[2 * i] = (upper[i] & _LOW) | (lower[i] << _HALF)
                both[2 * i + 1] = ((upper[i] >> _HALF) & _LOW) | (lower[i] & _HIGH)

    def singles(rows, width, out):
        for i in range(rows.size):
            out[i] = rows[i]

    return pairs if out.dtype == types.int32 else singles
