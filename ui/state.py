"""What belongs to one visitor and outlives a page: their takes and the jobs under way.

A desk is found by a random cookie, so that a reload finds the takes and a running job again. What a
single page shows (which take, which settings) lies in Streamlit's session state; the desk knows the
last of it, for a page that is opened anew.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from musicgen.errors import MusicgenError
from musicgen.ui import strings
from musicgen.ui.drawer import Drawer
from musicgen.ui.jobs import Job
from musicgen.ui.order import Order
from musicgen.ui.pieces import Piece
from musicgen.ui.shelf import Shelf

if TYPE_CHECKING:
    from musicgen.pipeline import Take
    from musicgen.studio.take_store import TakeStore

_MAX_DESKS = 64
_KEEP_S = 6 * 3600.0


class Desk:
    """One visitor's takes, file, last settings, and the jobs under way.

    Args:
        shelf: Where pieces lie that can be heard.
        drawer: The takes; without one they are there for this page only.

    Attributes:
        settings: What was set on the page that was drawn last.
        shown: Name of what that page showed.
        used_s: How much of the file is used, in seconds; None for all of it.
    """

    def __init__(self, shelf: Shelf, drawer: Drawer | None = None) -> None:
        self._shelf = shelf
        self.drawer = drawer or Drawer(shelf)
        self.upload: Piece | None = None
        self.prompt: Piece | None = None
        self._lock = threading.Lock()
        self._jobs: list[Job] = []
        self.settings: dict[str, Any] = {}
        self.shown: str | None = None
        self.used_s: float | None = None
        self.touched_s = time.monotonic()

    @property
    def takes(self) -> tuple[Piece, ...]:
        """The takes in memory, oldest first."""
        return self.drawer.pieces()

    @property
    def job(self) -> Job | None:
        """The job to be looked at: the first that is not done, else the last that was."""
        jobs = tuple(self._jobs)
        return next((job for job in jobs if job.active), jobs[-1] if jobs else None)

    @property
    def jobs(self) -> tuple[Job, ...]:
        """All jobs since the last `collect`."""
        return tuple(self._jobs)

    @property
    def is_busy(self) -> bool:
        """Whether something is being made for the visitor, or waits for its turn."""
        return any(job.active for job in self.jobs)

    def begin(self, job: Job) -> None:
        """Take note of a job."""
        with self._lock:
            self._jobs.append(job)

    def collect(self) -> tuple[Job, ...]:
        """Return the jobs that are done, each once."""
        with self._lock:
            done = tuple(job for job in self._jobs if not job.active)
            self._jobs = [job for job in self._jobs if job not in done]
        return done

    def keep(self, take: Take, name: str | None, model: str | None, *, order: Order) -> Piece:
        """Keep a take of the pipeline, under the name of its job."""
        return self.drawer.keep(take, order, name=name, model=model)

    def lay(
        self, upload: Piece | None, prompt: Piece | None = None, used_s: float | None = None
    ) -> None:
        """Replace the visitor's file.

        Args:
            upload: All of it.
            prompt: The part of it to go on from; all of it without.
            used_s: How many seconds that part was asked to have.
        """
        if self.prompt is not None:
            self._shelf.leave(self.prompt.id)
        self.upload = upload
        self.used_s = None if prompt is None else used_s
        prompt = prompt or upload
        self.prompt = None if prompt is None else self._shelf.put(prompt)

    def find(self, name: str | None) -> Piece | None:
        """Return the take or file of that name, if it is this visitor's."""
        if self.prompt is not None and self.prompt.id == name:
            return self.prompt
        return self.drawer.find(name)

    def clear(self) -> None:
        """Let everything go that is in memory."""
        for job in self.jobs:
            job.stop()
        self.drawer.let_go()
        self.lay(None)


class Desks:
    """All visitors' desks; those left alone for hours make room, and beyond a number the oldest.

    A desk for which music is being made never makes room: its visitor waits for it.

    Args:
        shelf: Where pieces lie that can be heard.
        store: Where takes are kept; without one they are gone with their desk.
    """

    def __init__(self, shelf: Shelf, store: TakeStore | None = None) -> None:
        self._shelf = shelf
        self._store = store
        self._lock = threading.Lock()
        self._desks: OrderedDict[str, Desk] = OrderedDict()

    def of(self, visitor: str) -> Desk:
        """Return a visitor's desk, a fresh one at their first coming.

        Raises:
            MusicgenError: There is no room for one more: music is being made at every desk.
        """
        now = time.monotonic()
        with self._lock:
            desk = self._desks.get(visitor)
            gone = self._make_room(now, besides=visitor)
            if desk is None:
                if len(self._desks) >= _MAX_DESKS:
                    raise MusicgenError(strings.ALL_DESKS_BUSY, hint=strings.ALL_DESKS_BUSY_HELP)
                desk = self._new(visitor)
            desk.touched_s = now
            self._desks.move_to_end(visitor)
        for other in gone:
            other.clear()
        return desk

    def _make_room(self, now: float, *, besides: str) -> list[Desk]:
        """Take away the desks that were left alone for long, and the oldest beyond the number."""
        idle = [name for name, desk in self._desks.items() if name != besides and not desk.is_busy]
        gone = [name for name in idle if now - self._desks[name].touched_s > _KEEP_S]
        n_over = len({*self._desks, besides}) - len(gone) - _MAX_DESKS
        gone += [name for name in idle if name not in gone][: max(0, n_over)]
        return [self._desks.pop(name) for name in gone]

    def _new(self, visitor: str) -> Desk:
        desk = Desk(self._shelf, Drawer(self._shelf, self._store, visitor))
        self._desks[visitor] = desk
        return desk
