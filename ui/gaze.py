"""What the roll is told about attention: the strongest looks from one note, and small maps.

Shapes: L layers, H heads, T events, N notes that the model saw, M notes on the roll.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from musicgen.ui.pieces import Piece

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from musicgen.pipeline import AttentionView

_STRONGEST = 6  # looks a head: more than that is a cobweb
_SAME_NOTE_S = 0.03  # the model's grid is 10 ms; a file's notes may lie between
_TILE = 48
_MAP = 512
_GAMMA = 0.6  # causal maps look black without it


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gaze:
    """A piece's attention, and which event is which note of the roll.

    Attributes:
        weights: Attention, float16 (L, H, T, T): row looks at column.
        event_of: Event of each note on the roll, −1 where the model saw none, int64 (M,).
        note_of: Note on the roll of each event, −1 where it is none (the start, rests), int64 (T,).
        first_event: How many events of the piece lie before these.
    """

    weights: NDArray[np.float16]
    event_of: NDArray[np.int64]
    note_of: NDArray[np.int64]
    first_event: int = 0

    @property
    def events(self) -> int:
        """How many events the model saw: T."""
        return self.weights.shape[-1]

    @classmethod
    def of(cls, view: AttentionView, piece: Piece) -> Gaze:
        """Match what the model saw with what the roll shows."""
        shown = piece.preview.notes
        seen = np.asarray(view.notes, dtype=np.float64)
        match = _nearest(seen[:, 0], seen[:, 2], shown.onset_s, shown.pitch)
        note_index = np.asarray(view.note_index, dtype=np.int64)
        note_of = np.where(note_index >= 0, match[note_index.clip(0)], -1)
        event_of = np.full(len(shown), -1, dtype=np.int64)
        events = np.flatnonzero(note_of >= 0)
        event_of[note_of[events]] = events
        return cls(
            weights=view.weights,
            event_of=event_of,
            note_of=note_of,
            first_event=view.first_event,
        )

    def page_of(self, note: int) -> int:
        """Return which part of a long piece shows a note with what the model had before it.

        Page 0 is this view, of the piece or its end. Page p ends before the note number p times
        half a window: the notes of its second half have at least half a window before them.
        """
        half = max(1, self.events // 2)
        near = 0 <= note < len(self.event_of) and self.event_of[note] >= half
        page = note // half + 1
        return 0 if near or not self.first_event or page * half >= len(self.event_of) else page

    def page_end(self, page: int) -> int | None:
        """Return the number of the first note after a page, None where it ends with the piece."""
        end = page * max(1, self.events // 2)
        return end if 0 < end < len(self.event_of) else None

    def look(self, note: int) -> dict[str, Any] | None:
        """Return where every head looks about one note of the roll, or None if it was not seen.

        `wrote` is the row of the event before the note, from which the note was chosen; `after` the
        note's own row, from which the next one was. Both are lists by layer and head of
        `{"looks": [[note, weight], …], "first": share}`, the strongest look first.
        `noteOf` names the roll's note of each event.
        """
        if not 0 <= note < len(self.event_of) or self.event_of[note] < 0:
            return None
        event = int(self.event_of[note])
        return {
            "note": note,
            "event": event,
            "wrote": self._row(event - 1),
            "after": self._row(event),
            "noteOf": self.note_of.tolist(),
        }

    def _row(self, event: int) -> list[list[dict[str, Any]]]:
        rows = np.asarray(self.weights[:, :, max(event, 0), : event + 1], dtype=np.float32)
        return [[self._strongest(row, event) for row in layer] for layer in rows]

    def _strongest(self, row: NDArray[np.float32], event: int) -> dict[str, Any]:
        seen = np.flatnonzero((self.note_of[: event + 1] >= 0) & (row > 0.004))
        best = seen[np.argsort(-row[seen], kind="stable")[:_STRONGEST]]
        return {
            "looks": [[int(self.note_of[i]), round(float(row[i]), 4)] for i in best],
            "first": round(float(row[0]), 4) if len(row) else 0.0,
        }

    def tiles(self) -> bytes:
        """Return a small map of every head, uint8 (L, H, S, S) with S at most 48, after a header.

        The header is four numbers of 32 bits, little-endian: L, H, S and T.
        """
        small = np.stack([[_shrink(head, _TILE) for head in layer] for layer in self.weights])
        n_layers, n_heads, size, _ = small.shape
        return _header(n_layers, n_heads, size, self.weights.shape[-1]) + small.tobytes()

    def map(self, layer: int, head: int) -> bytes:
        """Return one head's map, uint8 (S, S) with S at most 512, after a header as in `tiles`.

        Raises:
            IndexError: There is no such layer or head.
        """
        large = _shrink(self.weights[layer, head], _MAP)
        return _header(1, 1, len(large), self.weights.shape[-1]) + large.tobytes()


def _header(*numbers: int) -> bytes:
    return np.asarray(numbers, dtype="<u4").tobytes()


def _shrink(weights: NDArray[np.float16], size: int) -> NDArray[np.uint8]:
    """Scale a map to at most `size` a side, each row by its maximum; a sharp look stays visible."""
    full = np.asarray(weights, dtype=np.float32)
    full = full / np.maximum(full.max(axis=1, keepdims=True), 1e-9)
    if len(full) > size:
        starts = np.arange(size) * len(full) // size
        full = np.maximum.reduceat(np.maximum.reduceat(full, starts, axis=0), starts, axis=1)
    return (full**_GAMMA * 255).astype(np.uint8)


def _nearest(
    onset_s: NDArray[np.float64],
    pitch: NDArray[np.float64],
    shown_onset_s: NDArray[np.float64],
    shown_pitch: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return for each seen note the note on the roll of the same pitch and nearest onset, or −1.

    No two share one: notes struck twice at one instant keep their order.
    """
    found = np.full(len(onset_s), -1, dtype=np.int64)
    for key in np.unique(pitch):
        theirs = np.flatnonzero(shown_pitch == int(key))
        times = shown_onset_s[theirs]
        free = np.ones(len(theirs), dtype=bool)
        for mine in np.flatnonzero(pitch == key):
            low = np.searchsorted(times, onset_s[mine] - _SAME_NOTE_S)
            high = np.searchsorted(times, onset_s[mine] + _SAME_NOTE_S, side="right")
            near = low + np.flatnonzero(free[low:high])
            if len(near):
                best = near[np.argmin(np.abs(times[near] - onset_s[mine]))]
                free[best] = False
                found[mine] = theirs[best]
    return found
