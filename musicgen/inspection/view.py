"""Attention weights with the notes they belong to; numpy only, and ready for a picture.

Which row belongs to a note? Event i attends to events 0 to i, itself too, and from the state that
comes of it the model chooses event i + 1. So a note that is event i has two rows:

- row i − 1: what the model looked at **when it wrote** the note (`written_from`);
- row i: what it looked at **from** the note, when the note had sounded and the next was to be
  chosen (`looking_back`).

Attention is not explanation: a weight says where a head gathered from, not why the note came.

Shapes: L layers, H heads, T events, K attributes, N notes, C how many sources were asked for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sources:
    """The notes that each head looked at most, strongest first.

    Attributes:
        notes: (L, H, C) int64, rows of `AttentionView.notes`; -1 where there are fewer.
        weights: (L, H, C) float32; 0 where there are fewer.
    """

    notes: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AttentionView:
    """What the model attended to in a piece, or in the last window of a longer one.

    Attributes:
        weights: (L, H, T, T) float16; row i says how event i attended to events 0 to i, and sums
            to 1.
        ids: (T, K) int64, the events.
        note_index: (T,) int64, the row in `notes` of the note that an event is, -1 without one.
        notes: (N, 4) float64: onset_s, end_s, pitch, velocity, in the piece's time.
        first_event: Number of the first of these events in the whole piece.
        has_end: Whether the last event ends the piece; it is no note, and has a row as all others.
    """

    weights: np.ndarray
    ids: np.ndarray
    note_index: np.ndarray
    notes: np.ndarray
    first_event: int = 0
    has_end: bool = False

    def event_of(self, note: int) -> int:
        """Return the event that is the note `note`.

        Raises:
            IndexError: There is no such note.
        """
        if not 0 <= note < len(self.notes):
            raise IndexError(f"there is no note {note}: the notes are 0 to {len(self.notes) - 1}")
        return int(np.flatnonzero(self.note_index == note)[0])

    def looking_back(self, note: int) -> np.ndarray:
        """Return the row of the note itself: (L, H, T) float32.

        Raises:
            IndexError: There is no such note.
        """
        return self._row(self.event_of(note))

    def written_from(self, note: int) -> np.ndarray:
        """Return the row of the event before the note: (L, H, T) float32.

        All zero for an event that is the first of the window: nothing was seen before it.

        Raises:
            IndexError: There is no such note.
        """
        return self._row(self.event_of(note) - 1)

    def on_notes(self, row: np.ndarray) -> np.ndarray:
        """Keep of a row (L, H, T) what fell on notes, in the notes' order: (L, H, N) float32."""
        of_note = self.note_index >= 0
        spread = np.zeros((*row.shape[:-1], len(self.notes)), dtype=np.float32)
        spread[..., self.note_index[of_note]] = row[..., of_note]
        return spread

    def strongest(self, row: np.ndarray, count: int = 6) -> Sources:
        """Return the notes on which most of a row (L, H, T) fell, head by head."""
        weights = self.on_notes(row)
        best = np.argsort(-weights, axis=-1, kind="stable")[..., :count]
        found = np.take_along_axis(weights, best, axis=-1)
        missing = count - best.shape[-1]
        pad = [(0, 0), (0, 0), (0, max(0, missing))]
        notes = np.where(found > 0, best, -1)
        return Sources(
            notes=np.pad(notes, pad, constant_values=-1),
            weights=np.pad(found, pad),
        )

    def _row(self, event: int) -> np.ndarray:
        if event < 0:
            return np.zeros((*self.weights.shape[:2], len(self.ids)), dtype=np.float32)
        return self.weights[:, :, event].astype(np.float32)
