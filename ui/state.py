"""What belongs to one visitor and outlives a page: their takes and the job under way.

A desk is found by a random cookie, so that a reload finds the takes and a running job again. What a
single page shows (which take, which settings) lies in Streamlit's session state instead.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from musicgen.ui import strings
from musicgen.ui.jobs import Job
from musicgen.ui.pieces import Piece, from_take
from musicgen.ui.shelf import Shelf

if TYPE_CHECKING:
    from musicgen.pipeline import Take

MAX_TAKES = 8
_MAX_DESKS = 64
_KEEP_S = 6 * 3600.0


class Desk:
    """One visitor's takes (at most `MAX_TAKES`), file, last settings, and the job under way."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._lock = threading.Lock()
        self._takes: list[Piece] = []
        self._count = 0
        self.upload: Piece | None = None
        self.prompt: Piece | None = None
        self.job: Job | None = None
        self.settings: dict[str, Any] = {}
        self.touched_s = time.monotonic()

    @property
    def takes(self) -> tuple[Piece, ...]:
        """The takes, oldest first."""
        with self._lock:
            return tuple(self._takes)

    def keep(self, take: Take, name: str | None = None) -> Piece:
        """Keep a take of the pipeline, under the name of its job; the oldest makes room."""
        with self._lock:
            self._count += 1
            title = strings.take_title(self._count)
        piece = self._shelf.put(from_take(take, title=title, name=name))
        with self._lock:
            self._takes.append(piece)
            gone, self._takes = self._takes[:-MAX_TAKES], self._takes[-MAX_TAKES:]
        for old in gone:
            self._shelf.drop(old.id)
        return piece

    def lay(self, upload: Piece | None, prompt: Piece | None = None) -> None:
        """Replace the visitor's file, and the part of it to go on from (all of it without)."""
        if self.prompt is not None:
            self._shelf.drop(self.prompt.id)
        self.upload = upload
        prompt = prompt or upload
        self.prompt = None if prompt is None else self._shelf.put(prompt)

    def find(self, name: str | None) -> Piece | None:
        """Return the take or file of that name, if it lies on this desk."""
        pieces = (*self.takes, *((self.prompt,) if self.prompt else ()))
        return next((piece for piece in pieces if piece.id == name), None)

    def clear(self) -> None:
        """Let everything go."""
        if self.job is not None:
            self.job.stop()
        for piece in self.takes:
            self._shelf.drop(piece.id)
        self.lay(None)


class Desks:
    """All visitors' desks; those left alone for hours make room."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._lock = threading.Lock()
        self._desks: OrderedDict[str, Desk] = OrderedDict()

    def of(self, visitor: str) -> Desk:
        """Return a visitor's desk, a fresh one at their first coming."""
        now = time.monotonic()
        with self._lock:
            desk = self._desks.setdefault(visitor, Desk(self._shelf))
            desk.touched_s = now
            self._desks.move_to_end(visitor)
            stale = [
                name
                for place, (name, other) in enumerate(self._desks.items())
                if now - other.touched_s > _KEEP_S or len(self._desks) - place > _MAX_DESKS
            ]
            gone = [self._desks.pop(name) for name in stale]
        for other in gone:
            other.clear()
        return desk
