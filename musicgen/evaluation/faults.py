"""What no piece should have, counted from the notes alone: loops, silences, notes held for ever.

The bounds are those at which the stream steps back while it plays (docs/lab_log.md), but nothing
here knows what the stream did: a file of any origin may be looked at.

Shapes: N notes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musicgen.midi import NoteTable

SILENCE_S = 4.0
LONG_NOTE_S = 20.0
ONE_KEY = 24
"""Strokes of one key in a row."""

EXACT, LONGEST_LAG = 24, 64
"""Notes alike at a lag, beyond twice the lag; and the longest lag looked at, in notes."""

ENDS_WITHIN = 0.05
RELEASE_S = 0.25
"""The last onset comes at least so long before the last sound ends: it rings, it is not cut off."""

_STEPS_PER_S = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """Faults of one piece.

    Attributes:
        loops: Lags at which it repeats itself note by note for too long, and keys struck for ever.
        silences: Times of more than 4 s without a sound, between its first and its last.
        long_notes: Notes of more than 20 s.
    """

    loops: int
    silences: int
    long_notes: int


def find_faults(notes: NoteTable) -> Faults:
    """Count a piece's faults.

    Args:
        notes: As `heard_notes` returns them (N,).
    """
    sounds_to_s = np.maximum.accumulate(notes.end_s) if len(notes) else notes.end_s
    gaps_s = notes.onset_s[1:] - sounds_to_s[:-1]
    return Faults(
        loops=_loops(notes),
        silences=int((gaps_s > SILENCE_S + 1e-6).sum()),
        long_notes=int((notes.end_s - notes.onset_s > LONG_NOTE_S + 1e-6).sum()),
    )


def meets_length(notes: NoteTable, seconds: float) -> bool:
    """Say whether music sounds to within 5% of the length that was asked for.

    Args:
        notes: As `heard_notes` returns them (N,).
        seconds: The length.
    """
    if not len(notes):
        return False
    return abs(float(notes.end_s.max()) - seconds) <= ENDS_WITHIN * seconds + 1e-6


def is_released(notes: NoteTable) -> bool:
    """Say whether music ends by letting its last notes ring, and not in the middle of a run.

    Args:
        notes: As `heard_notes` returns them (N,).
    """
    if not len(notes):
        return False
    return float(notes.end_s.max() - notes.onset_s[-1]) >= RELEASE_S - 1e-6


def _loops(notes: NoteTable) -> int:
    gap = np.rint(np.diff(notes.onset_s, prepend=0.0) * _STEPS_PER_S)
    length = np.rint((notes.end_s - notes.onset_s) * _STEPS_PER_S)
    rows = np.stack([gap, notes.pitch, notes.velocity, length], axis=1)
    struck = _longest_run(notes.pitch[1:] == notes.pitch[:-1]) + 1 >= ONE_KEY
    repeated = [
        _longest_run((rows[lag:] == rows[:-lag]).all(axis=1)) >= EXACT + 2 * lag
        for lag in range(1, LONGEST_LAG + 1)
    ]
    return int(struck) + sum(repeated)


def _longest_run(alike: np.ndarray) -> int:
    edges = np.flatnonzero(np.diff(np.concatenate(([0], alike.astype(np.int8), [0]))))
    return int((edges[1::2] - edges[::2]).max(initial=0))
