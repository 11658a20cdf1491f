"""Matrix products of a step, alone or with a helper: its rows are shared out tile by tile.

Letters as in `layout`. Whoever computes a tile, the sums are the same to the last bit.

This module imports numba: import it only where something is to be computed.
"""
# ruff: noqa: ANN001, ANN201, ANN202  numba takes the types from what is passed in

from __future__ import annotations

import numpy as np
from numba import njit

from musicgen.engine.atomics import stay_apart
from musicgen.engine.board import (
    MOST_UNITS,
    PRODUCT,
    ROOM,
    announce,
    has_come,
    is_to_be_asked,
    learn,
    n_done,
    next_number,
    own_units,
)
from musicgen.engine.inbox import call_back, send, take_over
from musicgen.engine.layout import AHEAD, ALIGNMENT, BLOCK, N_SIZES, ROWS, TOKENS
from musicgen.engine.numerics import APART, EXACT, copy, narrow, rms_norm
from musicgen.engine.opening import opened
from musicgen.engine.vectors import array_at, fetch, fetch_to_write, make_tile, part

_joined = njit(inline="always", **EXACT)
_REAL = np.zeros(1, dtype=np.float32)

_multiply_one = make_tile(ROWS, 1, 2, 1, ahead=AHEAD)
_multiply_block = make_tile(ROWS, BLOCK, 1, 1, ahead=AHEAD)

LEAST_SHARED = 1 << 17
"""Weights times events of a product that is worth a helper: about two microseconds of one's own."""


@_joined
def ready(x, gain, work, t):
    """Norm a vector, and make it ready for a matrix."""
    h = part(work.h, t * (work.h.size // TOKENS), x.size)
    rms_norm(x, gain, h)
    narrowed(h, work, t)


@_joined
def narrowed(h, work, t):
    """Make a vector ready for a matrix."""
    at = t * (work.h.size // TOKENS)
    work.narrow_scale[t] = narrow(h, part(work.narrow, at, h.size + h.size % 2))


@_joined
def project(plan, board, sizes, matrix, narrow_, at, row, n_columns, n_rows, n_events, slot):
    """Multiply `work.narrow` by the matrix that begins at `at`; return where the next begins."""
    n_groups = (n_columns + sizes.group - 1) // sizes.group
    n_tiles = (n_rows + ROWS - 1) // ROWS
    _project(plan, board, matrix, narrow_, at, row, n_groups, n_tiles, n_events, slot)
    return at + n_tiles * n_groups * sizes.group * ROWS, row + n_tiles * ROWS


@njit(**APART)
def _project(plan, board, matrix, narrow_, at, row, n_groups, n_tiles, n_events, slot):
    stay_apart()
    if board is None:
        multiply(plan, matrix, narrow_, at, row, n_groups, 0, n_tiles, n_events)
        return
    n_weights = n_tiles * ROWS * n_groups * plan[8] * n_events
    if n_weights < LEAST_SHARED or n_tiles > MOST_UNITS or not is_to_be_asked(board):
        multiply(plan, matrix, narrow_, at, row, n_groups, 0, n_tiles, n_events)
        return
    first, end = own_units(board, n_tiles, slot), n_tiles
    room, size = array_at(board, ROOM, plan), n_groups * plan[8]
    scale = array_at(plan, N_SIZES + 40, _REAL)
    send(plan, room, matrix, narrow_, next_number(board), n_events, size, scale, n_events)
    phase = announce(board, PRODUCT, plan, first, n_tiles, n_events, at, row, n_groups)
    call_back(room, matrix, narrow_, phase, size)
    multiply(plan, matrix, narrow_, at, row, n_groups, 0, first, n_events)
    theirs = array_at(room, N_SIZES + 36, _REAL)
    for i in range(first * ROWS, (end - 2) * ROWS, ALIGNMENT // 4):
        fetch(theirs, i)
    done = n_done(board, phase)
    learn(board, n_tiles, slot, end - first - done, has_come(board, phase))
    while first + done < end:
        end -= 1
        multiply(plan, matrix, narrow_, at, row, n_groups, end, end + 1, n_events)
        done = n_done(board, phase)
    theirs = array_at(room, N_SIZES + 36, _REAL)
    mine = array_at(plan, N_SIZES + 36, _REAL)
    for t in range(n_events):
        start, size = t * plan[9] + first * ROWS, (end - first) * ROWS
        copy(part(theirs, start, size), part(mine, start, size))


@njit(**EXACT)
def take_over_product(room, matrix, narrow_, phase, n_groups, first, end, n_events):
    """Make a helper ready for its tiles of a product."""
    y, scale = array_at(room, N_SIZES + 36, _REAL), array_at(room, N_SIZES + 40, _REAL)
    take_over(room, matrix, narrow_, phase, n_events, n_groups * room[8], scale, n_events)
    for i in range(first * ROWS, end * ROWS, ALIGNMENT // 4):
        fetch_to_write(y, i)


@njit(**APART)
def multiply(room, matrix, narrow_, at, row, n_groups, first, end, n_events):
    """Compute some tiles of a product.

    Args:
        room: The plan of who computes: what is multiplied lies there, and what comes of it.
        matrix: `Weights.matrix`.
        narrow_: Of the type of `Work.narrow`.
        at: Where the matrix begins.
        row: Where its scales begin.
        n_groups: Groups of columns.
        first: The first of the tiles.
        end: The tile behind the last.
        n_events: How many vectors.
    """
    stay_apart()
    sizes, weights, work = opened(room, matrix, narrow_)
    stride, scale = sizes.stride, weights.scale
    tile = n_groups * sizes.group * ROWS
    for number in range(first, end):
        w, r, out = at + number * tile, row + number * ROWS, number * ROWS
        n_blocks = n_events // BLOCK
        for block in range(n_blocks):
            t = block * BLOCK
            _multiply_block(
                matrix, w, work.narrow, t * stride, stride, n_groups,
                scale, r, work.narrow_scale, t, work.y, t * stride + out, stride,
            )  # fmt: skip
        for t in range(n_blocks * BLOCK, n_events):
            _multiply_one(
                matrix, w, work.narrow, t * stride, 0, n_groups,
                scale, r, work.narrow_scale, t, work.y, t * stride + out, 0,
            )  # fmt: skip
