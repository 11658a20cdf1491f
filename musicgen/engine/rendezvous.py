"""Threads that want the same computed meet, and one of them computes for all.

Nobody is waited for who may not come: a take that ends, is stopped or stands still costs the
others one short wait, and no thread is needed beside theirs. Who meets whom is a matter of time, so
it must not change what is computed; see `static_steps`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

WishT = TypeVar("WishT")
AnswerT = TypeVar("AnswerT")

PATIENCE_S = 0.005
"""How long to wait for those that came last time: longer than a take's rules and draws last."""

FORGIVEN_AFTER_CALLS = 64
"""So long nobody waits for one that did not come: two takes may be read by turns in one thread."""


class Rendezvous(Generic[WishT, AnswerT]):
    """Where the takes of one batch ask, each in its own thread, and wait for the answer."""

    def __init__(self, serve: Callable[[int, Mapping[int, WishT]], Mapping[int, AnswerT]]) -> None:
        """Take what computes.

        Args:
            serve: Answers the wishes of several takes for one stage. It is called by one thread at
                a time, and may be asked the same once more after it has raised.
        """
        self._serve = serve
        self._changed = threading.Condition()
        self._waiting: dict[int, tuple[int, WishT]] = {}
        self._answers: dict[int, AnswerT] = {}
        self._expected: set[int] = set()  # who waited when it was last computed, and is reliable
        self._n_calls = 0
        self._forgiven_at: dict[int, int] = {}  # by take that did not come, a number of calls

    def ask(self, take: int, stage: int, wish: WishT) -> AnswerT:
        """Return the answer to a wish, once others who come have come.

        Args:
            take: Who asks; the same take asks in one thread at a time.
            stage: What it asks for. The lowest stage is served first, so that takes which have
                come apart are together again at the highest.
            wish: What `serve` needs to know.

        Raises:
            Exception: What `serve` raised for this take's thread; the others ask for themselves.
        """
        with self._changed:
            self._waiting[take] = (stage, wish)
            try:
                is_late = False
                while take in self._waiting:
                    missing = self._expected - self._waiting.keys()
                    if is_late or not missing:
                        forgiven_at = self._n_calls + FORGIVEN_AFTER_CALLS
                        self._forgiven_at.update(dict.fromkeys(missing, forgiven_at))
                        self._serve_lowest()
                        is_late = False
                    else:
                        is_late = not self._changed.wait(PATIENCE_S)
                return self._answers[take]
            finally:
                self._waiting.pop(take, None)
                self._answers.pop(take, None)

    def _serve_lowest(self) -> None:
        """Compute for those that are furthest behind, and wake them."""
        lowest = min(stage for stage, _ in self._waiting.values())
        wishes = {take: wish for take, (stage, wish) in self._waiting.items() if stage == lowest}
        self._n_calls += 1
        self._expected = {
            take for take in self._waiting if self._forgiven_at.get(take, 0) <= self._n_calls
        }
        self._answers.update(self._serve(lowest, wishes))
        for take in wishes:
            del self._waiting[take]
        self._changed.notify_all()
