"""The board on which a take's thread says what is to be done, and its helper what is done.

What is to be done has *units*: tiles of a matrix, or heads. The take's own thread computes them
from the first on, the helper those from the middle to the end, each in its own room. The helper
tells how many are done, and the take's thread makes what is not done by then itself, from the end
on, until it meets what is done. So it never waits for the helper, but a moment for a last unit that
is nearly ready; and a helper that the system has put aside costs nothing.

Each call on the helper is a *phase* with a number of its own. What is told of another phase is
passed over: whatever a late helper computes, it has written into its own room.

This module imports numba: import it only where something is to be computed.
"""
# ruff: noqa: ANN001, ANN201  numba takes the types from what is passed in

from __future__ import annotations

import numpy as np
from numba import njit

from musicgen.engine.atomics import (
    fence_acquire,
    fence_release,
    load_acquire,
    load_relaxed,
    pause,
    store_relaxed,
    store_release,
)
from musicgen.engine.numerics import EXACT

# Where what stands (int64). What one thread writes shares no line of the cache with what another
# does; a task is one line, since each line takes a while from core to core.
PHASE, TASK, N_TASK = 0, 1, 6
DONE, SLEEP = 16, 32
ROOM, BELL, PATIENCE, IS_STOPPED, DELAY = 48, 50, 52, 53, 54
SHARE, N_SHARES, N_ALONE, N_IN_VAIN = 64, 8, 72, 73
N_WORDS = 80
"""Words of a board.

    PHASE       number of the phase, odd while its task is being written
    TASK        N_TASK words: what is to be done, see below
    DONE        phase · 2^16 + how many units of it are done
    SLEEP       AWAKE, ASLEEP, or CALLED: the bell was rung, but it has not come yet
    ROOM        address and size of the helper's own plan
    BELL        address of the bell at which it sleeps, and of the function that does
    PATIENCE    how often the helper looks for a new phase before it falls asleep
    IS_STOPPED  1 when it is to end
    DELAY       how long it dawdles at each unit: for tests
    SHARE       N_SHARES words: by place in a layer or a head, the helper's part of 1,024
    N_ALONE     how many events more are read without help
    N_IN_VAIN   how many phases in a row it asked for help and none came
"""

PLAN, UNITS = 0, 2
AT, ROW, N_GROUPS = 3, 4, 5
LAYER, POSITION = 3, 4
"""Words of a task: address and size of the take's plan, and kind, events, first unit and end in
one word; of a product also where matrix and scales begin, and groups of columns; of attention the
layer, and the position of the first event."""

AWAKE, ASLEEP, CALLED = 0, 1, 2
"""How it is with the helper's sleep."""

NOTHING, PRODUCT, ATTENTION = 0, 1, 2
"""Kinds of a task."""

N_UNITS_BITS = 16
MOST_UNITS = (1 << N_UNITS_BITS) - 1

NO_BOARD = np.zeros(0, dtype=np.int64)
"""The board of one who has no helper."""


HALF, LEAST_SHARE, _MORE = 512, 128, 16
"""Shares of 1,024: half of the units, the least that is tried, and what is added at a time."""

_TRIES, _MOST_ALONE = 32, 20
"""After so many phases in vain the next event is read alone; after more of them more events, but
never more than so many in a row."""


@njit(**EXACT)
def is_to_be_asked(board):
    """Whether to ask for help in this phase: there is a helper, and it came lately."""
    return board.size > 0 and board[N_ALONE] == 0


