"""Training's attention as compiled code: forward and gradient, one head of one window at a time.

    B windows   T events   H heads   D width of a head   G numbers a group (see `products`)

Forward, the weights of `ROWS` queries over all keys that they see lie in the processor's second
cache and are used there; for the gradient they are made again, of as many queries over `KEYS` keys:
nothing of size T · T ever goes to memory. Source: Dao et al. (2022), "FlashAttention: Fast and
Memory-Efficient Exact Attention with IO-Awareness"; forward, rows are whole here, so that their
largest score is known before the first exponential.

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
    dot,
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
KEYS = 256
"""Keys at a time in the gradient: a multiple of `ROWS`."""
_TILE, _N_VECTORS = tile_of_this_machine()
_multiply, _multiply_narrow = make_product(_TILE, _N_VECTORS), make_product(_TILE, 1)


def forward(q, k, v, steps, shape, heads, log_sums, out, groups, floats):
    """Write each query's mean of the values that it sees, weighted by softmax(q · kᵀ / √D).

    Args:
        q: Queries, one-dimensional: int32 pairs of bf16, or float32.
        k: Keys.
        v: Values.
        steps: int64 (3, 3): of q, k and v, how far windows, heads and events lie apart.
        shape: H, T, D and G.
        heads: The first of the B · H heads to do, and the one after the last.
        log_sums: Written: ln Σ e^(q · kᵀ / √D) over the keys seen, float32, of (B, H, T).
        out: Written: as q, of (B, T, H, D).
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
            _products(
                queries, t * width, width, 1, ROWS, keys, 0, n_rows, n, width, scores, n, False
            )
            for r in range(ROWS):
                row = part(scores, r * n, n)
                best, totals[r] = soften(row, t + r + 1, scale, g)
                write(row, part(weights, r * (n // g), n // g))
                if t + r < length:
                    log_sums[head * length + t + r] = best * scale + np.log(totals[r])
            _products(weights, 0, n // g, 1, ROWS, values, 0, d, d, n // g, means, d, False)
            for r in range(min(ROWS, length - t)):
                row = part(means, r * d, d)
                scale_by(row, ONE / totals[r])
                write(row, part(out, ((b * length + t + r) * n_heads + h) * width, width))


def backward(
    q, k, v, out, gradient, steps, shape, heads, log_sums, to_q, to_k, to_v, groups, floats
):
    """Write the gradients of queries, keys and values from that of what `forward` wrote.

    Args:
        q: As in `forward`, like k and v.
        k: Keys.
        v: Values.
        out: What `forward` wrote.
        gradient: Of that, of q's type.
        steps: int64 (5, 3): those of q, k, v, out and the gradient.
        shape: H, T, D and G.
        heads: The first of the B · H heads to do, and the one after the last.
        log_sums: What `forward` wrote.
        to_q: Written: as q, of (B, T, H, D).
        to_k: Written.
        to_v: Written.
        groups: Room of q's type, `room` says how much.
        floats: Room of float32.
    """
    n_heads, length, d, g = shape
    width, n_rows = d // g, _whole(length)
    size, block = n_rows * width, ROWS * KEYS
    queries, ahead = part(groups, 0, size), part(groups, size, size)
    keys, values = part(groups, 2 * size, size), part(groups, 3 * size, size)
    queries_by_t, ahead_by_t = part(groups, 4 * size, size), part(groups, 5 * size, size)
    keys_by_t, loose = part(groups, 6 * size, size), part(groups, 7 * size, size)
    after = part(groups, 8 * size, 3 * block // g)
    slopes, slopes_by_t = part(after, 0, block // g), part(after, block // g, block // g)
    weights_by_t = part(after, 2 * block // g, block // g)
    scores, pull = part(floats, 0, block), part(floats, block, block)
    sums_k, sums_v = part(floats, 2 * block, KEYS * d), part(floats, 2 * block + KEYS * d, KEYS * d)
    sums_q = part(floats, 2 * (block + KEYS * d), n_rows * d)
    means = part(floats, 2 * (block + KEYS * d) + n_rows * d, n_rows)
    scale = ONE / np.sqrt(np.float32(d))
    for head in range(heads[0], heads[1]):
        b, h = head // n_heads, head % n_heads
        gather(q, b, h, steps[0], length, width, queries)
        regroup(queries, width, queries_by_t)
        gather(out, b, h, steps[3], length, width, loose)
        gather(gradient, b, h, steps[4], length, width, ahead)
        regroup(ahead, width, ahead_by_t)
        for t in range(n_rows):
            means[t] = dot(part(loose, t * width, width), part(ahead, t * width, width))
        gather(k, b, h, steps[1], length, width, loose)
        across(loose, width, keys)
        regroup(loose, width, keys_by_t)
        gather(v, b, h, steps[2], length, width, loose)
        across(loose, width, values)
        clear(sums_q)
        for first in range(0, n_rows, KEYS):
            clear(sums_k)
            clear(sums_v)
            later = part(keys_by_t, first * width, size - first * width)
            for t in range(first, n_rows, ROWS):
                n, n_asked = min(KEYS, t + ROWS - first), min(ROWS, length - t)
                t0 = t * width
                _products(
                    queries, t0, width, 1, ROWS, keys, first, n_rows, n, width, scores, n, False
                )
                _products(
                    ahead, t0, width, 1, ROWS, values, first, n_rows, n, width, pull, n, False
                )
                sums = part(log_sums, head * length + t, n_asked)
                _slopes(scores, pull, n, t - first, scale, sums, part(means, t, n_asked), g)
                for r in range(ROWS):
                    write(part(pull, r * n, n), part(slopes, r * (n // g), n // g))
                for r in range(0, ROWS, g):
                    write_together(scores, r * n, n, part(weights_by_t, r // g * n, n))
                    write_together(pull, r * n, n, part(slopes_by_t, r // g * n, n))
                here = part(sums_q, t * d, ROWS * d)
                _products(slopes, 0, n // g, 1, ROWS, later, 0, d, d, n // g, here, d, True)
                here = part(ahead_by_t, t0, ROWS * width)
                _products(weights_by_t, 0, 1, n, n, here, 0, d, d, ROWS // g, sums_v, d, True)
                here = part(queries_by_t, t0, ROWS * width)
                _products(slopes_by_t, 0, 1, n, n, here, 0, d, d, ROWS // g, sums_k, d, True)
            for t in range(min(KEYS, length - first)):
                at = ((b * length + first + t) * n_heads + h) * width
                write(part(sums_k, t * d, d), part(to_k, at, width))
                write(part(sums_v, t * d, d), part(to_v, at, width))
        for t in range(length):
            at = ((b * length + t) * n_heads + h) * width
            write(part(sums_q, t * d, d), part(to_q, at, width))


def room(length: int, d: int, g: int) -> tuple[int, int]:
    """Return how many groups and floats a thread needs, for either pass, at T and D."""
    n_rows = -(-length // ROWS) * ROWS
    forward_groups = 4 * n_rows * d // g + ROWS * n_rows // g
    backward_groups = 8 * n_rows * d // g + 3 * ROWS * KEYS // g
    forward_floats = ROWS * (n_rows + d + 1)
    backward_floats = 2 * KEYS * (ROWS + d) + n_rows * (d + 1)
    return max(forward_groups, backward_groups), max(forward_floats, backward_floats)


@njit(**EXACT)
def _slopes(scores, pull, n, n_before, scale, log_sums, means, g):
    """Do with rows of n numbers what `slope` does; rows without a query become zeros."""
    for r in range(log_sums.size):
        row, steep, n_seen = part(scores, r * n, n), part(pull, r * n, n), min(n, n_before + r + 1)
        slope(row, steep, n_seen, scale, log_sums[r], means[r], g)
    for r in range(log_sums.size, ROWS):
        clear(part(scores, r * n, n))
        clear(part(pull, r * n, n))


@njit(**EXACT)
def _whole(length):
    """Round a length up to whole blocks of rows."""
    return (length + ROWS - 1) // ROWS * ROWS


@njit(**EXACT)
def _products(a, a0, a_row, a_group, n_rows, b, b0, b_group, n_columns, n_groups, c, c_row, adds):
    """Multiply matrices tile by tile; arguments as of `make_product`."""
    if n_columns % (LANES * _N_VECTORS):
        for j in range(0, n_columns, LANES):
            for r in range(0, n_rows, _TILE):
                a1, c0 = a0 + r * a_row, r * c_row + j
                _multiply_narrow(
                    a, a1, a_row, a_group, b, b0 + j, b_group, n_groups, c, c0, c_row, adds
                )
        return
    for j in range(0, n_columns, LANES * _N_VECTORS):
        for r in range(0, n_rows, _TILE):
            a1, c0 = a0 + r * a_row, r * c_row + j
            _multiply(a, a1, a_row, a_group, b, b0 + j, b_group, n_groups, c, c0, c_row, adds)
