"""Takes of one visitor that lie on no disk: there is none for them, or it did not take them."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from musicgen.studio.take_folder import FORGIVING_S
from musicgen.studio.take_sheets import TakeSheet
from musicgen.ui.pieces import Piece
from musicgen.ui.recent import MAX_TAKES


@dataclass(frozen=True, slots=True, kw_only=True)
class _Removed:
    sheet: TakeSheet
    piece: Piece
    at_s: float  # in seconds since 1970


class Loose:
    """Their sheets, oldest first. Whoever uses it holds a lock, and the pieces themselves."""

    def __init__(self) -> None:
        self._sheets: OrderedDict[str, TakeSheet] = OrderedDict()
        self._removed: OrderedDict[str, _Removed] = OrderedDict()  # the last one at the end

    def __contains__(self, name: object) -> bool:
        """Say whether a take is one of them."""
        return name in self._sheets

    def __iter__(self) -> Iterator[str]:
        """Return their names."""
        return iter(tuple(self._sheets))

    def __getitem__(self, name: str) -> TakeSheet:
        """Return a take's sheet."""
        return self._sheets[name]

    def sheets(self) -> tuple[TakeSheet, ...]:
        """Return all of them."""
        return tuple(self._sheets.values())

    def put(self, sheet: TakeSheet) -> None:
        """Take a take in."""
        self._sheets[sheet.id] = sheet

    def drop(self, name: str) -> None:
        """Let a take go: it lies on the disk now, or made room."""
        del self._sheets[name]

    def change(self, name: str, **changes: Any) -> None:
        """Change a take's sheet."""
        self._sheets[name] = replace(self._sheets[name], **changes)

    def surplus(self) -> str | None:
        """Return which take is to make room, where they are too many: the oldest without a star."""
        if len(self._sheets) <= MAX_TAKES:
            return None
        plain = (sheet.id for sheet in self._sheets.values() if not sheet.is_starred)
        return next(plain, next(iter(self._sheets)))

    def remove(self, piece: Piece) -> None:
        """Remove a take; for a while it can be had back."""
        sheet = self._sheets.pop(piece.id)
        self._removed[piece.id] = _Removed(sheet=sheet, piece=piece, at_s=time.time())
        while len(self._removed) > MAX_TAKES:
            self._removed.popitem(last=False)

    def removed(self) -> tuple[tuple[float, TakeSheet], ...]:
        """Return those that may come back: when they were removed (since 1970, s), and what."""
        until_s = time.time() - FORGIVING_S
        return tuple((r.at_s, r.sheet) for r in self._removed.values() if r.at_s > until_s)

    def back(self, name: str) -> Piece | None:
        """Have a removed take back, and return its piece; None if it is not there."""
        removed = self._removed.pop(name, None)
        if removed is None:
            return None
        self.put(removed.sheet)
        return removed.piece

    def clear(self) -> None:
        """Let all of them go."""
        self._sheets.clear()
        self._removed.clear()
