"""Attention over the cache, alone or with a helper: the heads of the events are shared out.

Letters as in `layout`. Whoever computes a head, the numbers are the same to the last bit.

This module imports numba: import it only where something is to be computed.
"""
# ruff: noqa: ANN001, ANN201, ANN202  numba takes the types from what is passed in

from __future__ import annotations

import numpy as np
from numba import njit

from musicgen.engine.atomics import stay_apart
from musicgen.engine.board import (
    ATTENTION,
    ROOM,
    announce,
    has_come,
    is_to_be_asked,
    learn,
    n_done,
    n_done_soon,
    next_number,
    own_units,
)
from musicgen.engine.inbox import call_back, send, take_over
from musicgen.engine.layout import N_SIZES, PLACE, ROWS, VALUE_ROWS
from musicgen.engine.numerics import (
    APART,
    EXACT,
    ONE,
    copy,
    narrow,
    rms_norm,
    rotate,
    softmax,
    spread,
)
from musicgen.engine.opening import opened, opened_cache, opened_take
from musicgen.engine.vectors import array_at, fetch, fetch_to_write, make_tile, part

_REAL = np.zeros(1, dtype=np.float32)

_multiply_keys = make_tile(ROWS, 1, 2, 1)
_multiply_values = make_tile(VALUE_ROWS, 1, 8, 8)

_LEAST_SHARED = 1 << 15
"""Positions times numbers of a position that are worth a helper."""

_HEAD_PATIENCE = 32

ATTENTION_SLOT = 4
"""Of attention's share in `board.SHARE`; products have those below and above."""


