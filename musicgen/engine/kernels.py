"""The whole step as compiled code: all layers, the cache and the heads, on one thread.

Letters as in `layout`. Everything is float32 but the products: with int8 weights a vector is
rounded to int16 before it meets a matrix, so the sums are whole numbers and exact, in whatever
order they are made: a prompt read in blocks leaves the very same cache as one read event by event.
With float32 weights nothing is rounded; the same text is compiled for both.

What takes `sizes`, `weights`, `cache` or `work` as a whole is joined into its caller: as arguments
these are some two hundred numbers, which takes longer to compile than what is done with them.

This module imports numba: import it only where something is to be computed.
"""
# ruff: noqa: ANN001, ANN201, ANN202  numba takes the types from what is passed in

from __future__ import annotations

import numpy as np
from numba import njit

from musicgen.engine.layout import AHEAD, BLOCK, ROWS, TOKENS, VALUE_ROWS
from musicgen.engine.numerics import (
    EXACT,
    ONE,
    add,
    are_ids,
    copy,
    gate,
    narrow,
    rms_norm,
    rotate,
    softmax,
    spread,
    sum_rows,
)
from musicgen.engine.opening import opened, opened_take
from musicgen.engine.vectors import make_tile, part

_joined = njit(inline="always", **EXACT)

_multiply_one = make_tile(ROWS, 1, 2, 1, ahead=AHEAD)
_multiply_block = make_tile(ROWS, BLOCK, 1, 1, ahead=AHEAD)
_multiply_keys = make_tile(ROWS, 1, 2, 1)
_multiply_values = make_tile(VALUE_ROWS, 1, 8, 8)


def read_events(plan, matrix, narrow_, ids, takes):
    """Read T ≤ TOKENS events (T, K), of one take or of several, and leave each take's state.

    A weight is fetched once for all of them. Which events are read together changes nothing:
    the sums of a row are made in the same order for one event as for many.

    Args:
        plan: Of any of the takes: in its room is computed.
        matrix: `Weights.matrix`.
        narrow_: `Work.narrow` of the plan.
        ids: int64 (T, K), each within its vocabulary; the events of a take in their order.
        takes: int64 (T · PLACE), see `opened_take`.
    """
    sizes, weights, work = opened(plan, matrix, narrow_)
    d, n_ff, n_tokens = sizes.d_model, sizes.d_ff, ids.shape[0]
    for t in range(n_tokens):
        x = part(work.x, t * sizes.stride, d)
        sum_rows(weights.embedding, weights.first_id, ids[t], x)
        rms_norm(x, part(weights.ones, 0, d), x)
    for layer in range(sizes.n_layers):
        at, row = layer * sizes.layer_weights, layer * sizes.layer_rows
        norm = layer * sizes.layer_norms
        for branch in range(2):
            for t in range(n_tokens):
                _ready(part(work.x, t * sizes.stride, d), part(weights.norm, norm, d), work, t)
            norm += d
            n_inner = n_ff if branch else d
            n_rows = 2 * n_ff if branch else 3 * d
            at, row = _project(sizes, weights, work, at, row, d, n_rows, n_tokens)
            for t in range(n_tokens):
                h = part(work.h, t * sizes.stride, n_inner)
                if branch:
                    gate(part(work.y, t * sizes.stride, 2 * n_ff), h)
                else:
                    cache, _, position = opened_take(takes, t, plan, matrix)
                    _attend(sizes, weights, cache, work, layer, norm + d, position, t)
                _narrowed(h, work, t)
            at, row = _project(sizes, weights, work, at, row, n_inner, d, n_tokens)
            for t in range(n_tokens):
                add(part(work.y, t * sizes.stride, d), part(work.x, t * sizes.stride, d))
    gain = part(weights.norm, sizes.n_layers * sizes.layer_norms, d)
    for t in range(n_tokens):
        _, state, _ = opened_take(takes, t, plan, matrix)
        rms_norm(part(work.x, t * sizes.stride, d), gain, state)


def score_attribute(plan, matrix, narrow_, previous, logits):
    """Score attribute k = len(`previous`) of the event after `work.state` into `logits` (V_k).

    Returns False, with nothing done, if an id is outside its attribute's vocabulary.
    """
    sizes, weights, work = opened(plan, matrix, narrow_)
    d, n_ff, k = sizes.d_model, sizes.d_head_ff, previous.size
    if not are_ids(previous, weights.n_ids):
        return False
    norm = weights.head_norm[k]
    x, h = part(work.x, 0, d), part(work.h, 0, d)
    copy(work.state, x)
    if k > 0:
        sum_rows(weights.embedding, weights.first_id, previous, h)
        rms_norm(h, part(weights.norm, norm, d), h)
        add(h, x)
    _ready(x, part(weights.norm, norm + d, d), work, 0)
    at, row = weights.head_matrix[k], weights.head_row[k]
    at, row = _project(sizes, weights, work, at, row, d, 2 * n_ff, 1)
    gate(part(work.y, 0, 2 * n_ff), part(work.h, 0, n_ff))
    _narrowed(part(work.h, 0, n_ff), work, 0)
    at, row = _project(sizes, weights, work, at, row, n_ff, d, 1)
    add(part(work.y, 0, d), x)
    _ready(x, part(weights.norm, norm + 2 * d, d), work, 0)
    _project(sizes, weights, work, at, row, d, logits.size, 1)
    copy(part(work.y, 0, logits.size), logits)
    return True


