"""The queue of jobs and the one thread that does them."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable

from musicgen.errors import MusicgenError
from musicgen.ui import strings
from musicgen.ui.jobs import Job

_log = logging.getLogger(__name__)


class Workshop:
    """A queue of jobs and the one thread that does them.

    The model is shared and does not change, but two cores make two pieces no faster at once than
    one after the other, and each visitor hears something sooner this way.

    Args:
        work: Does one job, and leaves a piece or an error in it.
    """

    def __init__(self, work: Callable[[Job], None]) -> None:
        self._work = work
        self._changed = threading.Condition()
        self._waiting: deque[Job] = deque()
        self._thread: threading.Thread | None = None

    def submit(self, job: Job) -> Job:
        """Put a job at the end of the queue."""
        with self._changed:
            self._waiting.append(job)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="musicgen", daemon=True)
                self._thread.start()
            self._changed.notify()
        return job

    def place(self, job: Job) -> int:
        """Return a job's place in the queue: 0 when it is being done or is done."""
        with self._changed:
            return self._waiting.index(job) + 1 if job in self._waiting else 0

    def withdraw(self, job: Job) -> bool:
        """Take a job back that has not begun."""
        with self._changed:
            if job in self._waiting:
                self._waiting.remove(job)
                return True
            return False

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._waiting:
                    self._changed.wait()
                job = self._waiting.popleft()
            try:
                self._work(job)
            except MusicgenError as error:
                job.fail(error)
            except Exception:  # noqa: BLE001  the one worker must outlive any job; the page says so
                _log.exception("a job failed")
                job.fail(MusicgenError(strings.UNEXPECTED, hint=strings.UNEXPECTED_HINT))
