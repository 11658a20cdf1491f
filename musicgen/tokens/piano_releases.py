"""Releases that notes share: encoded as such, and found again.

A pedal that is lifted ends many notes at one instant, and a key that is struck again under the
pedal ends its earlier note. Told as a length, each of these costs a model as much as any other
length, though it follows from what was told before. So a note's length may also be told as "it is
released with the n-th note before it": at that note's release, or when its own key is struck
again, whichever is first.

A *release* is the instant a note was told to end at, before its key is struck again. It is the
onset plus a stored length, or the release of the note that it shares.

Arrays: N notes, in the order of their events.
"""

from __future__ import annotations

import numpy as np

from musicgen.tokens.piano_vocabulary import (
    FIRST_LENGTH,
    FIRST_SHARED,
    LENGTHS,
    MENDED_LENGTH,
    MOST_SHARED,
    length_ids,
)


def tell_releases(onset: np.ndarray, length: np.ndarray, room: np.ndarray) -> np.ndarray:
    """Return the length id of each note, shared wherever it can be.

    A note takes the nearest note before it whose release is a length of the same id away, or, if
    the stroke of its own key ends it, whose release is not before that stroke. Whether it can
    depends on the releases of the notes before it, so notes are settled in rounds, each of which
    looks again at those that follow a changed one. Round by round the first unsettled note moves
    on; what comes out is what one note at a time gives.

    Args:
        onset: (N,) int64 steps, ascending.
        length: (N,) int64 steps, at least 1 and at most `room`.
        room: (N,) int64 steps to the next stroke of the same key.

    Returns:
        (N,) int64 ids of the attribute `length`.
    """
    plain = length_ids(length)
    stored = LENGTHS[plain - FIRST_LENGTH]
    told = onset + stored
    # A stored length may overshoot its own rounding, up to the next stroke: that is cut as well.
    is_cut = (length == room) | (stored >= room)
    # Before the first note stand some that are over, so that every note has eight before it.
    release = np.concatenate([np.full(MOST_SHARED, -1), told])
    shared = np.zeros(len(onset), dtype=np.int64)
    is_due = np.zeros(len(release), dtype=bool)
    at = np.arange(len(onset))
    while len(at):
        left = release.take(at + _SOURCES, mode="clip") - onset[at]
        fits = length_ids(left) == plain[at]
        fits |= is_cut[at] & (left >= room[at])
        fits &= left > 0
        nearness = (fits * _NEARNESS).max(axis=0).astype(np.int64)
        found = np.where(nearness > 0, MOST_SHARED + 1 - nearness, 0)
        released = np.where(found > 0, release[at + MOST_SHARED - found], told[at])
        changed = at[released != release[at + MOST_SHARED]]
        release[at + MOST_SHARED], shared[at] = released, found
        if not len(changed):
            break
        is_due[changed[:, None] + _FOLLOWERS] = True
        begin, stop = changed[0] + 1, changed[-1] + MOST_SHARED + 1
        at = begin + np.flatnonzero(is_due[begin:stop])
        is_due[begin:stop] = False
        at = at[at < len(onset)]
    return np.where(shared > 0, FIRST_SHARED + shared - 1, plain)


_FOLLOWERS = np.arange(1, MOST_SHARED + 1)
_SOURCES = (MOST_SHARED - _FOLLOWERS)[:, None]
"""From a note to those 1 … 8 before it, in an array with eight more notes before the first."""
_NEARNESS = (MOST_SHARED + 1 - _FOLLOWERS).astype(np.uint8)[:, None]


def find_releases(
    onset: np.ndarray, length_id: np.ndarray, earlier: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return each note's release, and whether it had to be mended.

    A note that shares the release of one that there is not, or that no longer sounds, is given
    0.2 s.

    Args:
        onset: (N,) int64 steps.
        length_id: (N,) int64, FIRST_LENGTH and more.
        earlier: Releases of the last notes before these, the latest last.

    Returns:
        (N,) int64 steps; (N,) bool.
    """
    n_earlier = len(earlier)
    shared = np.maximum(length_id - FIRST_SHARED + 1, 0)
    told = onset + LENGTHS[np.where(shared > 0, MENDED_LENGTH, length_id) - FIRST_LENGTH]
    every = np.concatenate([earlier, told])
    source = np.arange(len(every))
    source[n_earlier:] -= shared
    source = np.maximum(source, -1)
    # Each note's source points at another's, until all point at one that was told.
    is_lost = source < 0
    source[is_lost] = np.flatnonzero(is_lost)
    while not np.array_equal(further := source[source], source):
        source = further
    release = every[source][n_earlier:]
    mended = (shared > 0) & (is_lost[n_earlier:] | (release <= onset))
    if mended.any():
        return _find_one_by_one(onset, shared, told, earlier)
    return release, mended


def _find_one_by_one(
    onset: np.ndarray, shared: np.ndarray, told: np.ndarray, earlier: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """`find_releases` where a note was mended, which those that share its release hear of."""
    releases = earlier.tolist()
    mended = np.zeros(len(onset), dtype=bool)
    for row, (now, n, own) in enumerate(
        zip(onset.tolist(), shared.tolist(), told.tolist(), strict=True)
    ):
        release = own
        if n > len(releases) or (n and releases[-n] <= now):
            mended[row] = True
        elif n:
            release = releases[-n]
        releases.append(release)
    return np.array(releases[len(earlier) :], dtype=np.int64), mended
