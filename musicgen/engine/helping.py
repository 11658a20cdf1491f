"""What a helper's thread runs: it takes part in phase after phase, and writes into its own room.

This module imports numba: import it only where something is to be computed.
"""
# ruff: noqa: ANN001, ANN201, ANN202  numba takes the types from what is passed in

from __future__ import annotations

from numba import njit

from musicgen.engine.atomics import fence_all, load_relaxed, pause, sleep_at, store_release
from musicgen.engine.attention import attend_head, take_over_heads
from musicgen.engine.board import (
    ASLEEP,
    AT,
    ATTENTION,
    AWAKE,
    BELL,
    DELAY,
    IS_STOPPED,
    LAYER,
    N_GROUPS,
    PLAN,
    POSITION,
    PRODUCT,
    ROOM,
    ROW,
    SLEEP,
    is_over,
    kind_and_units,
    next_phase,
    phase_done,
    read_task,
    tell_done,
)
from musicgen.engine.numerics import EXACT
from musicgen.engine.products import multiply, take_over_product
from musicgen.engine.vectors import array_at

_TILES_AT_ONCE = 2


def help_along(board, matrix, narrow_, task, is_trial):
    """Help until the board says that it is over; where there is nothing to do for long, sleep.

    Args:
        board: The board.
        matrix: `Weights.matrix`.
        narrow_: Of the type of `Work.narrow`.
        task: int64 (N_TASK), room for what is to be done.
        is_trial: Whether to return instead of sleeping.
    """
    room, last = array_at(board, ROOM, board), phase_done(board)
    store_release(board, SLEEP, AWAKE)
    while load_relaxed(board, IS_STOPPED) == 0:
        phase = next_phase(board, last)
        if phase < 0:
            if is_trial:
                return
            store_release(board, SLEEP, ASLEEP)
            sleep_at(board, BELL)
            store_release(board, SLEEP, AWAKE)
            fence_all()
        elif read_task(board, phase, task):
            last = phase
            tell_done(board, phase, 0)
            _help_in(board, room, matrix, narrow_, task, phase)


@njit(**EXACT)
def _help_in(board, room, matrix, narrow_, task, phase):
    plan, n_heads = array_at(task, PLAN, board), room[1]
    kind, n_events, first, end = kind_and_units(task)
    if kind == PRODUCT:
        take_over_product(room, matrix, narrow_, phase, task[N_GROUPS], first, end, n_events)
    elif kind == ATTENTION:
        layer, position = task[LAYER], task[POSITION]
        take_over_heads(plan, room, matrix, narrow_, phase, layer, first, end, n_events, position)
    else:
        return
    unit = first
    while unit < end and not is_over(board, phase):
        if kind == PRODUCT:
            following = min(unit + _TILES_AT_ONCE, end)
            multiply(
                room, matrix, narrow_, task[AT], task[ROW], task[N_GROUPS],
                unit, following, n_events,
            )  # fmt: skip
        else:
            following, position = unit + 1, task[POSITION] + unit // n_heads
            attend_head(plan, room, matrix, narrow_, task[LAYER], unit, position)
        for _ in range(load_relaxed(board, DELAY)):
            pause()
        tell_done(board, phase, following - first)
        unit = following
