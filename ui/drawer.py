"""One visitor's takes: all of them on the disk, the last few in memory too.

Without a folder on the disk (no cookie, so nobody can come back for them) or where the disk takes
nothing, takes stay in memory alone, and the oldest without a star make room.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from musicgen.errors import MusicgenError, TakesError
from musicgen.studio.restoring import sheet_of
from musicgen.studio.take_bundle import bundle
from musicgen.studio.take_sheets import LONGEST_TITLE, MOST_VOTES, TakeSheet, Vote
from musicgen.studio.take_store import FULL
from musicgen.ui import strings
from musicgen.ui.loose import Loose
from musicgen.ui.markup import one_line
from musicgen.ui.pieces import Piece, from_stored, from_take, new_id
from musicgen.ui.recent import Recent
from musicgen.ui.shelf import Shelf

if TYPE_CHECKING:
    from musicgen.pipeline import Take
    from musicgen.studio.take_folder import TakeFolder
    from musicgen.studio.take_store import TakeStore
    from musicgen.ui.order import Order

_RETRY_S: Final = 5.0  # between two tries to put on the disk what it did not take before


class Drawer:
    """One visitor's takes; safe to use from many threads.

    Args:
        shelf: Where pieces lie that can be heard.
        store: Where takes are kept; None for in memory alone.
        visitor: Their secret name.

    Attributes:
        trouble: What went wrong with the disk at last, until it is well again.
    """

    def __init__(
        self, shelf: Shelf, store: TakeStore | None = None, visitor: str | None = None
    ) -> None:
        self._store = store
        self._folder: TakeFolder | None = None
        if store is not None and visitor is not None:
            self._folder = store.of(visitor)
        self._lock = threading.RLock()
        self._pieces = Recent(shelf)
        self._loose = Loose()
        self._count = 0
        self._tried_s = 0.0  # when the disk was asked at last to take what is loose
        self.trouble: MusicgenError | None = None

    @property
    def is_lasting(self) -> bool:
        """Whether takes are found again by a visitor who comes back."""
        return self._folder is not None

    def sheets(self) -> tuple[TakeSheet, ...]:
        """Return what is known of each take, oldest first."""
        with self._lock:
            loose = self._loose.sheets()
        stored = () if self._folder is None else self._folder.sheets()
        return tuple(sorted((*stored, *loose), key=lambda sheet: (sheet.made_s, sheet.id)))

    def pieces(self) -> tuple[Piece, ...]:
        """Return the takes in memory, oldest first."""
        with self._lock:
            return tuple(
                self._pieces[sheet.id] for sheet in self.sheets() if sheet.id in self._pieces
            )

    def bytes(self) -> int:
        """Return how much the takes need on the disk."""
        return 0 if self._folder is None else sum(self._folder.sizes().values())

    def n_damaged(self) -> int:
        """Return how many takes on the disk cannot be read."""
        return 0 if self._folder is None else self._folder.n_damaged()

    def keep(
        self, take: Take, order: Order, *, name: str | None = None, model: str | None = None
    ) -> Piece:
        """Keep a take that was just made, whatever the disk says.

        Args:
            take: What was made.
            order: What was asked for.
            name: Its unguessable name, if it has one already.
            model: Folder of the model that made it; None for the studio's own.
        """
        with self._lock:
            numbers = (sheet.number for sheet in self.sheets())
            self._count = 1 + max(self._count, max(numbers, default=0))
            title = strings.take_title(self._count)
            piece = from_take(take, title=title, name=name or new_id(), model=model)
            sheet = sheet_of(
                take,
                piece.preview,
                name=piece.id,
                title=title,
                number=self._count,
                made_s=time.time(),
                settings=order.settings(),
                origin=order.origin(),
            )
            self._loose.put(sheet)
            self._remember(piece)
            self._store_away()
        return piece

    def settle(self) -> None:
        """Put on the disk what it did not take before; it may have room again."""
        with self._lock:
            is_time = time.monotonic() - self._tried_s > _RETRY_S
            if self._loose.sheets() and self._folder is not None and is_time:
                self._store_away()

    def find(self, name: str | None) -> Piece | None:
        """Return the take of that name, read from the disk if it is not in memory."""
        if not name:
            return None
        with self._lock:
            piece = self._pieces.get(name)
            if piece is None and self._folder is not None and name in self._names():
                try:
                    piece = from_stored(self._folder.read(name))
                except MusicgenError as error:
                    self.trouble = error
            if piece is not None and (name in self._loose or name in self._names()):
                self._remember(piece)
                return piece
        return None

    def beginning(self, name: str | None) -> str | None:
        """Return what the take is called that a take's music began with; None if it was a file."""
        sheets = {sheet.id: sheet for sheet in self.sheets()}
        for _ in range(len(sheets)):
            sheet = sheets.get(name or "")
            if sheet is None:
                return strings.ROLL["promptTake"]  # it is not there any more
            if sheet.origin is None or sheet.origin.take is None:
                return sheet.title if sheet.origin is None else None
            name = sheet.origin.take
        return None

    def holding(self, sha256: str) -> Piece | None:
        """Return the newest take whose file has that SHA-256, if there is one."""
        with self._lock:
            loose = {
                name: hashlib.sha256(self._pieces[name].midi).hexdigest() for name in self._loose
            }
        for sheet in reversed(self.sheets()):
            if sha256 in (sheet.midi_sha256, loose.get(sheet.id)):
                return self.find(sheet.id)
        return None

    def rename(self, name: str, title: str) -> None:
        """Call a take by another title; an empty one changes nothing."""
        title = one_line(title, longest=LONGEST_TITLE)
        if not title:
            return
        with self._lock:
            self._change(name, title=title)
            self._pieces.rename(name, title)

    def star(self, name: str, is_starred: bool) -> None:
        """Give a take a star, or take it away."""
        with self._lock:
            self._change(name, is_starred=is_starred)

    def vote(self, one: str, other: str, better: str | None) -> None:
        """Keep which of two takes was the better one to hear; None for neither."""
        now_s = time.time()
        with self._lock:
            known = {sheet.id: sheet for sheet in self.sheets()}
            if one == other or not {one, other} <= known.keys() or better not in (None, one, other):
                return
            for mine, theirs in ((one, other), (other, one)):
                verdict = "same" if better is None else "better" if better == mine else "worse"
                vote = Vote(other=theirs, verdict=verdict, at_s=now_s)
                self._change(mine, votes=(*known[mine].votes, vote)[-MOST_VOTES:])

    def remove(self, name: str) -> bool:
        """Remove a take, and say whether it was there; for a while it can be had back."""
        with self._lock:
            if name in self._loose:
                self._loose.remove(self._pieces[name])
            elif self._folder is None or not self._tried(self._folder.remove, name):
                return False
            self._pieces.forget(name)
        return True

    def removed(self) -> tuple[TakeSheet, ...]:
        """Return the takes that were removed and can still be had back, the last one first."""
        with self._lock:
            loose = self._loose.removed()
        stored = () if self._folder is None else self._folder.removed()
        return tuple(sheet for _, sheet in sorted((*loose, *stored), key=lambda each: -each[0]))

    def undo(self, name: str) -> bool:
        """Have a removed take back, and say whether that was possible."""
        with self._lock:
            piece = self._loose.back(name)
            if piece is not None:
                self._remember(piece)
                return True
            if any(sheet.id == name for sheet in self.sheets()):
                return True  # another tab was quicker
            return self._folder is not None and self._tried(self._folder.restore, name)

    def take_home(self) -> bytes:
        """Return everything as one zip; a take that cannot be read is left out."""
        return bundle(self._readable())

    def let_go(self) -> None:
        """Let go of what is in memory."""
        with self._lock:
            self._pieces.clear()
            self._loose.clear()

    def _readable(self) -> Iterator[tuple[TakeSheet, bytes]]:
        for sheet in self.sheets():
            with self._lock:
                piece = self._pieces.get(sheet.id)
            if piece is not None:
                yield sheet, piece.midi
            elif self._folder is not None:
                try:
                    yield sheet, self._folder.read(sheet.id).midi
                except TakesError as error:
                    self.trouble = error

    def _names(self) -> set[str]:
        return set() if self._folder is None else {sheet.id for sheet in self._folder.sheets()}

    def _store_away(self) -> None:
        """Put on the disk what is not there; what it does not take stays in memory alone."""
        self._tried_s = time.monotonic()
        if self._store is not None and self._folder is not None:
            for name in reversed(tuple(self._loose)):
                take = self._pieces[name].take
                try:
                    if take is not None:
                        self._store.keep(self._folder, self._loose[name], take.midi, take.ids)
                except TakesError as error:
                    self.trouble = error
                    if error.code != FULL:  # of that, a smaller one may find room
                        break
                else:
                    self._loose.drop(name)
            if not self._loose.sheets():
                self.trouble = None
        gone = self._loose.surplus()
        if gone is not None:
            self._loose.drop(gone)
            self._pieces.forget(gone)

    def _remember(self, piece: Piece) -> None:
        self._pieces.remember(piece, bound=self._loose)

    def _change(self, name: str, **changes: Any) -> None:
        if name in self._loose:
            self._loose.change(name, **changes)
        elif self._folder is not None:
            self._tried(self._folder.change, name, **changes)

    def _tried(self, act: Any, *given: Any, **changes: Any) -> bool:
        """Ask the disk for something, and say whether it was done."""
        try:
            act(*given, **changes)
        except TakesError as error:
            self.trouble = error
            return False
        self.trouble = None
        return True
