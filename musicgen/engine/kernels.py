"""The whole step as compiled code: all layers, the cache and the heads, on one thread.

Letters as in `layout`. Everything is float32 but the products: with int8 weights a vector is
rounded to int16 before it meets a matrix, so the sums are whole numbers and exact, in whatever
order they are made: a prompt read in blocks leaves the very same cache as one read event by event.
With float32 weights nothing is rounded; the same text is compiled for both.

This module imports numba: import it only where something is to be computed.
"""
# ruff: noqa: ANN001, ANN201, ANN202  numba takes the types from what is passed in

from __future__ import annotations

import numpy as np
from numba import njit

from musicgen.engine.layout import ROWS, TOKENS, VALUE_ROWS
from musicgen.engine.numerics import EXACT, LOOSE, ONE, ZERO, copy, exp, largest, narrow, rms_norm
from musicgen.engine.vectors import make_tile

_multiply_one = make_tile(ROWS, 1, 4)
_multiply_four = make_tile(ROWS, TOKENS, 1)
_multiply_values = make_tile(VALUE_ROWS, 1, 8)


def read_events(sizes, weights, cache, work, ids, start):
    """Read T ≤ TOKENS events (T, K) at positions `start` …, and leave the state in `work.state`."""
    d, n_ff = sizes.d_model, sizes.d_ff
    n_tokens = ids.shape[0]
    stride = work.h.size // TOKENS
    for t in range(n_tokens):
        x = work.x[t * stride : t * stride + d]
        _embed(weights, ids[t], x)
        rms_norm(x, weights.ones[:d], x)
    for layer in range(sizes.n_layers):
        at, row = layer * sizes.layer_weights, layer * sizes.layer_rows
        norm = layer * sizes.layer_norms
        _normed(sizes, weights, work, norm, n_tokens)
        at, row = _project(sizes, weights, work, at, row, d, 3 * d, n_tokens)
        for t in range(n_tokens):
            _attend(sizes, weights, cache, work, layer, norm + 2 * d, start + t, t)
            _narrowed(work, t, d)
        at, row = _project(sizes, weights, work, at, row, d, d, n_tokens)
        _added(work, d, n_tokens)
        _normed(sizes, weights, work, norm + d, n_tokens)
        at, row = _project(sizes, weights, work, at, row, d, 2 * n_ff, n_tokens)
        _gated(work, n_ff, n_tokens)
        at, row = _project(sizes, weights, work, at, row, n_ff, d, n_tokens)
        _added(work, d, n_tokens)
    last = (n_tokens - 1) * stride
    gain = weights.norm[sizes.n_layers * sizes.layer_norms :]
    rms_norm(work.x[last : last + d], gain[:d], work.state)


def score_attribute(sizes, weights, work, previous, logits):
    """Score attribute k = len(`previous`) of the event after `work.state` into `logits` (V_k)."""
    d, n_ff, k = sizes.d_model, sizes.d_head_ff, previous.size
    at, row, norm = weights.head_matrix[k], weights.head_row[k], weights.head_norm[k]
    x, h = work.x[:d], work.h[:d]
    copy(work.state, x)
    if k > 0:
        _embed(weights, previous, h)
        rms_norm(h, weights.norm[norm : norm + d], h)
        for i in range(d):
            x[i] += h[i]
    _normed(sizes, weights, work, norm + d, 1)
    at, row = _project(sizes, weights, work, at, row, d, 2 * n_ff, 1)
    _gated(work, n_ff, 1)
    at, row = _project(sizes, weights, work, at, row, n_ff, d, 1)
    _added(work, d, 1)
    _normed(sizes, weights, work, norm + 2 * d, 1)
    _project(sizes, weights, work, at, row, d, logits.size, 1)
    copy(work.y[: logits.size], logits)


@njit(**LOOSE)
def _embed(weights, ids, out):
    """Sum the embeddings of an event's first attributes."""
    d = out.size
    for i in range(d):
        out[i] = ZERO
    for k in range(ids.size):
        first = (weights.first_id[k] + ids[k]) * d
        vector = weights.embedding[first : first + d]
        for i in range(d):
            out[i] += vector[i]


@njit(**EXACT)
def _normed(sizes, weights, work, norm, n_tokens):
    """Norm the stream of every event and make it ready for a matrix."""
    d, stride = sizes.d_model, work.h.size // TOKENS
    for t in range(n_tokens):
        at = t * stride
        gain = weights.norm[norm : norm + d]
        rms_norm(work.x[at : at + d], gain, work.h[at : at + d])
        _narrowed(work, t, d)


