"""The takes of one visitor that are in memory: those used last, and those that lie nowhere else."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Container
from dataclasses import replace
from typing import Final

from musicgen.ui.pieces import Piece
from musicgen.ui.shelf import Shelf

MAX_TAKES: Final = 8
_MAX_BYTES: Final = 24 << 20  # a take that goes on from a whole opera is large


class Recent:
    """Pieces in memory, and on the shelf where they can be heard. Whoever uses it holds a lock.

    Args:
        shelf: Where pieces lie that can be heard.
    """

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._pieces: OrderedDict[str, Piece] = OrderedDict()  # that used last at the end

    def __contains__(self, name: object) -> bool:
        """Say whether a piece is in memory."""
        return name in self._pieces

    def __getitem__(self, name: str) -> Piece:
        """Return the piece of that name."""
        return self._pieces[name]

    def get(self, name: str) -> Piece | None:
        """Return the piece of that name, if it is in memory."""
        return self._pieces.get(name)

    def remember(self, piece: Piece, *, bound: Container[str]) -> None:
        """Keep a piece; those used longest ago make room.

        Args:
            piece: The piece.
            bound: Names of those that may not go.
        """
        self._pieces[piece.id] = piece
        self._pieces.move_to_end(piece.id)
        self._shelf.put(piece)
        taken = sum(map(_bytes_of, self._pieces.values()))
        for name in tuple(self._pieces)[:-1]:
            if len(self._pieces) <= MAX_TAKES and taken <= _MAX_BYTES:
                return
            if name not in bound:
                taken -= _bytes_of(self._pieces[name])
                self.forget(name)

    def rename(self, name: str, title: str) -> None:
        """Call a piece by another title, if it is here."""
        if name in self._pieces:
            self._pieces[name] = replace(self._pieces[name], title=title)
            self._shelf.rename(name, title)

    def forget(self, name: str) -> None:
        """Let a piece go, and its sound soon: a page may still ask for what it shows of it."""
        if self._pieces.pop(name, None) is not None:
            self._shelf.leave(name)

    def clear(self) -> None:
        """Let all of them go, and their sound."""
        for name in tuple(self._pieces):
            self._pieces.pop(name)
            self._shelf.drop(name)


def _bytes_of(piece: Piece) -> int:
    """Return about how much memory a piece needs."""
    events = 0 if piece.take is None else piece.take.ids.nbytes
    return 2 * len(piece.midi) + events + 80 * len(piece.preview.notes)
