"""Attention for many visitors: one thread reads it, less urgent than pages and music.

The maps of all heads are shown below every piece unasked. Read as the requests came, by as many
threads, they made single pages of twenty visitors wait for two seconds.
"""

from __future__ import annotations

import itertools
import queue
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final, TypeVar

from musicgen.errors import TakesError
from musicgen.ui import take_strings, urgency
from musicgen.ui.gaze import Gaze
from musicgen.ui.gaze_pages import Pages

if TYPE_CHECKING:
    from musicgen.midi import MidiDocument
    from musicgen.pipeline import MusicPipeline, Take
    from musicgen.ui.pieces import Piece

ResultT = TypeVar("ResultT")

_KEPT_BYTES: Final = 1 << 25  # of the last pieces' attention: 25 MB each of 512 events
_KEPT_PAGES: Final = 64  # and of so many pieces what their parts are


class Why(IntEnum):
    """What attention is wanted for; the first comes first."""

    PRESSED = 0
    """Somebody pressed a key, and waits."""
    FILE = 1
    """To be taken home: that takes seconds, and is expected to."""
    UNASKED = 2
    """A page shows it by itself."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class _Wish:
    why: Why
    number: int
    future: Future[Any] = field(compare=False)
    work: Callable[[], Any] = field(compare=False)


class Looking:
    """Reads the attention of pieces in a thread of its own; the last ones stay in memory.

    Args:
        pipeline: Returns the model of a name, None for the studio's own.
    """

    def __init__(self, pipeline: Callable[[str | None], MusicPipeline]) -> None:
        self._pipeline = pipeline
        self._gazes: OrderedDict[tuple[str, int], Gaze] = OrderedDict()
        self._pages: OrderedDict[str, Pages] = OrderedDict()
        self._wishes: queue.PriorityQueue[_Wish] = queue.PriorityQueue()
        self._numbers = itertools.count()
        self._beginning = threading.Lock()
        self._thread: threading.Thread | None = None

    def ask(self, work: Callable[[], ResultT], *, why: Why = Why.PRESSED) -> Future[ResultT]:
        """Have something done in the thread that reads attention.

        Args:
            work: May call `gaze`; what it raises, the future does.
            why: What is less urgent waits.
        """
        future: Future[ResultT] = Future()
        number = next(self._numbers)
        self._wishes.put(_Wish(why=why, number=number, future=future, work=work))
        with self._beginning:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="musicgen-looking", daemon=True
                )
                self._thread.start()
        return future

    def gaze(self, piece: Piece, page: int = 0) -> Gaze:
        """Return a piece's attention, or of a page of a long one. Only for work that was asked for.

        Raises:
            MusicgenError: The model cannot be loaded, or cannot read the piece.
        """
        end = self._pages_of(piece).page_end(page) if page else None
        until_s = 0.0 if end is None else float(piece.preview.notes.onset_s[end])
        key = (piece.id, page if until_s else 0)  # a piece may be all in its first instant
        found = self._gazes.get(key)
        if found is None:
            pipeline = self._pipeline(piece.model)
            found = Gaze.of(pipeline.attention(_seen(piece, pipeline), until_s or None), piece)
            self._gazes[key] = found
            while len(self._gazes) > 1 and self._kept_bytes() > _KEPT_BYTES:
                self._gazes.popitem(last=False)
        self._gazes.move_to_end(key)
        return found

    def look(self, piece: Piece, note: int) -> bytes | None:
        """Return all attention from and to a note, as `Gaze.look` packs it; None if unseen.

        Only for work that was asked for.

        Raises:
            MusicgenError: The model cannot be loaded, or cannot read the piece.
        """
        page = self._pages_of(piece).page_of(note)
        return self.gaze(piece, page).look(note, page)

    def _pages_of(self, piece: Piece) -> Pages:
        """Return a piece's parts, kept apart from its attention, which is large."""
        found = self._pages.get(piece.id)
        if found is None:
            found = self._pages[piece.id] = self.gaze(piece).pages
            while len(self._pages) > _KEPT_PAGES:
                self._pages.popitem(last=False)
        self._pages.move_to_end(piece.id)
        return found

    def _kept_bytes(self) -> int:
        return sum(gaze.weights.nbytes for gaze in self._gazes.values())

    def _run(self) -> None:
        urgency.give_way(urgency.LOOKING)
        while True:
            _do(self._wishes.get())


def _do(wish: _Wish) -> None:
    if not wish.future.set_running_or_notify_cancel():
        return  # who asked has gone
    try:
        result = wish.work()
    except BaseException as error:  # noqa: BLE001  it concerns who asked, not this thread
        wish.future.set_exception(error)
    else:
        wish.future.set_result(result)


def _seen(piece: Piece, pipeline: MusicPipeline) -> MidiDocument | Take:
    """Return what a model is to be shown of a piece.

    Raises:
        TakesError: It is a take, and the model that made it is another one or its events are lost.
    """
    take = piece.take
    if take is None:
        return piece.document()
    if take.model_sha256 != pipeline.sha256:
        raise TakesError(take_strings.OTHER_MODEL, hint=take_strings.OTHER_MODEL_HELP)
    if not len(take.ids):
        raise TakesError(take_strings.EVENTS_LOST, hint=take_strings.OTHER_MODEL_HELP)
    return take
