"""A piece's attention as the studio asks for it, by the notes of the roll: rows, maps, habits.

Shapes: L layers, H heads, T events, M notes on the roll, G bars, S a small map's side.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from musicgen.pipeline.looking import (
    KINDS,
    AttentionView,
    Habits,
    combine_heads,
    find_habits,
    group_events,
    mean_by_group,
)
from musicgen.ui.gaze_bytes import numbers, shares, small_map
from musicgen.ui.gaze_pages import Pages
from musicgen.ui.matching import nearest_notes
from musicgen.ui.pieces import Piece

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from musicgen.midi import Meter
    from musicgen.pipeline.looking import How

SPAN_S: Final = 2.0  # of music without bars stands for one


@dataclass(frozen=True, kw_only=True, eq=False)
class Gaze:
    """A piece's attention, and which event is which note of the roll.

    Attributes:
        view: What the model attended to.
        event_of: Event of each note on the roll, −1 where the model saw none, int64 (M,).
        note_of: Note on the roll of each event, −1 where it is none (the start, rests), int64 (T,).
        meter: The piece's bars, if its notes keep to any.
    """

    view: AttentionView
    event_of: NDArray[np.int64]
    note_of: NDArray[np.int64]
    meter: Meter | None = field(default=None, repr=False)

    @property
    def weights(self) -> NDArray[np.float16]:
        """Attention, float16 (L, H, T, T): row looks at column."""
        return self.view.weights

    @property
    def events(self) -> int:
        """How many events the model saw: T."""
        return self.weights.shape[-1]

    @classmethod
    def of(cls, view: AttentionView, piece: Piece) -> Gaze:
        """Match what the model saw with what the roll shows."""
        shown, meter = piece.preview.notes, piece.preview.meter
        seen = np.asarray(view.notes, dtype=np.float64)
        match = nearest_notes(seen[:, 0], seen[:, 2], shown.onset_s, shown.pitch)
        note_index = np.asarray(view.note_index, dtype=np.int64)
        note_of = np.where(note_index >= 0, match[note_index.clip(0)], -1)
        event_of = np.full(len(shown), -1, dtype=np.int64)
        events = np.flatnonzero(note_of >= 0)
        event_of[note_of[events]] = events
        kept = meter is not None and meter.is_kept_to and len(meter.bar_beats) > 1
        return cls(view=view, event_of=event_of, note_of=note_of, meter=meter if kept else None)

    @property
    def pages(self) -> Pages:
        """The parts of the piece, where this is page 0."""
        first_event = self.view.first_event
        return Pages(events=self.events, first_event=first_event, event_of=self.event_of)

    def look(self, note: int, page: int = 0) -> bytes | None:
        """Return all attention from and to one note of the roll, or None if it was not seen.

        Eight numbers of 32 bits: page, note, its event e, L, H, T, 0, 0; the roll's note of each
        event, −1 for none, 32 bits each (T,); then shares of 1 in steps of 1/65535, 16 bits each:
        the row of the event before, from which the note was chosen
        (L, H, e); the note's own row (L, H, e + 1); and its column, how the events from its own on
        look at it (L, H, T − e). All little-endian.
        """
        if not 0 <= note < len(self.event_of) or self.event_of[note] < 0:
            return None
        event = int(self.event_of[note])
        n_layers, n_heads = self.weights.shape[:2]
        parts = (
            self.weights[:, :, max(event - 1, 0), :event],
            self.weights[:, :, event, : event + 1],
            self.weights[:, :, event:, event],
        )
        header = numbers(page, note, event, n_layers, n_heads, self.events, 0, 0)
        notes = self.note_of.astype("<i4").tobytes()
        return header + notes + b"".join(shares(part) for part in parts)

    @cached_property
    def habits(self) -> Habits:
        """What the heads are in the habit of looking at."""
        if self.meter is None:
            return find_habits(self.view)
        return find_habits(self.view, beat_s=self.meter.beat_s, bar_s=self.meter.bar_s)

    def facts(self) -> dict[str, Any]:
        """Return what the page needs to know once of all these maps: events, bars, habits."""
        habits = self.habits
        n_layers, n_heads = self.weights.shape[:2]
        return {
            "layers": n_layers,
            "heads": n_heads,
            "events": self.events,
            "firstEvent": self.view.first_event,
            "ended": self.view.has_end,
            "noteOf": self.note_of.tolist(),
            "groups": self.groups.tolist(),
            "span": None if self.meter is not None else SPAN_S,
            "habits": {
                "names": {kind: KINDS[kind] for kind in habits.kinds},
                "weights": np.round(habits.weights, 4).tolist(),
                "chance": np.round(habits.chance, 4).tolist(),
                "notes": habits.n_notes,
                "telling": habits.most_telling(),
                "leading": [habits.leading(layer) for layer in range(n_layers)],
                "words": [
                    [habits.sentence(layer, head) for head in range(n_heads)]
                    for layer in range(n_layers)
                ],
            },
        }

    @cached_property
    def onset_s(self) -> NDArray[np.float64]:
        """When each event sounds, NaN for one that is no note, (T,)."""
        index = self.view.note_index
        return np.where(index >= 0, self.view.notes[index, 0], np.nan)

    @cached_property
    def pitch(self) -> NDArray[np.float64]:
        """Each event's key, NaN for one that is no note, (T,)."""
        index = self.view.note_index
        return np.where(index >= 0, self.view.notes[index, 2], np.nan)

    @cached_property
    def groups(self) -> NDArray[np.int64]:
        """In which bar each event lies, or in which two seconds of music without bars, (T,)."""
        if self.meter is not None:
            return group_events(self.onset_s, self.meter.bar_s)
        end_s = float(np.nanmax(self.onset_s, initial=0.0))
        return group_events(self.onset_s, np.arange(0.0, end_s + 2 * SPAN_S, SPAN_S))

    def tiles(self) -> bytes:
        """Return a small map of every head, uint8 (L, H, S, S) with S at most 48, after a header.

        The header is four numbers of 32 bits, little-endian: L, H, S and T.
        """
        small = np.stack([[small_map(head) for head in layer] for layer in self.weights])
        n_layers, n_heads, size, _ = small.shape
        return numbers(n_layers, n_heads, size, self.events) + small.tobytes()

    def combined(
        self, layers: Sequence[int], heads: Sequence[int], how: How, *, by_bars: bool = False
    ) -> NDArray[np.float32]:
        """Return one map of some heads: (T, T), or (G, G) by bars.

        Raises:
            IndexError: There is no such layer or head.
            ValueError: None is chosen.
        """
        n_layers, n_heads = self.weights.shape[:2]
        if not all(0 <= layer < n_layers for layer in layers):
            raise IndexError("there is no such layer")
        if not all(0 <= head < n_heads for head in heads):
            raise IndexError("there is no such head")
        flat = self.weights.reshape(n_layers * n_heads, self.events, self.events)
        chosen = [layer * n_heads + head for layer in layers for head in heads]
        one = combine_heads(flat, chosen, how)
        return mean_by_group(one, self.groups) if by_bars else one