@_joined
def _ready(x, gain, work, t):
    """Norm a vector, and make it ready for a matrix."""
    h = part(work.h, t * (work.h.size // TOKENS), x.size)
    rms_norm(x, gain, h)
    _narrowed(h, work, t)


@_joined
def _narrowed(h, work, t):
    at = t * (work.h.size // TOKENS)
    work.narrow_scale[t] = narrow(h, part(work.narrow, at, h.size + h.size % 2))


@_joined
def _project(sizes, weights, work, at, row, n_columns, n_rows, n_tokens):
    """Multiply `work.narrow` by the matrix that begins at `at`; return where the next begins."""
    n_groups = (n_columns + sizes.group - 1) // sizes.group
    _multiply(
        weights.matrix, at, weights.scale, row, work.narrow, work.narrow_scale, work.y,
        sizes.stride, n_groups, n_groups * sizes.group * ROWS, n_rows, n_tokens,
    )  # fmt: skip
    n_tiles = (n_rows + ROWS - 1) // ROWS
    return at + n_tiles * n_groups * sizes.group * ROWS, row + n_tiles * ROWS


@njit(**EXACT)
def _multiply(
    matrix, at, scale, row, narrow, narrow_scale, y, stride, n_groups, tile, n_rows, n_tokens
):
    for first in range(0, n_rows, ROWS):
        n_blocks = n_tokens // BLOCK
        for block in range(n_blocks):
            t = block * BLOCK
            _multiply_block(
                matrix, at, narrow, t * stride, stride, n_groups,
                scale, row, narrow_scale, t, y, t * stride + first, stride,
            )  # fmt: skip
        for t in range(n_blocks * BLOCK, n_tokens):
            _multiply_one(
                matrix, at, narrow, t * stride, 0, n_groups,
                scale, row, narrow_scale, t, y, t * stride + first, 0,
            )  # fmt: skip
        at += tile
        row += ROWS


@_joined
def _attend(sizes, weights, cache, work, layer, gains, position, t):
    """Store the keys and values of one event, and gather from all up to it into `work.h`.

    Its queries, keys and values lie in `work.y`; queries and keys are normed a head (QK norm) and
    rotated on the way.
    """
    d, n = sizes.d_model, sizes.d_head
    at, half = t * sizes.stride, sizes.d_head // 2
    q_gain, k_gain = part(weights.norm, gains, n), part(weights.norm, gains + n, n)
    cos, sin = part(weights.cos, position * half, half), part(weights.sin, position * half, half)
    for head in range(sizes.n_heads):
        cell, first = layer * sizes.n_heads + head, at + head * n
        keys, values = cell * sizes.cell_keys, cell * sizes.cell_values
        scales = cell * sizes.n_positions
        rms_norm(part(work.y, first + d, n), k_gain, work.head)
        rotate(work.head, cos, sin, ONE)
        cache.key_scale[scales + position] = narrow(work.head, work.cell)
        row = keys + position // ROWS * ROWS * n + position % ROWS * sizes.group
        spread(work.cell, cache.keys, row, ROWS * sizes.group)
        scale = narrow(part(work.y, first + 2 * d, n), work.cell)
        cache.value_scale[scales + position] = scale
        column = position // sizes.group * VALUE_ROWS * sizes.group + position % sizes.group
        for i in range(n):
            tile = i // VALUE_ROWS * VALUE_ROWS * sizes.n_positions
            cache.values[values + column + tile + i % VALUE_ROWS * sizes.group] = work.cell[i]
        rms_norm(part(work.y, first, n), q_gain, work.head)
        rotate(work.head, cos, sin, ONE / np.sqrt(np.float32(n)))
        work.narrow_scale[t] = narrow(work.head, part(work.narrow, at, n))
        _score_keys(
            cache.keys, keys, work.narrow, at, n // sizes.group, n * ROWS,
            cache.key_scale, scales, work.narrow_scale, t, work.score, position + 1,
        )  # fmt: skip
        score = part(work.score, 0, position + 1)
        total = softmax(score, part(cache.value_scale, scales, position + 1))
        n_groups = position // sizes.group + 1
        scale = narrow(score, part(work.narrow_score, 0, n_groups * sizes.group))
        work.narrow_scale[t] = scale / total
        _sum_values(
            cache.values, values, VALUE_ROWS * sizes.n_positions, work.narrow_score, n_groups,
            weights.ones, work.narrow_scale, t, work.h, first, n,
        )  # fmt: skip


@njit(**EXACT)
def _score_keys(keys, at, query, q0, n_groups, tile, scale, s0, q_scale, t, score, n_positions):
    for first in range(0, n_positions, ROWS):
        _multiply_keys(
            keys, at, query, q0, 0, n_groups,
            scale, s0 + first, q_scale, t, score, first, 0,
        )  # fmt: skip
        at += tile


@njit(**EXACT)
def _sum_values(values, at, tile, weights, n_groups, ones, scale, t, out, first, n):
    """What the last tile writes beyond a head is written over by the next head."""
    for i in range(0, n, VALUE_ROWS):
        _multiply_values(
            values, at, weights, 0, 0, n_groups,
            ones, 0, scale, t, out, first + i, 0,
        )  # fmt: skip
        at += tile
