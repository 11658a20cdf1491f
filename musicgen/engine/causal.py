"""Training's attention as compiled code: forward and gradient, one head of one window at a time.

    B windows   T events   H heads   D width of a head   G numbers a group (see `products`)

The weights of `ROWS` queries over all keys that they see lie in the processor's second cache, are
used there, and are made again for the gradient: nothing of size T · T ever goes to memory. Source:
Dao et al. (2022), "FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness";
rows are whole here, so that their largest score is known before the first exponential.

This module imports numba: import it only where something is to be computed.
"""
# ruff: noqa: ANN001, ANN201, ANN202  numba takes the types from the arrays that are passed in

from __future__ import annotations

import numpy as np
from numba import njit, types
from numba.extending import overload

from musicgen.engine.numerics import EXACT, LOOSE, ONE, ZERO, exp, highest, rounded
from musicgen.engine.products import (
    LANES,
    make_product,
    tile_of_this_machine,
    write_column_pairs,
    write_pairs,
)
from musicgen.engine.vectors import float_of_bits, part

ROWS = 32
"""Queries at a time: a multiple of a tile's rows and of two vectors."""
_TILE, _N_VECTORS = tile_of_this_machine()
_multiply, _multiply_narrow = make_product(_TILE, _N_VECTORS), make_product(_TILE, 1)
_LOG2_E, _LOWEST = np.float32(1.44269504), np.float32(-126)
_P1, _P2, _P3, _P4 = map(np.float32, (0.693121990, 0.240237185, 0.0559169357, 0.00960040237))
_HALF, _LOW, _HIGH = np.int32(16), np.int32(0xFFFF), np.int32(-65536)


