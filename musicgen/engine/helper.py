"""A second thread that helps one take at a time, and that no take ever waits for.

It looks for work for a moment after a call, since the next is about to come, and else sleeps, all
without Python's lock: were it put aside while it held that, the take would wait. While takes are
made in several threads it has no part in them: each of theirs has a core to use. What the two
threads say to each other stands in `board`.

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
from musicgen.engine.bell import Bell
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
        self._board[words.SHARE : words.SHARE + words.N_SHARES] = words.HALF
        self._board[words.PATIENCE] = self._patience()
        self._words = self._board.data  # quicker, number by number
        self._bell = Bell()
        self._board[words.BELL : words.BELL + 2] = self._bell.address, self._bell.wait
        self._turn = threading.RLock()  # a finalizer may come in between, within one thread
        self._thread: threading.Thread | None = None
        self._is_stopped = False
        self._is_humble = False
        self._lent_to = 0
        self._kept: tuple[Any, ...] = ()
        self._last_thread, self._last_s, self._alone_until_s = 0, 0.0, 0.0

    def lend(self, take: int, *, is_read: bool) -> np.ndarray:
        """Return the board for one call of a take, or `NO_BOARD`; `take_back` must follow.

        Args:
            take: Address of the plan of the take: what the helper reads lies there.
            is_read: Whether events are read: then a helper that sleeps is woken for the next call.
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
        is_alone = now_s < self._alone_until_s or self._is_stopped
        if is_alone or not is_free or self._rests(is_read) or not self._is_awake(is_read):
            self._turn.release()
            return NO_BOARD
        if take != self._lent_to:
            self._lent_to, self._kept = take, ()
        return self._board

    def _rests(self, is_read: bool) -> bool:
        """Whether it came in vain lately, and is left in peace for some events."""
        n_alone = self._words[words.N_ALONE]
        if n_alone and is_read:
            self._words[words.N_ALONE] = n_alone - 1
        return n_alone > 0

    def take_back(self) -> None:
        """End what `lend` began, if it gave the board."""
        self._turn.release()

    def let_go(self, take: int, *arrays: Any) -> None:
        """End what is lent to a take that goes; its memory stays until nothing of it is read.

        Args:
            take: Address of its plan.
            arrays: What lies in that memory.
        """
        if self._lent_to == take:
            with self._turn:
                if self._has_left():
                    self._lent_to = 0
                else:  # it is lent to no other until it has
                    self._kept = arrays

    def stop(self) -> None:
        """Have the thread end; takes go on without it. It is not waited for, here either."""
        self._is_stopped = True
        self._words[words.IS_STOPPED] = 1
        self._bell.ring()

    def _has_left(self) -> bool:
        """Whether it has seen that the last call is over, or sleeps."""
        is_seen = self._words[words.DONE] >> words.N_UNITS_BITS == self._words[words.PHASE]
        return is_seen or self._words[words.SLEEP] != words.AWAKE

    def _is_awake(self, is_to_come: bool) -> bool:
        """Whether it looks for work; if not, wake it where it is to come. It is not waited for."""
        if self._thread is None:
            self._words[words.SLEEP] = words.CALLED
            self._begin()
        elif self._words[words.SLEEP] == words.ASLEEP and is_to_come:
            self._words[words.SLEEP] = words.CALLED
            self._bell.ring()
        is_awake = self._words[words.SLEEP] == words.AWAKE
        if is_awake and not self._is_humble:  # from now on it needs no lock of Python's
            self._is_humble = True
            _take_what_is_left(self._thread)
        return is_awake

    def _patience(self) -> int:
        """Return how many looks for work take `PATIENCE_S`."""
        task, took_s = np.zeros(words.N_TASK, dtype=np.int64), []
        for n_looks in (1, *[_TRIAL_LOOKS] * 3):  # the first one compiles
            self._board[words.PATIENCE] = n_looks
            began_s = time.perf_counter()
            compiled.help_along()(self._board, self._weights.matrix, self._work.narrow, task, True)
            took_s.append(time.perf_counter() - began_s)
        return int(PATIENCE_S / min(took_s[1:]) * _TRIAL_LOOKS) + 1

    def _begin(self) -> None:
        # It keeps no hold of this object: an engine that is dropped takes its thread along.
        self._thread = threading.Thread(
            target=_help,
            args=(self._board, self._weights, self._work, self._plan, self._bell),
            name="musicgen-helper",
            daemon=True,
        )
        self._thread.start()


def _help(board: np.ndarray, weights: Weights, work: Any, *_kept: Any) -> None:
    """Run in the thread; what the board names is kept as long as it runs."""
    task = np.zeros(words.N_TASK, dtype=np.int64)
    compiled.help_along()(board, weights.matrix, work.narrow, task, False)


def _take_what_is_left(thread: threading.Thread | None) -> None:
    """Have a thread run only where nobody else wants to, where the system knows of such."""
    if sys.platform == "linux" and thread is not None and thread.native_id is not None:
        with contextlib.suppress(OSError):
            os.sched_setscheduler(thread.native_id, os.SCHED_IDLE, os.sched_param(0))
