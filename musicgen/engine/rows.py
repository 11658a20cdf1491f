"""What training's attention does with rows: gathering them, softening scores, writing groups.

Letters as in `causal`. This module imports numba: import it only where something is to be computed.
"""
# ruff: noqa: ANN001, ANN201, ANN202  numba takes the types from the arrays that are passed in

from __future__ import annotations

import numpy as np
from numba import njit, types
from numba.extending import overload

from musicgen.engine.numerics import EXACT, LOOSE, ONE, ZERO, exp, highest
from musicgen.engine.products import write_column_pairs, write_pairs
from musicgen.engine.vectors import bits_of_float, float_of_bits, part

_LOG2_E, _LOWEST = np.float32(1.44269504), np.float32(-126)
_P1, _P2, _P3, _P4 = map(np.float32, (0.693121990, 0.240237185, 0.0559169357, 0.00960040237))
_ROUND_AND_BIAS = np.float32(12582912.0 + 127)
"""1.5 · 2^23, and what a float32's exponent is kept with: added, it leaves a whole number in the
last bits, which are the exponent's once they are moved there."""
_FEW_ROWS = 64
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
    # Along few rows at a time: whole rows would be written as many lines as a processor's cache
    # has for one address modulo its size, and each of them fetched again for the next number.
    for begin in range(0, n_rows, _FEW_ROWS):
        n_few = min(_FEW_ROWS, n_rows - begin)
        few = part(rows, begin * width, n_few * width)
        for i in range(width):
            column = part(out, i * n_rows + begin, n_few)
            for t in range(n_few):
                column[t] = few[t * width + i]


@njit(**LOOSE)
def soften(row, n_seen, scale, g):
    """Turn the first scores into e^(scale · (score − largest)), the rest into 0.

    Returns:
        The largest score, and the sum of what the scores became.
    """
    seen = part(row, 0, n_seen)
    best, total = highest(seen), ZERO
    if g == 2:
        scale *= _LOG2_E
        least = best * scale
        for i in range(n_seen):
            weight = _power_of_two(seen[i] * scale - least)
            total += weight
            seen[i] = weight
    else:
        for i in range(n_seen):
            weight = exp((seen[i] - best) * scale)
            total += weight
            seen[i] = weight
    for i in range(n_seen, row.size):
        row[i] = ZERO
    return best, total


@njit(**EXACT)
def _power_of_two(x):
    """Return 2^x for x ≤ 0, within a hundredth of what bf16 tells apart; nan for nan."""
    x = _LOWEST if x < _LOWEST else x
    raised = x + _ROUND_AND_BIAS
    r = x - (raised - _ROUND_AND_BIAS)
    power = bits_of_float(raised) << np.int32(23)
    return ((((_P4 * r + _P3) * r + _P2) * r + _P1) * r + ONE) * float_of_bits(power)


@njit(**EXACT)
def slope(scores, pull, n_seen, scale, log_sum, mean, g):
    """Turn scores into weights w, and the gradient of w into that of scores: w · (pull − mean).

    Args:
        scores: Of one query; turned into e^(scale · score − log_sum), from `n_seen` on into 0.
        pull: The gradient of w; turned into that of scores before scaling.
        n_seen: How many keys the query sees.
        scale: Of the scores.
        log_sum: What `forward` wrote for the query.
        mean: Σ w · pull.
        g: Numbers in a group.
    """
    if g == 2:
        scale_of_two, least = scale * _LOG2_E, log_sum * _LOG2_E
        for i in range(n_seen):
            weight = _power_of_two(_at_most_zero(scores[i] * scale_of_two - least))
            scores[i] = weight
            pull[i] = weight * (pull[i] - mean) * scale
    else:
        for i in range(n_seen):
            weight = exp(_at_most_zero(scores[i] * scale - log_sum))
            scores[i] = weight
            pull[i] = weight * (pull[i] - mean) * scale
    for i in range(n_seen, scores.size):
        scores[i] = pull[i] = ZERO


@njit(**EXACT)
def _at_most_zero(x):
    """Return x, or 0 where huge scores are rounded to more than their sum; nan for nan."""
    return ZERO if x > ZERO else x


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


def dot(x, y):
    """Return Σ x · y of two rows of groups, float32."""
    raise TypeError("dot exists in compiled code only")


@overload(dot, jit_options=LOOSE)  # pyright: ignore
def _dot(x, y):
    def of_pairs(x, y):
        total = ZERO
        for i in range(x.size):
            low = float_of_bits(x[i] << _HALF) * float_of_bits(y[i] << _HALF)
            total += low + float_of_bits(x[i] & _HIGH) * float_of_bits(y[i] & _HIGH)
        return total

    def of_numbers(x, y):
        total = ZERO
        for i in range(x.size):
            total += x[i] * y[i]
        return total

    return of_pairs if x.dtype == types.int32 else of_numbers


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