@njit(**EXACT)
def own_units(board, n_units, slot):
    """Return how many units the take's thread begins with: the rest is the helper's."""
    share = board[SHARE + slot]
    return n_units - max(1, n_units * share // (2 * HALF))


@njit(**EXACT)
def learn(board, n_units, slot, n_missing, has_come):
    """Have the helper's share fit: a little more if all was done in time, less if not.

    Args:
        board: The board.
        n_units: Units of the phase.
        slot: Whose share.
        n_missing: Units of the helper's that were not done when those of the take were.
        has_come: Whether the helper has begun with this phase.
    """
    share = board[SHARE + slot]
    if n_missing == 0:
        board[SHARE + slot] = min(HALF, share + _MORE)
    elif has_come:
        board[SHARE + slot] = max(LEAST_SHARE, share - HALF * n_missing // n_units)
    if has_come:
        board[N_IN_VAIN] = 0
    else:
        board[N_IN_VAIN] += 1
        if board[N_IN_VAIN] % _TRIES == 0:
            board[N_ALONE] = min(_MOST_ALONE, board[N_IN_VAIN] // _TRIES)


@njit(**EXACT)
def next_number(board):
    """Return what number `announce` will give to a phase."""
    return load_relaxed(board, PHASE) + 2


@njit(**EXACT)
def announce(board, kind, plan, first, end, n_events, a, b, c):
    """Begin a phase, and return its number."""
    phase = next_number(board)
    store_relaxed(board, PHASE, phase - 1)
    fence_release()
    store_relaxed(board, TASK + PLAN, plan.ctypes.data)
    store_relaxed(board, TASK + PLAN + 1, plan.size)
    units = (n_events << 2 * N_UNITS_BITS | first << N_UNITS_BITS | end) << 2 | kind
    store_relaxed(board, TASK + UNITS, units)
    store_relaxed(board, TASK + AT, a)
    store_relaxed(board, TASK + ROW, b)
    store_relaxed(board, TASK + N_GROUPS, c)
    store_release(board, PHASE, phase)
    return phase


@njit(**EXACT)
def end_phase(board):
    """Say that there is nothing to do any more."""
    store_relaxed(board, PHASE, load_relaxed(board, PHASE) + 1)
    fence_release()
    store_relaxed(board, TASK + UNITS, NOTHING)
    store_release(board, PHASE, load_relaxed(board, PHASE) + 1)


@njit(**EXACT)
def n_done(board, phase):
    """Return how many units of a phase are done."""
    done = load_acquire(board, DONE)
    return done & MOST_UNITS if done >> N_UNITS_BITS == phase else 0


@njit(**EXACT)
def has_come(board, phase):
    """Whether the helper has begun with a phase."""
    return load_relaxed(board, DONE) >> N_UNITS_BITS == phase


@njit(**EXACT)
def phase_done(board):
    """Return the phase that the helper was last in."""
    return load_relaxed(board, DONE) >> N_UNITS_BITS


@njit(**EXACT)
def n_done_soon(board, phase, n_wanted, patience):
    """The same, when they are `n_wanted`, or after a moment."""
    done = n_done(board, phase)
    while done < n_wanted and patience > 0:
        pause()
        patience -= 1
        done = n_done(board, phase)
    return done


@njit(**EXACT)
def tell_done(board, phase, n_units):
    """Say how many units of a phase are done: what they are is to be seen from now on."""
    store_release(board, DONE, (phase << N_UNITS_BITS) + n_units)


@njit(**EXACT)
def is_over(board, phase):
    """Whether another phase has begun."""
    return load_relaxed(board, PHASE) != phase


@njit(**EXACT)
def read_task(board, phase, task):
    """Copy the task of a phase; return False if it was written over meanwhile."""
    for i in range(N_TASK):
        task[i] = load_relaxed(board, TASK + i)
    fence_acquire()
    return load_relaxed(board, PHASE) == phase


@njit(**EXACT)
def kind_and_units(task):
    """Return kind, events, first unit and end of a task."""
    units = task[UNITS] >> 2
    first, n_events = units >> N_UNITS_BITS & MOST_UNITS, units >> 2 * N_UNITS_BITS
    return task[UNITS] & 3, n_events, first, units & MOST_UNITS


@njit(**EXACT)
def next_phase(board, last):
    """Wait for another phase than the last one, and return it; −1 if there is none for long."""
    patience = load_relaxed(board, PATIENCE)
    for _ in range(patience):
        phase = load_acquire(board, PHASE)
        if phase != last and phase & 1 == 0:
            return phase
        if load_relaxed(board, IS_STOPPED):
            return -1
        pause()
    return -1
