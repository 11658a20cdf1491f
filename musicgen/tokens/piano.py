"""The piano scheme: one note or rest a position, told by gap, pitch, velocity and length.

The grid is that of grid.py, so what was decoded and is encoded again gets the same ids.

Arrays: T events, K = 4 attributes, N notes, V vocabulary of one attribute.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from musicgen.midi.notes import NoteTable, order_by
from musicgen.tokens import piano_decode, piano_variation
from musicgen.tokens.base import DecodedEvents, Event, SchemeFacts, Tokenizer, Variation
from musicgen.tokens.grid import (
    GRID_MS,
    VELOCITY_BINS,
    steps_to_next_stroke,
    stroke_numbers,
    to_grid,
)
from musicgen.tokens.piano_decode import last_releases
from musicgen.tokens.piano_releases import tell_releases
from musicgen.tokens.piano_vocabulary import (
    ATTRIBUTE_NAMES,
    END,
    FIRST_GAP,
    FIRST_PITCH,
    FIRST_VELOCITY,
    LENGTH_STEPS,
    MAX_GAP_STEPS,
    MOST_SHARED,
    NONE,
    REST,
    VELOCITIES_PER_BIN,
    VOCAB_SIZES,
    length_ids,
)

_FACTS = SchemeFacts(
    scheme="piano",
    attribute_names=ATTRIBUTE_NAMES,
    vocab_sizes=VOCAB_SIZES,
    grid_ms=GRID_MS,
    velocity_bins=VELOCITY_BINS,
)


class PianoTokenizer(Tokenizer):
    """Events (gap, pitch, velocity, length) on a grid of 10 ms, the pedal folded into lengths."""

    __slots__ = ()

    @property
    def _facts(self) -> SchemeFacts:
        return _FACTS

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the description: equal fingerprints, equal ids."""
        return _fingerprint()

    def settings(self) -> dict[str, Any]:
        """Everything that decides which ids a piece gets."""
        return {
            "attributes": list(ATTRIBUTE_NAMES),
            "vocab_sizes": list(VOCAB_SIZES),
            "grid_ms": self.grid_ms,
            "max_gap_steps": MAX_GAP_STEPS,
            "velocity_bins": VELOCITY_BINS,
            "length_steps": list(LENGTH_STEPS),
            "releases_shared": MOST_SHARED,
            "pedal": "folded into lengths",
        }

    def encode_notes(self, notes: NoteTable, *, end: bool = True) -> np.ndarray:
        """Encode notes in seconds; see `Tokenizer.encode`."""
        grid = to_grid(notes)
        velocity = FIRST_VELOCITY + grid.velocity // VELOCITIES_PER_BIN
        strokes = stroke_numbers(grid.onset, grid.pitch)
        order = order_by(strokes, velocity, length_ids(grid.length))
        onset, pitch = grid.onset[order], grid.pitch[order]
        room = steps_to_next_stroke(onset, pitch)

        gap = np.diff(onset, prepend=0)
        rests = np.maximum(gap - 1, 0) // MAX_GAP_STEPS
        row = np.arange(1, len(gap) + 1) + np.cumsum(rests)

        ids = np.empty((1 + len(gap) + int(rests.sum()) + int(end), len(VOCAB_SIZES)), np.int64)
        ids[:] = FIRST_GAP + MAX_GAP_STEPS, REST, NONE, NONE
        ids[0] = self.start_event
        ids[row, 0] = FIRST_GAP + gap - rests * MAX_GAP_STEPS
        ids[row, 1] = FIRST_PITCH + pitch
        ids[row, 2] = velocity[order]
        ids[row, 3] = tell_releases(onset, grid.length[order], room)
        if end:
            ids[-1] = self.end_event
        return ids

    def decode_events(self, ids: np.ndarray, *, after: np.ndarray | None = None) -> DecodedEvents:
        """Turn any integers (T, 4) into notes; see piano_decode.py."""
        return piano_decode.decode_events(ids, last_releases(after))

    def vary(self, ids: np.ndarray, variation: Variation) -> np.ndarray:
        """Return the same music in another key, tempo or touch; see `Tokenizer.vary`."""
        return piano_variation.vary(ids, variation)

    def legal(self, k: int, previous: Event) -> np.ndarray:
        """A note is whole, a rest takes time, an end is an end; see `Tokenizer.legal`."""
        if not 0 <= k < len(VOCAB_SIZES) or len(previous) != k:
            raise ValueError(f"attribute {k} after {len(previous)} earlier ones; expected 0 to 3")
        masks = _legal_masks()
        if k == 0:
            return masks["gap"]
        if previous[0] == END:
            return masks[f"end {k}"]
        if k == 1:
            return masks["note" if previous[0] == FIRST_GAP else "note or rest"]
        if previous[1] == REST:
            return masks[f"none {k}"]
        return masks[f"value {k}"]

    def clock(
        self, start_s: float = 0.0, *, after: np.ndarray | None = None
    ) -> piano_decode.PianoClock:
        """A clock for events that follow an onset at `start_s`, and the events `after`."""
        return piano_decode.PianoClock(start_s, last_releases(after))

    def describe(self, event: Event) -> str:
        """Say an event in words: `after 0.12 s: E4, mf (66), for 0.50 s`."""
        return piano_decode.describe(event)

    def n_notes(self, ids: np.ndarray) -> int:
        """How many notes the events (T, 4) hold."""
        return int(piano_decode.classify(ids).is_note.sum())


@lru_cache(maxsize=1)
def _fingerprint() -> str:
    getter = Tokenizer.fingerprint.fget
    return getter(PianoTokenizer())  # type: ignore[misc]


@lru_cache(maxsize=1)
def _legal_masks() -> dict[str, np.ndarray]:
    masks = {
        "gap": np.arange(VOCAB_SIZES[0]) >= END,
        "note": np.arange(VOCAB_SIZES[1]) >= FIRST_PITCH,
        "note or rest": np.arange(VOCAB_SIZES[1]) >= REST,
    }
    for k, size in enumerate(VOCAB_SIZES):
        masks[f"end {k}"] = np.arange(size) == END
        masks[f"none {k}"] = np.arange(size) == NONE
        masks[f"value {k}"] = np.arange(size) > NONE
    for mask in masks.values():
        mask.flags.writeable = False
    return masks
