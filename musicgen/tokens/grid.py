"""Notes on a grid of 10 ms in real time: what all schemes encode and decode.

Onsets and ends are rounded to the grid from the start of the piece, so errors never add up, notes
that end together still do, and a key that is struck again at once does not overlap itself.

Arrays: N notes, T events.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musicgen.errors import TokenizerError
from musicgen.midi.notes import NoteTable, order_by

STEPS_PER_S = 100
GRID_MS = 1000.0 / STEPS_PER_S
N_PITCHES = 128
VELOCITY_BINS = 32

#: No note begins later than a day: its ticks still fit into a MIDI file with room to spare.
MAX_STEPS = 24 * 3600 * STEPS_PER_S


@dataclass(frozen=True, slots=True, kw_only=True)
class GridNotes:
    """Notes (N,) in steps of the grid, int64, in any order; lengths are at least one step."""

    onset: np.ndarray
    length: np.ndarray
    pitch: np.ndarray
    velocity: np.ndarray


def to_grid(notes: NoteTable) -> GridNotes:
    """Round notes to the grid; a key struck again ends its earlier note there.

    Raises:
        TokenizerError: A note begins after a day.
        ValueError: A value is not one of a MIDI note.
        TypeError: They are no notes.
    """
    if not isinstance(notes, NoteTable):
        raise TypeError(f"notes are a NoteTable, not {type(notes).__name__}")
    for name, values in (("pitch", notes.pitch), ("velocity", notes.velocity)):
        if len(values) and not 0 <= values.min() <= values.max() <= 127:
            raise ValueError(f"{name} {values.min()} to {values.max()}; allowed are 0 to 127")
    if not (np.isfinite(notes.onset_s).all() and np.isfinite(notes.end_s).all()):
        raise ValueError("onset_s and end_s must be finite")
    if len(notes) and notes.onset_s.min() < 0:
        raise ValueError(f"onset_s {notes.onset_s.min()} is negative")
    if len(notes) and notes.onset_s.max() * STEPS_PER_S > MAX_STEPS:
        raise TokenizerError(
            f"The last note begins after {notes.onset_s.max():.0f} s; "
            f"allowed are {MAX_STEPS // STEPS_PER_S} s.",
            hint="Cut the piece, or take out its silence.",
        )
    onset = _steps(notes.onset_s)
    room = steps_to_next_stroke(onset, notes.pitch)
    length = np.maximum(np.minimum(_steps(notes.end_s) - onset, room), 1)
    return GridNotes(onset=onset, length=length, pitch=notes.pitch, velocity=notes.velocity)


def _steps(seconds: np.ndarray) -> np.ndarray:
    # Half a step goes up, also where the float lies a hair below: or two halves could part ways.
    steps = np.minimum(seconds * STEPS_PER_S, 2.0 * MAX_STEPS)
    return np.floor(steps + 0.5 + 1e-7).astype(np.int64)


def steps_to_next_stroke(onset: np.ndarray, pitch: np.ndarray) -> np.ndarray:
    """From each note (N,) to the next later onset of its key, or very many steps."""
    spacing = 8 * MAX_STEPS
    keys, where = np.unique(pitch * spacing + onset, return_inverse=True)
    following = np.append(keys[1:], N_PITCHES * spacing)[where]
    return following - pitch * spacing - onset


def stroke_numbers(onset: np.ndarray, pitch: np.ndarray) -> np.ndarray:
    """Return one number (N,) for each note's onset and key, ascending as they are."""
    return onset * N_PITCHES + pitch


def from_grid(notes: GridNotes) -> tuple[NoteTable, np.ndarray]:
    """Notes in seconds, and for each row of them the note (N,) it was."""
    # The order of a NoteTable: it need not sort them again, and its rows can be traced back.
    order = order_by(stroke_numbers(notes.onset, notes.pitch), notes.velocity, notes.length)
    onset = notes.onset[order]
    table = NoteTable(
        onset_s=onset / STEPS_PER_S,
        end_s=(onset + notes.length[order]) / STEPS_PER_S,
        pitch=notes.pitch[order],
        velocity=notes.velocity[order],
        track=np.zeros(len(order), dtype=np.int64),
    )
    return table, order


def rows_of_events(events: np.ndarray, n_events: int) -> np.ndarray:
    """For each of T events the first row that it begins, or -1.

    Args:
        events: (N,) int64, the event that begins each row of a NoteTable.
        n_events: T.
    """
    rows = np.full(n_events, -1, dtype=np.int64)
    rows[events[::-1]] = np.arange(len(events))[::-1]
    return rows
