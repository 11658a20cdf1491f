"""The vocabularies of the piano scheme: which id of which attribute means what.

Time is counted in steps of 10 ms. Every attribute begins with PAD, START and END (0, 1, 2):

    gap       3 + steps since the previous onset, 0..200
    pitch     3 = REST, then 4 + MIDI pitch, 0..127
    velocity  3 = NONE (a rest has none), then 4 + velocity // 4
    length    3 = NONE, then 4 + index into LENGTH_STEPS, then FIRST_SHARED + n - 1:
              released with the n-th note before it, n = 1..8

Arrays: T events, K = 4 attributes (gap, pitch, velocity, length).
"""

from __future__ import annotations

import numpy as np

from musicgen.tokens.grid import N_PITCHES, VELOCITY_BINS

PAD, START, END = 0, 1, 2
REST = NONE = 3
FIRST_GAP = 3
FIRST_PITCH = FIRST_VELOCITY = FIRST_LENGTH = 4

MAX_GAP_STEPS = 200
VELOCITIES_PER_BIN = 128 // VELOCITY_BINS

ATTRIBUTE_NAMES = ("gap", "pitch", "velocity", "length")


def _length_bounds(*, exact: int = 100, at_least: int = 60_000) -> tuple[int, ...]:
    """The longest length of each id: each step up to a second, then as few as keep 3%.

    Any two lengths of one id are within 3% of each other, so that either may stand for the other.
    Onset and end are both rounded to the grid, which alone may change a length by one step; what
    remains of the 3% is the width of an id.
    """
    bounds = list(range(1, exact + 1))
    while bounds[-1] < at_least:
        shortest = bounds[-1] + 1
        bounds.append(shortest + int(0.03 * (shortest - 1) - 1))
    return tuple(bounds)


_BOUNDS = np.array(_length_bounds(), dtype=np.int64)
_SHORTEST = np.append(1, _BOUNDS[:-1] + 1)
LENGTHS = (_SHORTEST + _BOUNDS) // 2
LENGTHS.flags.writeable = False
LENGTH_STEPS = tuple(LENGTHS.tolist())

# A table is ten times faster than a search, and encoding looks up each note some twenty times.
_ID_OF_STEPS = FIRST_LENGTH + np.searchsorted(_BOUNDS, np.arange(_BOUNDS[-1] + 1), side="left")

MOST_SHARED = 8
FIRST_SHARED = FIRST_LENGTH + len(LENGTH_STEPS)
MENDED_LENGTH = FIRST_LENGTH + 19

VOCAB_SIZES = (
    FIRST_GAP + MAX_GAP_STEPS + 1,
    FIRST_PITCH + N_PITCHES,
    FIRST_VELOCITY + VELOCITY_BINS,
    FIRST_SHARED + MOST_SHARED,
)


def length_ids(steps: np.ndarray) -> np.ndarray:
    """Ids of lengths in steps, int64, of any shape; beyond the last the last."""
    return _ID_OF_STEPS.take(steps, mode="clip")  # the first entry, of no step, is that of one


def velocity_of(velocity_id: int | np.ndarray) -> int | np.ndarray:
    """The velocity in the middle of a bin."""
    return (velocity_id - FIRST_VELOCITY) * VELOCITIES_PER_BIN + VELOCITIES_PER_BIN // 2