@njit(**EXACT)
def _narrowed(work, t, n):
    at = t * (work.h.size // TOKENS)
    padded = n + n % 2
    work.narrow_scale[t] = narrow(work.h[at : at + n], work.narrow[at : at + padded])


@njit(**EXACT)
def _added(work, n, n_tokens):
    """Add what a branch made to the stream."""
    stride = work.h.size // TOKENS
    for t in range(n_tokens):
        x, y = work.x[t * stride : t * stride + n], work.y[t * stride : t * stride + n]
        for i in range(n):
            x[i] += y[i]


@njit(**EXACT)
def _gated(work, n, n_tokens):
    """silu(gate) · up, made ready for a matrix."""
    stride = work.h.size // TOKENS
    for t in range(n_tokens):
        at = t * stride
        gate, up = work.y[at : at + n], work.y[at + n : at + 2 * n]
        h = work.h[at : at + n]
        for i in range(n):
            h[i] = gate[i] / (ONE + exp(-gate[i])) * up[i]
        _narrowed(work, t, n)


@njit(**EXACT)
def _project(sizes, weights, work, at, row, n_columns, n_rows, n_tokens):
    """Multiply `work.narrow` by the matrix that begins at `at`; return where the next begins."""
    stride = work.h.size // TOKENS
    n_groups = (n_columns + sizes.group - 1) // sizes.group
    tile = n_groups * sizes.group * ROWS
    for first in range(0, n_rows, ROWS):
        if n_tokens == TOKENS:
            _multiply_four(
                weights.matrix, at, work.narrow, 0, stride, n_groups,
                weights.scale, row, work.narrow_scale, 0, work.y, first, stride,
            )  # fmt: skip
        else:
            for t in range(n_tokens):
                _multiply_one(
                    weights.matrix, at, work.narrow, t * stride, 0, n_groups,
                    weights.scale, row, work.narrow_scale, t, work.y, t * stride + first, 0,
                )  # fmt: skip
        at += tile
        row += ROWS
    return at, row


@njit(**EXACT)
def _attend(sizes, weights, cache, work, layer, gains, position, t):
    """Store the keys and values of one event, and gather from all up to it into `work.h`.

    Its queries, keys and values lie in `work.y`; queries and keys are normed a head (QK norm) and
    rotated on the way.
    """
    d, d_head = sizes.d_model, sizes.d_head
    at = t * (work.h.size // TOKENS)
    q_gain = weights.norm[gains : gains + d_head]
    k_gain = weights.norm[gains + d_head : gains + 2 * d_head]
    shrink = ONE / np.sqrt(np.float32(d_head))
    for head in range(sizes.n_heads):
        cell = layer * sizes.n_heads + head
        first = at + head * d_head
        key, value = work.y[first + d : first + d + d_head], work.y[first + 2 * d :]
        rms_norm(key, k_gain, work.head)
        _rotate(weights, work.head, position)
        _store_key(sizes, cache, work, cell, position)
        copy(value[:d_head], work.head)
        _store_value(sizes, cache, work, cell, position)
        rms_norm(work.y[first : first + d_head], q_gain, work.head)
        _rotate(weights, work.head, position)
        for i in range(d_head):
            work.head[i] *= shrink
        work.narrow_scale[t] = narrow(work.head, work.narrow[at : at + d_head])
        _gather(sizes, weights, cache, work, cell, position + 1, t, first)


@njit(**EXACT)
def _rotate(weights, x, position):
    """Turn each pair (i, i + D / 2) by its position's angle."""
    half = x.size // 2
    cos = weights.cos[position * half : (position + 1) * half]
    sin = weights.sin[position * half : (position + 1) * half]
    low, high = x[:half], x[half:]
    for i in range(half):
        a, b = low[i], high[i]
        low[i] = a * cos[i] - b * sin[i]
        high[i] = b * cos[i] + a * sin[i]


@njit(**EXACT)
def _store_key(sizes, cache, work, cell, position):
    cache.key_scale[cell * sizes.n_positions + position] = narrow(work.head, work.cell)
    tile = cell * sizes.cell_keys + position // ROWS * ROWS * sizes.d_head
    row = tile + position % ROWS * sizes.group
    for i in range(sizes.d_head):
        group = i // sizes.group
        cache.keys[row + group * ROWS * sizes.group + i % sizes.group] = work.cell[i]


@njit(**EXACT)
def _store_value(sizes, cache, work, cell, position):
    cache.value_scale[cell * sizes.n_positions + position] = narrow(work.head, work.cell)
    column = position // sizes.group * VALUE_ROWS * sizes.group + position % sizes.group
    column += cell * sizes.cell_values
    tile = VALUE_ROWS * sizes.n_positions
    for i in range(sizes.d_head):
        cache.values[column + i // VALUE_ROWS * tile + i % VALUE_ROWS * sizes.group] = work.cell[i]


@njit(**EXACT)
def _gather(sizes, weights, cache, work, cell, n, t, out):
    """Weigh the first `n` values of a cell by the query in `work.narrow`; write at `out` of h."""
    stride, scales = work.h.size // TOKENS, cell * sizes.n_positions
    n_groups = sizes.d_head // sizes.group
    for first in range(0, n, ROWS):
        _multiply_one(
            cache.keys, cell * sizes.cell_keys + first * sizes.d_head,
            work.narrow, t * stride, 0, n_groups,
            cache.key_scale, scales + first, work.narrow_scale, t, work.score, first, 0,
        )  # fmt: skip
    total = _softmax(work.score[:n], cache.value_scale[scales : scales + n])
    n_groups = (n + sizes.group - 1) // sizes.group
    scale = narrow(work.score[:n], work.narrow_score[: n_groups * sizes.group])
    work.narrow_scale[t] = scale / total
    tile = VALUE_ROWS * sizes.n_positions
    for i in range((sizes.d_head + VALUE_ROWS - 1) // VALUE_ROWS):
        # What the last tile writes beyond the head is written over by the next head.
        _multiply_values(
            cache.values, cell * sizes.cell_values + i * tile,
            work.narrow_score, 0, 0, n_groups,
            weights.ones, 0, work.narrow_scale, t, work.h, out + i * VALUE_ROWS, 0,
        )  # fmt: skip


@njit(**LOOSE)
def _softmax(score, value_scale):
    """Turn scores into weights times the values' scales; return what to divide by."""
    best = largest(score)
    total = ZERO
    for i in range(score.size):
        weight = exp(score[i] - best)
        total += weight
        score[i] = weight * value_scale[i]
    return total