def forward(q, k, v, steps, shape, heads, out, groups, floats):
    """Write each query's mean of the values that it sees, weighted by softmax(q · kᵀ / √D).

    Args:
        q: Queries, one-dimensional: int32 pairs of bf16, or float32.
        k: Keys.
        v: Values.
        steps: int64 (3, 3): of q, k and v, how far windows, heads and events lie apart.
        shape: H, T, D and G.
        heads: The first of the B · H heads to do, and the one after the last.
        out: As q, of (B, T, H, D).
        groups: Room of q's type, `room` says how much.
        floats: Room of float32.
    """
    n_heads, length, d, g = shape
    width, n_rows = d // g, _whole(length)
    size = n_rows * width
    queries, loose = part(groups, 0, size), part(groups, size, size)
    keys, values = part(groups, 2 * size, size), part(groups, 3 * size, size)
    weights = part(groups, 4 * size, ROWS * n_rows // g)
    scores, means = part(floats, 0, ROWS * n_rows), part(floats, ROWS * n_rows, ROWS * d)
    totals = part(floats, ROWS * (n_rows + d), ROWS)
    scale = ONE / np.sqrt(np.float32(d))
    for head in range(heads[0], heads[1]):
        b, h = head // n_heads, head % n_heads
        _gather(q, b, h, steps[0], length, width, queries)
        _gather(k, b, h, steps[1], length, width, loose)
        _across(loose, width, keys)
        _gather(v, b, h, steps[2], length, width, loose)
        _regroup(loose, width, values)
        for t in range(0, length, ROWS):
            n = t + ROWS
            _products(queries, t * width, width, 1, ROWS, keys, n_rows, n, width, scores, n, False)
            for r in range(ROWS):
                row = part(scores, r * n, n)
                totals[r] = _soften(row, t + r + 1, scale, g)
                write(row, part(weights, r * (n // g), n // g))
            _products(weights, 0, n // g, 1, ROWS, values, d, d, n // g, means, d, False)
            for r in range(min(ROWS, length - t)):
                row = part(means, r * d, d)
                _scale(row, ONE / totals[r])
                write(row, part(out, ((b * length + t + r) * n_heads + h) * width, width))


def backward(q, k, v, gradient, steps, shape, heads, to_q, to_k, to_v, groups, floats):
    """Write the gradients of queries, keys and values from that of what `forward` wrote.

    Args:
        q: As in `forward`, like k and v.
        k: Keys.
        v: Values.
        gradient: Of the output, of q's type.
        steps: int64 (4, 3): those of q, k, v and the gradient.
        shape: H, T, D and G.
        heads: The first of the B · H heads to do, and the one after the last.
        to_q: Written: as q, of (B, T, H, D).
        to_k: Written.
        to_v: Written.
        groups: Room of q's type, `room` says how much.
        floats: Room of float32.
    """
    n_heads, length, d, g = shape
    width, n_rows = d // g, _whole(length)
    size, half = n_rows * width, ROWS * n_rows // g
    queries, ahead = part(groups, 0, size), part(groups, size, size)
    keys, values = part(groups, 2 * size, size), part(groups, 3 * size, size)
    queries_by_t, ahead_by_t = part(groups, 4 * size, size), part(groups, 5 * size, size)
    keys_by_t, loose = part(groups, 6 * size, size), part(groups, 7 * size, size)
    slopes, slopes_by_t = part(groups, 8 * size, half), part(groups, 8 * size + half, half)
    weights_by_t = part(groups, 8 * size + 2 * half, half)
    block = ROWS * n_rows
    scores, pull = part(floats, 0, block), part(floats, block, block)
    few, sums_k = part(floats, 2 * block, ROWS * d), part(floats, 2 * block + ROWS * d, n_rows * d)
    sums_v = part(floats, 2 * block + (ROWS + n_rows) * d, n_rows * d)
    scale = ONE / np.sqrt(np.float32(d))
    for head in range(heads[0], heads[1]):
        b, h = head // n_heads, head % n_heads
        _gather(q, b, h, steps[0], length, width, queries)
        _regroup(queries, width, queries_by_t)
        _gather(gradient, b, h, steps[3], length, width, ahead)
        _regroup(ahead, width, ahead_by_t)
        _gather(k, b, h, steps[1], length, width, loose)
        _across(loose, width, keys)
        _regroup(loose, width, keys_by_t)
        _gather(v, b, h, steps[2], length, width, loose)
        _across(loose, width, values)
        _clear(sums_k)
        _clear(sums_v)
        for t in range(0, length, ROWS):
            n = t + ROWS
            _products(queries, t * width, width, 1, ROWS, keys, n_rows, n, width, scores, n, False)
            _products(ahead, t * width, width, 1, ROWS, values, n_rows, n, width, pull, n, False)
            for r in range(ROWS):
                row, slope = part(scores, r * n, n), part(pull, r * n, n)
                _slope(row, ONE / _soften(row, t + r + 1, scale, g), slope, scale)
                write(slope, part(slopes, r * (n // g), n // g))
            for r in range(0, ROWS, g):
                _write_together(scores, r * n, n, part(weights_by_t, r // g * n, n))
                _write_together(pull, r * n, n, part(slopes_by_t, r // g * n, n))
            _products(slopes, 0, n // g, 1, ROWS, keys_by_t, d, d, n // g, few, d, False)
            for r in range(min(ROWS, length - t)):
                at = ((b * length + t + r) * n_heads + h) * width
                write(part(few, r * d, d), part(to_q, at, width))
            here = part(ahead_by_t, t * width, ROWS * width)
            _products(weights_by_t, 0, 1, n, n, here, d, d, ROWS // g, sums_v, d, True)
            here = part(queries_by_t, t * width, ROWS * width)
            _products(slopes_by_t, 0, 1, n, n, here, d, d, ROWS // g, sums_k, d, True)
        for t in range(length):
            at = ((b * length + t) * n_heads + h) * width
            write(part(sums_k, t * d, d), part(to_k, at, width))
            write(part(sums_v, t * d, d), part(to_v, at, width))


def room(length: int, d: int, g: int) -> tuple[int, int]:
    """Return how many groups and floats a thread needs, for either pass, at T and D."""
    n_rows = -(-length // ROWS) * ROWS
    block = ROWS * n_rows
    return 8 * n_rows * d // g + 3 * block // g, 2 * block + ROWS * (d + 1) + 2 * n_rows * d


@njit(**EXACT)
def _whole(length):
    """Round a length up to whole blocks of rows."""
    return (length + ROWS - 1) // ROWS * ROWS


@njit(**EXACT)
def _products(a, a0, a_row, a_group, n_rows, b, b_group, n_columns, n_groups, c, c_row, adds):
    """Multiply matrices tile by tile; arguments as of `make_product`."""
    if n_columns % (LANES * _N_VECTORS):
        for j in range(0, n_columns, LANES):
            for r in range(0, n_rows, _TILE):
                a1, c0 = a0 + r * a_row, r * c_row + j
                _multiply_narrow(a, a1, a_row, a_group, b, j, b_group, n_groups, c, c0, c_row, adds)
        return
    for j in range(0, n_columns, LANES * _N_VECTORS):
        for r in range(0, n_rows, _TILE):
            a1, c0 = a0 + r * a_row, r * c_row + j
            _multiply(a, a1, a_row, a_group, b, j, b_group, n_groups, c, c0, c_row, adds)


@njit(**EXACT)
def _gather(x, b, h, step, length, width, out):
    """Copy the rows of one head, and zeros behind them, into `out` (rows · width)."""
    begin = b * step[0] + h * step[1]
    for t in range(length):
        row, copied = part(x, begin + t * step[2], width), part(out, t * width, width)
        for i in range(width):
            copied[i] = row[i]
    for i in range(length * width, out.size):
        out[i] = 0


@njit(**EXACT)
def _across(rows, width, out):
    """Turn (rows, groups of D) into (groups of D, rows)."""
    n_rows = rows.size // width
    for t in range(n_rows):
        for i in range(width):
            out[i * n_rows + t] = rows[t * width + i]


@njit(**LOOSE)
def _soften(row, n_seen, scale, g):
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
def _slope(weights, factor, pull, scale):
    """Scale weights w, and turn their gradient into that of scores: w · (pull − Σ w · pull)."""
    mean = ZERO
    for i in range(weights.size):
        mean += weights[i] * pull[i]
    mean *= factor
    for i in range(weights.size):
        weights[i] *= factor
        pull[i] = weights[i] * (pull[i] - mean) * scale


@njit(**EXACT)
def _scale(x, factor):
    for i in range(x.size):
        x[i] *= factor


@njit(**EXACT)
def _clear(x):
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


def _write_together(x, begin, n, out):
    """Write G rows of n float32 numbers, each group the numbers of one column."""
    raise TypeError("_write_together exists in compiled code only")


@overload(_write_together, jit_options=EXACT)  # pyright: ignore
def _written_together(x, begin, n, out):
    def in_pairs(x, begin, n, out):
        write_column_pairs(part(x, begin, n), part(x, begin + n, n), out)

    def singly(x, begin, n, out):
        row = part(x, begin, n)
        for i in range(n):
            out[i] = row[i]

    return in_pairs if out.dtype == types.int32 else singly


def _regroup(rows, width, out):
    """Turn (rows, groups of D) into (groups of rows, D)."""
    raise TypeError("_regroup exists in compiled code only")


@overload(_regroup, jit_options=EXACT)  # pyright: ignore
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
