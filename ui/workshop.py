"""The queue of jobs, and the one thread that makes several of them by turns."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterator
from typing import TYPE_CHECKING, Final

from musicgen.errors import MusicgenError
from musicgen.ui import strings, urgency
from musicgen.ui.jobs import Job

if TYPE_CHECKING:
    from musicgen.pipeline import Take, TakeStream
    from musicgen.pipeline.turns import Turns

_PATIENCE_S: Final = 180.0
"""A browser asks how far a piece has come at least once a minute, behind another tab too. Whoever
has not asked for so long has closed the page."""
_RECENT: Final = 0.3  # weight of the last job's pace in the expected one

_log = logging.getLogger(__name__)


class Workshop:
    """A queue of jobs, and the one thread that makes several of them by turns.

    The model is shared and does not change. What is made by turns costs less than one after the
    other, as its events are read together, and everybody hears something soon. Visitors take turns
    in the queue, however many pieces one of them asks for; what nobody looks at any more is let go.

    Args:
        begin: Gets everything ready for a job, and returns the music in making.
    """

    def __init__(self, begin: Callable[[Job], TakeStream]) -> None:
        self._begin = begin
        self._changed = threading.Condition()
        self._waiting: OrderedDict[Hashable, deque[Job]] = OrderedDict()
        self._playing: list[Job] = []
        self._pace: float | None = None  # seconds of work a second of music
        self._paced_s = 0.0
        self._seen_s: dict[Hashable, float] = {}
        self._thread: threading.Thread | None = None

    def submit(self, job: Job) -> Job:
        """Put a job at the end of its visitor's part of the queue."""
        with self._changed:
            self._waiting.setdefault(job.visitor, deque()).append(job)
            self._seen_s[job.visitor] = time.monotonic()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="musicgen", daemon=True)
                self._thread.start()
            self._changed.notify()
        return job

    def place(self, job: Job) -> int:
        """Return a job's place in the queue: 0 when it is being done or is done."""
        with self._changed:
            return self._before(job) + 1 if self._waits(job) else 0

    def wait_s(self, job: Job) -> float | None:
        """Return how long a job will wait; None where it does not, or nothing is known yet."""
        with self._changed:
            if not self._waits(job) or self._pace is None:
                return None
            before = itertools.islice(self._turns(), self._before(job))
            music_s = sum(each.order.seconds for each in before)
            left_s = [each.left_s for each in self._playing]
            # A place is free when the shortest of those that play has ended, all going on alike.
            return self._pace * (music_s + len(left_s) * min(left_s, default=0.0))

    def glance(self, job: Job) -> None:
        """Take note that somebody looks at a job: its visitor is there."""
        with self._changed:
            if job.visitor in self._seen_s:
                self._seen_s[job.visitor] = time.monotonic()

    def is_left(self, job: Job) -> bool:
        """Say whether the visitor who wanted a job done has gone."""
        with self._changed:
            seen_s = self._seen_s.get(job.visitor)
        return seen_s is not None and time.monotonic() - seen_s > _PATIENCE_S

    def withdraw(self, job: Job) -> bool:
        """Take a job back that has not begun."""
        with self._changed:
            if not self._waits(job):
                return False
            self._take(job)
            return True

    def _waits(self, job: Job) -> bool:
        return job in self._waiting.get(job.visitor, ())

    def _turns(self) -> Iterator[Job]:
        """Yield the waiting jobs in the order in which they will be done."""
        rounds = max(map(len, self._waiting.values()), default=0)
        for turn in range(rounds):
            for jobs in self._waiting.values():
                if turn < len(jobs):
                    yield jobs[turn]

    def _before(self, job: Job) -> int:
        return next(place for place, each in enumerate(self._turns()) if each is job)

    def _take(self, job: Job) -> None:
        jobs = self._waiting[job.visitor]
        jobs.remove(job)
        if not jobs:
            del self._waiting[job.visitor]

    def _run(self) -> None:
        from musicgen.pipeline.turns import Turns

        urgency.give_way(urgency.MAKING)
        turns: Turns[Job] = Turns()
        while True:
            while len(turns) < max(1, turns.room):
                job = self._next(may_wait=not len(turns))
                if job is None:
                    break
                self._start(job, turns)
            self._play(turns)

    def _next(self, *, may_wait: bool) -> Job | None:
        """Return the job whose turn it is; None where there is none and others play."""
        with self._changed:
            while not self._waiting:
                if not may_wait:
                    return None
                self._changed.wait()
            if not self._playing:
                self._paced_s = time.monotonic()
            job = next(self._turns())
            self._take(job)
            if job.visitor in self._waiting:
                self._waiting.move_to_end(job.visitor)
            self._playing.append(job)
            return job

    def _start(self, job: Job, turns: Turns[Job]) -> None:
        if job.stopping or self.is_left(job):
            self._end(job)
            return
        try:
            turns.add(job, self._begin(job))
        except Exception as error:  # noqa: BLE001  whatever broke, the page says so
            self._end(job, error=error)

    def _play(self, turns: Turns[Job]) -> None:
        """Make an event of each, and end what is done, stopped or wanted by nobody any more."""
        from musicgen.pipeline import Take

        for job, made in turns.play():
            if isinstance(made, Take):
                self._end(job, take=made)
            elif isinstance(made, Exception):
                self._end(job, error=made)
            else:
                job.advance(made)
        for job in self._playing.copy():
            if job.stopping or self.is_left(job):
                self._stop(job, turns.drop(job))

    def _stop(self, job: Job, stream: TakeStream) -> None:
        try:
            self._end(job, take=stream.finish())
        except Exception as error:  # noqa: BLE001  whatever broke, the page says so
            self._end(job, error=error)

    def _end(self, job: Job, *, take: Take | None = None, error: Exception | None = None) -> None:
        try:
            if error is None:
                job.finish(take)
        except Exception as failure:  # noqa: BLE001  what was made could not be kept
            error = failure
        if isinstance(error, MusicgenError):
            job.fail(error)
        elif error is not None:
            _log.error("a job failed", exc_info=error)
            job.fail(MusicgenError(strings.UNEXPECTED, hint=strings.UNEXPECTED_HINT))
        with self._changed:
            self._playing.remove(job)
            if job.visitor not in self._waiting and job.visitor not in self._busy():
                self._seen_s.pop(job.visitor, None)
            now_s = time.monotonic()
            if job.piece is not None and not job.stopping:
                pace = (now_s - self._paced_s) / job.order.seconds
                known = pace if self._pace is None else self._pace
                self._pace = known + _RECENT * (pace - known)
            self._paced_s = now_s

    def _busy(self) -> set[Hashable]:
        return {job.visitor for job in self._playing}