@njit(**APART)
def attend(plan, board, matrix, narrow_, layer, gains, n_events, takes):
    """Store keys and values of T events, and gather from all up to each one into its `work.h`.

    Their queries, keys and values lie in `work.y`; queries and keys are normed a head (QK norm) and
    rotated on the way.
    """
    stay_apart()
    first_position, n_heads, n = takes[2], plan[1], plan[2]
    for t in range(n_events):
        _remember(plan, matrix, narrow_, layer, gains, t, takes)
    n_units = n_events * n_heads
    if board is None:
        _attend_all(plan, matrix, narrow_, layer, n_units, takes)
        return
    # A last tile that is not full is written over by the next head: then in their order only.
    is_long = (first_position + 1) * n * n_units >= _LEAST_SHARED and n % VALUE_ROWS == 0
    if not is_long or not _is_one_take(takes, n_events) or not is_to_be_asked(board):
        _attend_all(plan, matrix, narrow_, layer, n_units, takes)
        return
    its_plan, slot = array_at(takes, 0, plan), ATTENTION_SLOT
    first, end = own_units(board, n_units, slot), n_units
    room, d, scale = array_at(board, ROOM, plan), plan[0], array_at(plan, N_SIZES + 52, _REAL)
    send(plan, room, matrix, narrow_, next_number(board), n_events, d, scale, n_units)
    phase = announce(board, ATTENTION, plan, first, end, n_events, layer, first_position, 0)
    call_back(room, matrix, narrow_, phase, d)
    for unit in range(first):
        position = first_position + unit // n_heads
        attend_head(its_plan, plan, matrix, narrow_, layer, unit, position)
    theirs = array_at(room, N_SIZES + 34, _REAL)
    for unit in range(first, end - 1):
        fetch(theirs, unit // n_heads * plan[9] + unit % n_heads * n)
    done = n_done(board, phase)
    learn(board, n_units, slot, end - first - done, has_come(board, phase))
    while first + done < end:
        if 0 < done == end - first - 1:
            done = n_done_soon(board, phase, done + 1, _HEAD_PATIENCE)
        if first + done < end:
            end -= 1
            position = first_position + end // n_heads
            attend_head(its_plan, plan, matrix, narrow_, layer, end, position)
            done = n_done(board, phase)
    mine = array_at(plan, N_SIZES + 34, _REAL)
    for unit in range(first, end):
        start = unit // n_heads * plan[9] + unit % n_heads * n
        copy(part(theirs, start, n), part(mine, start, n))


@njit(inline="always", **EXACT)
def _attend_all(plan, matrix, narrow_, layer, n_units, takes):
    for unit in range(n_units):
        t = unit // plan[1]
        its_plan, position = array_at(takes, t * PLACE, plan), takes[t * PLACE + 2]
        attend_head(its_plan, plan, matrix, narrow_, layer, unit, position)


@njit(**EXACT)
def take_over_heads(plan, room, matrix, narrow_, phase, layer, first, end, n_events, position):
    """Make a helper ready for its heads: what is new for it is brought near, all at once."""
    sizes, _, work = opened(room, matrix, narrow_)
    n_units = n_events * sizes.n_heads
    take_over(room, matrix, narrow_, phase, n_events, sizes.d_model, work.query_scale, n_units)
    if n_events == 1:
        cache = opened_cache(plan, matrix)
        for head in range(first, end):
            _newest_lines(sizes, cache, layer, head, position, fetch)
            fetch_to_write(work.h, head * sizes.d_head)


@njit(**EXACT)
def call_back_lines(plan, matrix, narrow_, layer, position):
    """Have the lines brought near into which a position's keys and values will be written."""
    sizes, _, _ = opened(plan, matrix, narrow_)
    cache = opened_cache(plan, matrix)
    for head in range(sizes.n_heads):
        _newest_lines(sizes, cache, layer, head, position, fetch_to_write)


@njit(inline="always", **EXACT)
def _newest_lines(sizes, cache, layer, head, position, fetch_):
    cell, n, group = layer * sizes.n_heads + head, sizes.d_head, sizes.group
    keys = cell * sizes.cell_keys + position // ROWS * ROWS * n
    for i in range(n // group):
        fetch_(cache.keys, keys + i * ROWS * group)
    values = cell * sizes.cell_values + position // group * VALUE_ROWS * group
    for i in range(n // VALUE_ROWS):
        fetch_(cache.values, values + i * VALUE_ROWS * sizes.n_positions)
    fetch_(cache.key_scale, cell * sizes.n_positions + position)
    fetch_(cache.value_scale, cell * sizes.n_positions + position)


@njit(**EXACT)
def _is_one_take(takes, n_events):
    others = 0
    for t in range(n_events):
        others += takes[t * PLACE] != takes[0] or takes[t * PLACE + 2] != takes[2] + t
    return others == 0


@njit(**EXACT)
def _remember(plan, matrix, narrow_, layer, gains, t, takes):
    """Store the keys and values of one event, and make its queries ready."""
    sizes, weights, work = opened(plan, matrix, narrow_)
    cache, _, position = opened_take(takes, t, plan, matrix)
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
        scale = narrow(work.head, part(work.narrow, first, n))
        work.query_scale[t * sizes.n_heads + head] = scale


@njit(**APART)
def attend_head(its_plan, room, matrix, narrow_, layer, unit, position):
    """Gather from all positions up to one into a head's part of `work.h`.

    Args:
        its_plan: The take's, in which its cache lies.
        room: The plan of who computes: the queries lie there, and what comes of them.
        matrix: `Weights.matrix`, and of its type the cache.
        narrow_: Of the type of `Work.narrow`.
        layer: The layer.
        unit: Event · H + head.
        position: The event's.
    """
    stay_apart()
    sizes, weights, work = opened(room, matrix, narrow_)
    cache = opened_cache(its_plan, matrix)
    n, t, head = sizes.d_head, unit // sizes.n_heads, unit % sizes.n_heads
    cell, first = layer * sizes.n_heads + head, t * sizes.stride + head * n
    scales = cell * sizes.n_positions
    _score_keys(
        cache.keys, cell * sizes.cell_keys, work.narrow, first, n // sizes.group, n * ROWS,
        cache.key_scale, scales, work.query_scale, unit, work.score, position + 1,
    )  # fmt: skip
    score = part(work.score, 0, position + 1)
    total = softmax(score, part(cache.value_scale, scales, position + 1))
    n_groups = position // sizes.group + 1
    scale = narrow(score, part(work.narrow_score, 0, n_groups * sizes.group))
    work.narrow_scale[t] = scale / total
    _sum_values(
        cache.values, cell * sizes.cell_values, VALUE_ROWS * sizes.n_positions, work.narrow_score,
        n_groups, weights.ones, work.narrow_scale, t, work.h, first, n,
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
