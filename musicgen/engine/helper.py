"""A second thread that helps one take at a time, and that no take ever waits for.

It looks for work for a moment after a call, since the next is about to come, and else sleeps. It
holds Python's lock only to fall asleep and to wake. While takes are made in several threads it has
no part in them: each of theirs has a core to use. What the two threads say to each other stands in
`board`.

This module imports numba: import it only where something is to be computed.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from typing import Any

import numpy as np

from musicgen.engine import board as words
from musicgen.engine import compiled
from musicgen.engine.board import NO_BOARD
from musicgen.engine.layout import Cache, Sizes, Weights, aligned, make_plan
from musicgen.engine.packing import empty_work

PATIENCE_S = 100e-6
"""How long it looks for more to do before it falls asleep: longer than what Python does between two
calls of a take."""

ALONE_S = 0.02
"""So long after two threads were seen at once, takes are made without a helper."""

_TRIAL_LOOKS = 2_000


class Helper:
    """A thread, begun when it is first asked for, that computes a part of what one take asks."""

    def __init__(self, sizes: Sizes, weights: Weights) -> None:
        """Set its own room aside; compile, or load what was compiled before.

        Args:
            sizes: The engine's.
            weights: The engine's.
        """
        self._weights, self._work = weights, empty_work(sizes, is_helpers=True)
        nothing = np.zeros(1, dtype=np.float32)
        self._plan = make_plan(sizes, weights, Cache(*[nothing] * 4), self._work)
        self._board = aligned(words.N_WORDS, np.int64)
        self._board[words.ROOM : words.ROOM + 2] = self._plan.ctypes.data, self._plan.size
        self._board[words.SHARE :] = words.HALF
        self._board[words.PATIENCE] = self._patience()
        self._bell = threading.Lock()
        self._bell.acquire()
        self._turn = threading.RLock()  # a finalizer may come in between, within one thread
        self._thread: threading.Thread | None = None
        self._is_stopped = False
        self._lent_to = 0
        self._last_thread, self._last_s, self._alone_until_s = 0, 0.0, 0.0

    def lend(self, take: int, *, wake: bool) -> np.ndarray:
        """Return the board for one call of a take, or `NO_BOARD`; `take_back` must follow.

        Args:
            take: Address of the plan of the take: what the helper reads lies there.
            wake: Whether the call is long enough to wake it for.
        """
        me, now_s = threading.get_ident(), time.perf_counter()
        if not self._turn.acquire(blocking=False):
            self._alone_until_s = now_s + ALONE_S
            return NO_BOARD
        if me != self._last_thread:
            if now_s < self._last_s + ALONE_S:
                self._alone_until_s = now_s + ALONE_S
            self._last_thread = me
        self._last_s = now_s
        is_free = take == self._lent_to or self._has_left()
        if now_s < self._alone_until_s or self._is_stopped or not is_free:
            self._turn.release()
            return NO_BOARD
        self._lent_to = take
        if self._thread is None:
            self._begin()
        elif wake:
            self._wake()
        return self._board

    def take_back(self) -> None:
        """End what `lend` began, if it gave the board."""
        self._turn.release()

    def let_go(self, take: int, *_arrays: Any) -> None:
        """Return when nothing of a take is read any more: before it goes, its memory must stay.

        Args:
            take: Address of its plan.
            _arrays: What lies in that memory, which is kept as long as this is not called.
        """
        if self._lent_to != take or threading.current_thread() is self._thread:
            return
        with self._turn:
            while not self._has_left() and self._is_alive():
                time.sleep(PATIENCE_S)
            self._lent_to = 0

    def stop(self) -> None:
        """End the thread; takes go on without it."""
        self._is_stopped = True
        self._board[words.IS_STOPPED] = 1
        while self._is_alive() and threading.current_thread() is not self._thread:
            self._wake()
            if self._thread is not None:
                self._thread.join(0.05)

    def _has_left(self) -> bool:
        """Whether it has seen that the last call is over, or sleeps."""
        board = self._board
        is_seen = board[words.DONE] >> words.N_UNITS_BITS == board[words.PHASE]
        return bool(is_seen or board[words.ASLEEP])

    def _is_alive(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _wake(self) -> None:
        with self._turn:
            if self._board[words.ASLEEP]:
                self._board[words.ASLEEP] = 0
                self._bell.release()

    def _patience(self) -> int:
        """Return how many looks for work take `PATIENCE_S`."""
        task, took_s = np.zeros(words.N_TASK, dtype=np.int64), []
        for n_looks in (1, *[_TRIAL_LOOKS] * 3):  # the first one compiles
            self._board[words.PATIENCE] = n_looks
            began_s = time.perf_counter()
            compiled.help_along()(self._board, self._weights.matrix, self._work.narrow, task)
            took_s.append(time.perf_counter() - began_s)
        return int(PATIENCE_S / min(took_s[1:]) * _TRIAL_LOOKS) + 1

    def _begin(self) -> None:
        # It keeps no hold of this object: an engine that is dropped takes its thread along.
        self._thread = threading.Thread(
            target=_help,
            args=(self._board, self._bell, self._weights, self._work, self._plan),
            name="musicgen-helper",
            daemon=True,
        )
        self._thread.start()


def _help(
    board: np.ndarray, bell: threading.Lock, weights: Weights, work: Any, plan: np.ndarray
) -> None:
    """Run in the thread; `plan` is what the board names, and is kept as long as it runs."""
    if sys.platform == "linux":  # it takes what nobody else wants of a core: not the take's, either
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    help_along, task = compiled.help_along(), np.zeros(words.N_TASK, dtype=np.int64)
    while True:
        help_along(board, weights.matrix, work.narrow, task)
        board[words.ASLEEP] = 1
        if board[words.IS_STOPPED]:
            return
        bell.acquire()
