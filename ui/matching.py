"""Which note on the roll a note is that the model saw.

Shapes: N notes that the model saw, M notes on the roll.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
