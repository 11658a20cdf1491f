"""Quality cards of the pieces that are looked at: each measured once, when it is asked for."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from musicgen.ui.pieces import Piece

if TYPE_CHECKING:
    from musicgen.pipeline import MusicPipeline
    from musicgen.pipeline.quality import QualityCard

_KEPT: Final = 400  # a card is a few kilobytes


class Cards:
    """Cards by piece; safe to use from many threads, which measure one at a time.

    Args:
        pipeline: Returns the model that made a piece, by its folder; None is the studio's own.
    """

    def __init__(self, pipeline: Callable[[str | None], MusicPipeline]) -> None:
        self._pipeline = pipeline
        self._lock = threading.Lock()
        self._cards: OrderedDict[str, QualityCard] = OrderedDict()

    def of(self, piece: Piece) -> QualityCard:
        """Return a piece's card, measured when it is first asked for.

        Raises:
            MusicgenError: The model cannot be loaded, or the piece cannot be measured.
        """
        from musicgen.pipeline.quality import quality_card

        with self._lock:
            card = self._cards.get(piece.id)
            if card is None:
                source = piece.midi if piece.take is None else piece.take
                card = quality_card(self._pipeline(piece.model), source)
                self._cards[piece.id] = card
                while len(self._cards) > _KEPT:
                    self._cards.popitem(last=False)
            self._cards.move_to_end(piece.id)
            return card

    def ranked(self, pieces: Sequence[Piece]) -> list[tuple[Piece, QualityCard]]:
        """Return pieces with their cards, the likest to real music first (`best_of`).

        Raises:
            MusicgenError: A model cannot be loaded, or a piece cannot be measured.
        """
        from musicgen.pipeline.quality import best_of

        left = [(piece, self.of(piece)) for piece in pieces]
        return [left.pop(best_of([card for _, card in left])) for _ in range(len(left))]
