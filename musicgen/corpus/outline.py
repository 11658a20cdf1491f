"""Fingerprints of music that transposing, stretching and loose playing leave as they are.

Chords are never struck at once, so the order of notes says little. What stays is the outline: a
note belongs to the upper line if no higher note begins within a short window around it, to the
lower line if no lower one does (the "skyline" of Uitdenbogerd and Zobel, "Melodic matching
techniques for large music databases", ACM Multimedia 1999, with a window in place of equal onsets).
Two notes of a line lie a window or more apart, so their order is safe. A fingerprint is a hash of
the intervals of G successive notes of one line (n-grams as in Doraisamy and Rüger, "Robust
polyphonic music retrieval with n-grams", J. Intelligent Information Systems 21, 2003).

Legend: N notes, M notes of a line, F fingerprints, G notes a fingerprint.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

UPPER, LOWER = 1, -1
_FEWEST_INTERVALS = 3
"""Different intervals, octaves not counted, that a fingerprint must have: trills, repeated notes,
octaves in whatever rhythm, chromatic and whole-tone scales belong to everybody."""
_CHUNK = 4096


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fingerprints:
    """Fingerprints of one piece.

    Attributes:
        hashes: uint64 (F,).
        rows: Indices of the notes in the piece's table, ascending in each row, int64 (F, G).
    """

    hashes: NDArray[np.uint64]
    rows: NDArray[np.int64]


def outline(
    onset_s: NDArray[np.float64], pitch: NDArray[np.int64], *, window_s: float, line: int
) -> NDArray[np.int64]:
    """Return the indices (M,) of the notes of the upper or lower line.

    Args:
        onset_s: Ascending onsets (N,).
        pitch: Pitches (N,).
        window_s: A note stands out among those that begin less than this before or after it.
        line: `UPPER` or `LOWER`.
    """
    height = pitch * line
    stands_out = np.ones(len(pitch), dtype=bool)
    for step in range(1, len(pitch)):
        near = onset_s[step:] - onset_s[:-step] < window_s
        if not near.any():
            break
        stands_out[:-step] &= ~(near & (height[step:] > height[:-step]))
        # Of two equal ones the first.
        stands_out[step:] &= ~(near & (height[:-step] >= height[step:]))
    return np.flatnonzero(stands_out)


def fingerprints(
    onset_s: NDArray[np.float64],
    pitch: NDArray[np.int64],
    *,
    window_s: float,
    line: int,
    gram: int,
    spacing: int = 1,
) -> Fingerprints:
    """Return the fingerprints of a line.

    Args:
        onset_s: Ascending onsets (N,).
        pitch: Pitches (N,).
        window_s: See `outline`.
        line: `UPPER` or `LOWER`.
        gram: Notes a fingerprint, G.
        spacing: Of this many successive ones keep the least at least; 1 keeps all.
    """
    notes = outline(onset_s, pitch, window_s=window_s, line=line)
    if len(notes) < gram:
        return Fingerprints(
            hashes=np.zeros(0, dtype=np.uint64), rows=np.zeros((0, gram), dtype=np.int64)
        )
    intervals = np.lib.stride_tricks.sliding_window_view(np.diff(pitch[notes]), gram - 1)
    hashes = _hash(intervals, line)
    kept = _telling(intervals)
    if spacing > 1:
        kept &= winnow(np.where(kept, hashes, np.uint64(2**64 - 1)), spacing)
    rows = np.lib.stride_tricks.sliding_window_view(notes, gram)
    return Fingerprints(hashes=hashes[kept], rows=rows[kept])


def winnow(hashes: NDArray[np.uint64], spacing: int) -> NDArray[np.bool_]:
    """Choose the least hash of every window of `spacing`, the last of equals.

    What is chosen depends on the hashes nearby only, so two copies choose alike, and from any run
    of `spacing` one at least is chosen: a shared run of G + spacing − 1 notes is always found.
    Source: Schleimer, Wilkerson, Aiken, "Winnowing", SIGMOD 2003.

    Args:
        hashes: uint64 (F,).
        spacing: Length of the windows, at least 1.

    Returns:
        Which are chosen, bool (F,).
    """
    chosen = np.zeros(len(hashes), dtype=bool)
    spacing = min(spacing, len(hashes))
    if not spacing:
        return chosen
    windows = np.lib.stride_tricks.sliding_window_view(hashes, spacing)
    for first in range(0, len(windows), _CHUNK):
        part = windows[first : first + _CHUNK, ::-1]
        last_least = spacing - 1 - part.argmin(axis=1)
        chosen[first + np.arange(len(part)) + last_least] = True
    return chosen


def shingles_of_line(
    pitch: NDArray[np.int64], rhythm: NDArray[np.int64], *, line: int, gram: int
) -> NDArray[np.uint64]:
    """Return hashes of the intervals and the rhythm of every G successive notes of a line (F,).

    Args:
        pitch: Pitches of the line's notes (M,), G at least.
        rhythm: A small number for each pair of successive gaps (M − 2,).
        line: `UPPER` or `LOWER`.
        gram: Notes a shingle, G.
    """
    windows = np.lib.stride_tricks.sliding_window_view
    intervals = windows(np.diff(pitch), gram - 1)
    mixed = _hash(intervals, line)
    for column in windows(rhythm, gram - 2).T:
        mixed = scramble(mixed * np.uint64(257) + column.astype(np.uint64) + np.uint64(1))
    return mixed[_telling(intervals)]


def _hash(intervals: NDArray[np.int64], line: int) -> NDArray[np.uint64]:
    """Mix rows of intervals (F, G − 1) and the line into one number each (F,)."""
    digits = (intervals + 128).astype(np.uint64)
    mixed = np.full(len(digits), 1 if line == UPPER else 2, dtype=np.uint64)
    for column in digits.T:
        mixed = scramble(mixed * np.uint64(257) + column)
    return mixed


def scramble(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return 64 well-mixed bits for each value (the finalizer of MurmurHash3)."""
    values = (values ^ (values >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    values = (values ^ (values >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return values ^ (values >> np.uint64(33))


def _telling(intervals: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which rows (F, G − 1) hold enough different intervals."""
    ordered = np.sort(intervals % 12, axis=1)
    return 1 + (np.diff(ordered, axis=1) != 0).sum(axis=1) >= _FEWEST_INTERVALS
