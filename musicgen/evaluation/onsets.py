"""When something begins and how much sounds.

Shapes: N notes, G onsets.
"""

from __future__ import annotations

import numpy as np

from musicgen.midi import NoteTable

TOGETHER_S = 0.035
"""Notes that follow one another by less (30 ms on the grid) begin together: one onset."""


def onsets(notes: NoteTable) -> tuple[np.ndarray, np.ndarray]:
    """Return the times of the onsets (G,) and their numbers of notes (G,)."""
    if not len(notes):
        return np.zeros(0), np.zeros(0, dtype=np.int64)
    first = np.flatnonzero(np.diff(notes.onset_s, prepend=-np.inf) > TOGETHER_S)
    return notes.onset_s[first], np.diff(np.append(first, len(notes)))


def sounding_time(notes: NoteTable) -> np.ndarray:
    """Return for how many seconds 0, 1, 2 … notes sound, from the first onset to the last end."""
    times = np.concatenate([notes.onset_s, notes.end_s])
    change = np.repeat([1, -1], len(notes))
    order = np.argsort(times, kind="stable")
    count = np.cumsum(change[order])[:-1]
    return np.bincount(np.maximum(count, 0), weights=np.diff(times[order]), minlength=1)
