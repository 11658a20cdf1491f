"""Which note on the roll a note is that the model saw; and where two takes part.

Shapes: N notes that the model saw, M notes on the roll.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from musicgen.midi import NoteTable

_SAME_TIME_S = 0.002  # what is kept of a take is kept to the tick
_SAME_NOTE_S = 0.03  # the model's grid is 10 ms; a file's notes may lie between


def nearest_notes(
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


def parting_s(one: NoteTable, other: NoteTable) -> float | None:
    """Return from when on two pieces sound different, in seconds; None where they never do."""
    rows = [_in_order(notes) for notes in (one, other)]
    first, second = (each[: min(map(len, rows))] for each in rows)
    differs = (np.abs(first[:, :3] - second[:, :3]) > _SAME_TIME_S).any(axis=1)
    n_same = int(np.argmax(differs)) if differs.any() else len(first)
    times = [each[n_same, 0] for each in rows if len(each) > n_same]
    # A note that both begin alike may be let go by one of them first.
    ends = np.stack([first[:n_same, 3], second[:n_same, 3]])
    times += ends.min(axis=0)[np.abs(ends[0] - ends[1]) > _SAME_TIME_S].tolist()
    return float(min(times)) if times else None


def _in_order(notes: NoteTable) -> NDArray[np.float64]:
    """Return onset (s), pitch, velocity and end (s) of each note, whatever its track, (N, 4)."""
    columns = (notes.onset_s, notes.pitch, notes.velocity, notes.end_s)
    rows = np.stack([column.astype(np.float64) for column in columns], axis=1)
    onset_ms = np.rint(notes.onset_s * 1000)
    return rows[np.lexsort((notes.end_s, notes.velocity, notes.pitch, onset_ms))]
