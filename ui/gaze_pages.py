"""Which part of a long piece a note is looked at in; all of it would be too much for the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pages:
    """The parts of a piece: page 0 is what the model sees of it at once, the piece or its end.

    Page p ends before the note number p times half a window: the notes of its second half have at
    least half a window before them.

    Attributes:
        events: How many events the model saw in page 0.
        first_event: The number of the first of them in the whole piece.
        event_of: Event of each note on the roll in page 0, −1 where the model saw none, int64 (M,).
    """

    events: int
    first_event: int
    event_of: NDArray[np.int64]

    def page_of(self, note: int) -> int:
        """Return which part shows a note with what the model had before it."""
        near = 0 <= note < len(self.event_of) and self.event_of[note] >= self._half
        page = note // self._half + 1
        is_last = not self.first_event or page * self._half >= len(self.event_of)
        return 0 if near or is_last else page

    def page_end(self, page: int) -> int | None:
        """Return the number of the first note after a page, None where it ends with the piece."""
        end = page * self._half
        return end if 0 < end < len(self.event_of) else None

    @property
    def _half(self) -> int:
        return max(1, self.events // 2)
