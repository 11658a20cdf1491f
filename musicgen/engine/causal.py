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
from numba import njit

from musicgen.engine.numerics import EXACT, ONE
from musicgen.engine.products import LANES, make_product, tile_of_this_machine
from musicgen.engine.rows import (
    across,
    clear,
    gather,
    regroup,
    scale_by,
    slope,
    soften,
    write,
    write_together,
)
from musicgen.engine.vectors import part

ROWS = 32
"""Queries at a time: a multiple of a tile's rows and of two vectors."""
_TILE, _N_VECTORS = tile_of_this_machine()
_multiply, _multiply_narrow = make_product(_TILE, _N_VECTORS), make_product(_TILE, 1)


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
        gather(q, b, h, steps[0], length, width, queries)
        gather(k, b, h, steps[1], length, width, loose)
        across(loose, width, keys)
        gather(v, b, h, steps[2], length, width, loose)
        regroup(loose, width, values)
        for t in range(0, length, ROWS):
            n = t + ROWS
            _products(queries, t * width, width, 1, ROWS, keys, n_rows, n, width, scores, n, False)
            for r in range(ROWS):
                row = part(scores, r * n, n)
                totals[r] = soften(row, t + r + 1, scale, g)
                write(row, part(weights, r * (n // g), n // g))
            _products(weights, 0, n // g, 1, ROWS, values, d, d, n // g, means, d, False)
            for r in range(min(ROWS, length - t)):
                row = part(means, r * d, d)
                scale_by(row, ONE / totals[r])
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
        gather(q, b, h, steps[0], length, width, queries)
        regroup(queries, width, queries_by_t)
        gather(gradient, b, h, steps[3], length, width, ahead)
        regroup(ahead, width, ahead_by_t)
        gather(k, b, h, steps[1], length, width, loose)
        across(loose, width, keys)
        regroup(loose, width, keys_by_t)
        gather(v, b, h, steps[2], length, width, loose)
        across(loose, width, values)
        clear(sums_k)
        clear(sums_v)
        for t in range(0, length, ROWS):
            n = t + ROWS
            _products(queries, t * width, width, 1, ROWS, keys, n_rows, n, width, scores, n, False)
            _products(ahead, t * width, width, 1, ROWS, values, n_rows, n, width, pull, n, False)
            for r in range(ROWS):
                row, steep = part(scores, r * n, n), part(pull, r * n, n)
                slope(row, ONE / soften(row, t + r + 1, scale, g), steep, scale)
                write(steep, part(slopes, r * (n // g), n // g))
            for r in range(0, ROWS, g):
                write_together(scores, r * n, n, part(weights_by_t, r // g * n, n))
                write_together(pull, r * n, n, part(slopes_by_t, r // g * n, n))
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
