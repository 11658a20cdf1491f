"""The piano scheme: one note or rest a position, told by gap, pitch, velocity and length.

Onsets are rounded to the grid from the start of the piece, so errors never add up. Ends are
rounded to the same grid, and a length is the distance of the two: notes released together stay
together, a repeated key never overlaps itself, and decoding, encoded again, gives the same ids.

Arrays: T events, K = 4 attributes, N notes, V vocabulary of one attribute.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from musicgen.errors import TokenizerError
from musicgen.midi.notes import NoteTable
from musicgen.tokens import piano_decode
from musicgen.tokens.base import DecodedEvents, Event, SchemeFacts, Tokenizer
from musicgen.tokens.piano_vocabulary import (
    ATTRIBUTE_NAMES,
    END,
    FIRST_GAP,
    FIRST_PITCH,
    FIRST_VELOCITY,
    LENGTH_STEPS,
    MAX_GAP_STEPS,
    MAX_STEPS,
    N_PITCHES,
    NONE,
    REST,
    STEPS_PER_S,
    VELOCITIES_PER_BIN,
    VELOCITY_BINS,
    VOCAB_SIZES,
    length_ids,
)


_FACTS = SchemeFacts(
    scheme="piano",
    attribute_names=ATTRIBUTE_NAMES,
    vocab_sizes=VOCAB_SIZES,
    grid_ms=1000.0 / STEPS_PER_S,
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
            "pedal": "folded into lengths",
        }

    def encode_notes(self, notes: NoteTable, *, end: bool = True) -> np.ndarray:
        """Encode notes in seconds; see `Tokenizer.encode`."""
        onset, pitch, velocity = _checked(notes)
        length = length_ids(_sounding_steps(onset, pitch, _steps(notes.end_s)))
        velocity_id = FIRST_VELOCITY + velocity // VELOCITIES_PER_BIN
        order = np.lexsort((length, velocity_id, pitch, onset))

        onset = onset[order]
        gap = np.diff(onset, prepend=0)
        rests = np.maximum(gap - 1, 0) // MAX_GAP_STEPS
        row = np.arange(1, len(gap) + 1) + np.cumsum(rests)

        ids = np.empty((1 + len(gap) + int(rests.sum()) + int(end), len(VOCAB_SIZES)), np.int64)
        ids[:] = FIRST_GAP + MAX_GAP_STEPS, REST, NONE, NONE
        ids[0] = self.start_event
        ids[row, 0] = FIRST_GAP + gap - rests * MAX_GAP_STEPS
        ids[row, 1] = FIRST_PITCH + pitch[order]
        ids[row, 2] = velocity_id[order]
        ids[row, 3] = length[order]
        if end:
            ids[-1] = self.end_event
        return ids

    def decode_events(self, ids: np.ndarray) -> DecodedEvents:
        """Turn any integers (T, 4) into notes; see piano_decode.py."""
        return piano_decode.decode_events(ids)

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

    def clock(self, start_s: float = 0.0) -> piano_decode.PianoClock:
        """A clock for events that follow an onset at `start_s`."""
        return piano_decode.PianoClock(start_s)

    def describe(self, event: Event) -> str:
        """Say an event in words: `after 0.12 s: E4, mf (66), for 0.50 s`."""
        return piano_decode.describe(event)

    def n_notes(self, ids: np.ndarray) -> int:
        """How many notes the events (T, 4) hold."""
        return int(piano_decode.classify(ids).is_note.sum())


def _checked(notes: NoteTable) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Onsets in steps, pitches and velocities of notes that the scheme can hold."""
    for name, values, top in (("pitch", notes.pitch, 127), ("velocity", notes.velocity, 127)):
        if len(values) and not 0 <= values.min() <= values.max() <= top:
            raise ValueError(f"{name} {values.min()} to {values.max()}; allowed are 0 to {top}")
    if not (np.isfinite(notes.onset_s).all() and np.isfinite(notes.end_s).all()):
        raise ValueError("onset_s and end_s must be finite")
    if len(notes) and notes.onset_s.min() < 0:
        raise ValueError(f"onset_s {notes.onset_s.min()} is negative")
    if len(notes) and notes.onset_s.max() * STEPS_PER_S > MAX_STEPS:
        raise TokenizerError(
            f"The last note begins after {notes.onset_s.max():.0f} s; "
            f"the scheme piano holds {MAX_STEPS // STEPS_PER_S} s.",
            hint="Cut the piece, or remove its silence.",
        )
    return _steps(notes.onset_s), notes.pitch, notes.velocity


def _steps(seconds: np.ndarray) -> np.ndarray:
    # Half a step goes up, also where the float lies a hair below: or two halves could part ways.
    steps = np.minimum(seconds * STEPS_PER_S, 2.0 * MAX_STEPS)
    return np.floor(steps + 0.5 + 1e-7).astype(np.int64)


def _sounding_steps(onset: np.ndarray, pitch: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Lengths in steps, at least one; a key struck again ends its earlier note there."""
    spacing = 4 * MAX_STEPS
    keys, where = np.unique(pitch * spacing + onset, return_inverse=True)
    following = np.append(keys[1:], N_PITCHES * spacing)[where] - pitch * spacing
    return np.maximum(np.minimum(end, following) - onset, 1)


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
