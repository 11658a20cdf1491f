"""How much of a take that is being made can no longer be taken back.

The stream steps back before loops, and over the last part when it tries another ending. Whoever
plays the music while it is made must not play what may still go. Where a step back can lead is
known: to the beginning of a run of one key's strokes, or of a passage that comes again
(`LoopWatch`), that is alive at that moment; from there it can lead further back, to what was alive
then, but not more often than a take may step back at all. What lies before all of that stays.
"""

from __future__ import annotations

import math

from musicgen.generation.endings import ANOTHER, tail_from_s
from musicgen.generation.events import EventMade, Finished, SteppedBack, StreamEvent
from musicgen.generation.guards import LoopWatch
from musicgen.generation.length import LengthPlan
from musicgen.generation.stream import STEPS_BACK, STEPS_BACK_A_SECOND

_TINY_S = 1e-6


class SettledEvents:
    """Follows a stream whose events are notes, and tells which new events will stay."""

    def __init__(self, plan: LengthPlan) -> None:
        """Begin before the first new event of a take of that length."""
        self._most_steps_back = STEPS_BACK + int(STEPS_BACK_A_SECOND * plan.wanted_s)
        self._start_s = plan.start_s
        self._tail_from_s = tail_from_s(plan) if plan.seeks_ending else math.inf
        self._watch = LoopWatch()
        self._watches = [(0, self._watch.copy())]  # after so many events: what to go back to
        self._made: list[EventMade] = []
        self._runs: list[frozenset[int]] = [frozenset()]  # that were alive after so many events
        self._n_waited = 0  # rests up to the cut, of which the watch does not hear
        self._fork: int | None = None  # how many events there are before the last part
        self._n_settled = 0

    def take(self, step: StreamEvent) -> None:
        """Take in what the stream yielded."""
        if isinstance(step, EventMade):
            if self._fork is None and step.played.onset_s >= self._tail_from_s:
                self._fork = len(self._made)
            self._made.append(step)
            if step.played.pitch is None and step.played.onset_s < self._start_s - _TINY_S:
                self._n_waited = len(self._made)
                self._runs.append(frozenset())
                return
            self._watch.push(step.event, step.played.pitch)
            self._runs.append(frozenset(self._n_waited + begin for begin in self._watch.runs()))
        elif isinstance(step, SteppedBack):
            del self._made[step.index :], self._runs[step.index + 1 :]
            self._n_waited = min(self._n_waited, step.index)
            self._step_back_watch(step.index)
            if step.why == ANOTHER and self._fork is None:
                self._fork = step.index  # nothing was left to make, and yet there are others
            elif self._fork is not None and step.index < self._fork:
                self._fork = None
        elif isinstance(step, Finished):
            self._n_settled = len(self._made)

    def _step_back_watch(self, index: int) -> None:
        while self._watches[-1][0] > index:
            self._watches.pop()
        begin, watch = self._watches[-1]
        self._watch = watch.copy()
        for made in self._made[max(begin, self._n_waited) :]:
            self._watch.push(made.event, made.played.pitch)
        if begin < index:
            self._watches.append((index, self._watch.copy()))

    def count(self) -> int:
        """Return how many of the first new events will stay whatever comes; it never falls."""
        # All last parts go on from one place, and so does what could be taken back from there.
        lowest = len(self._made) if self._fork is None else self._fork
        reached = fresh = {lowest}
        for _ in range(self._most_steps_back):
            fresh = {begin for length in fresh for begin in self._runs[length]} - reached
            if not fresh or lowest <= self._n_settled:
                break
            lowest = min(lowest, *fresh)
            reached = reached | fresh
        self._n_settled = max(self._n_settled, lowest)
        return self._n_settled

    @property
    def tries_endings(self) -> bool:
        """Whether the last part has begun, which is made several times."""
        return self._fork is not None
