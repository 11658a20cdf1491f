"""The vocabularies of the piano scheme: which id of which attribute means what.

Time is counted in steps of 10 ms. Every attribute begins with PAD, START and END (0, 1, 2):

    gap       3 + steps since the previous onset, 0..200
    pitch     3 = REST, then 4 + MIDI pitch, 0..127
    velocity  3 = NONE (a rest has none), then 4 + velocity // 4
    length    3 = NONE, then 4 + index into LENGTH_STEPS

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


def _length_steps(*, exact: int = 100, at_least: int = 60_000) -> tuple[int, ...]:
    """Lengths that have an id: each step up to a second, then as few as keep every error in 3%.

    Onset and end are both rounded to the grid, which alone may change a length by one step; the
    centres get what remains of the 3% (2% just above a second, nearly 3% above ten).
    """

    def slack(steps: int) -> float:
        return 0.03 * (steps - 1) - 1

    steps = list(range(1, exact + 1))
    first_open = exact + 1
    while first_open <= at_least:
        centre = first_open + int(slack(first_open))
        steps.append(centre)
        first_open = centre
        while first_open - centre <= slack(first_open):
            first_open += 1
    return tuple(steps)


LENGTH_STEPS = _length_steps()
LENGTHS = np.array(LENGTH_STEPS, dtype=np.int64)
LENGTHS.flags.writeable = False
# The longest length that still goes to each centre: half-way to the next, ties to the shorter.
_LENGTH_BOUNDS = (LENGTHS[:-1] + LENGTHS[1:]) // 2

VOCAB_SIZES = (
    FIRST_GAP + MAX_GAP_STEPS + 1,
    FIRST_PITCH + N_PITCHES,
    FIRST_VELOCITY + VELOCITY_BINS,
    FIRST_LENGTH + len(LENGTH_STEPS),
)


def length_ids(steps: np.ndarray) -> np.ndarray:
    """Ids of the lengths nearest to `steps` (N,), int64; beyond the last the last."""
    return FIRST_LENGTH + np.searchsorted(_LENGTH_BOUNDS, steps, side="left")


def velocity_of(velocity_id: int | np.ndarray) -> int | np.ndarray:
    """The velocity in the middle of a bin."""
    return (velocity_id - FIRST_VELOCITY) * VELOCITIES_PER_BIN + VELOCITIES_PER_BIN // 2
