"""What a piece of music is known by, whatever its name, tempo, key, tracks or dynamics.

A shingle is a hash of the intervals and the rhythm of five successive notes of the upper or the
lower line. Shared shingles tell twins: their share in the union is Jaccard's, which MinHash
estimates from one small row of numbers a piece (Broder, "On the resemblance and containment of
documents", SEQUENCES 1997), and a sample of the smallest hashes closely enough to decide.

Legend: N notes, M notes of a line, S shingles, P numbers of a MinHash, K shingles of a sample.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from musicgen.corpus.outline import LOWER, UPPER, outline, scramble, shingles_of_line

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from musicgen.midi import NoteTable

GRAM = 5
"""Notes a shingle."""
N_MINHASH, N_SAMPLE = 288, 512
_CHORD = 0.4
"""Onsets nearer than this share of the mean gap between the notes around them are one chord."""
_AROUND = 16  # notes on either side over which that mean is taken
_RHYTHM_STEPS = (-1.3, -0.8, -0.5, -0.2, 0.2, 0.5, 0.8, 1.3)
"""Octaves between a gap and the next: where one class of rhythm ends and another begins. They lie
between the ratios of written rhythms (1, 4:3, 3:2, 2, 3), so rounding seldom crosses one; and they
lie close enough to tell a copy from another performance of the same notes."""
_BLOCK = 16  # rows of the MinHash at a time: they stay in the processor's cache
_MILLISECONDS = 1000.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fingerprint:
    """The shingles of a piece in small.

    Attributes:
        minhash: The least of all shingles under each of P orders, uint32 (P,).
        sample: The smallest hashes, ascending: all of a small piece's, uint32 (K,).
        n_shingles: S, different shingles of the piece.
    """

    minhash: NDArray[np.uint32]
    sample: NDArray[np.uint32]
    n_shingles: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """How much two pieces share.

    Attributes:
        share: Of the shingles of both together (Jaccard).
        inside: Of the shingles of the one that has fewer.
        common: Shingles of the samples that agree.
    """

    share: float
    inside: float
    common: int


def fingerprint_of(onset: NDArray[np.float64], pitch: NDArray[np.int64]) -> Fingerprint:
    """Return the fingerprint of a piece; drums should be left out.

    Args:
        onset: When each note begins, ascending, in any unit: seconds as it is played, ticks as it
            is written (N,).
        pitch: The notes' pitches (N,).
    """
    shingles = _shingles(onset, pitch)
    ordered = np.unique(shingles >> np.uint64(32)).astype(np.uint32)
    return Fingerprint(
        minhash=_minhash(shingles), sample=ordered[:N_SAMPLE], n_shingles=len(shingles)
    )


def music_digest(notes: NoteTable) -> str:
    """Return a SHA-256 of what is played, to the millisecond; tracks and the start do not count."""
    start_s = notes.onset_s[0] if len(notes) else 0.0
    times = np.stack((notes.onset_s, notes.end_s)) - start_s
    onset, end = np.rint(times * _MILLISECONDS).astype(np.int64)
    order = np.lexsort((end, notes.velocity, notes.pitch, onset))
    rows = np.stack((onset, end, notes.pitch, notes.velocity), axis=1)[order]
    return hashlib.sha256(np.ascontiguousarray(rows, dtype="<i8").tobytes()).hexdigest()


def likeness(one: Fingerprint, other: Fingerprint) -> Likeness:
    """Compare two pieces by their samples: exactly where both are whole, else about ± 0.03."""
    first, second = one.sample, other.sample
    # Of a piece with more shingles than its sample holds, what lies above the sample is unknown.
    for known in (one, other):
        if known.n_shingles > len(known.sample) and len(known.sample):
            first, second = first[first <= known.sample[-1]], second[second <= known.sample[-1]]
    if not len(first) or not len(second):
        return Likeness(share=0.0, inside=0.0, common=0)
    common = len(np.intersect1d(first, second, assume_unique=True))
    union = len(first) + len(second) - common
    return Likeness(
        share=common / union, inside=common / min(len(first), len(second)), common=common
    )


def _shingles(onset: NDArray[np.float64], pitch: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the different shingles of both lines, ascending, uint64 (S,)."""
    # A note that two tracks play together is one.
    fresh = np.ones(len(pitch), dtype=bool)
    fresh[1:] = (np.diff(onset) != 0) | (np.diff(pitch) != 0)
    onset, pitch = onset[fresh], pitch[fresh]
    if len(pitch) < GRAM:
        return np.zeros(0, dtype=np.uint64)
    beats = _even_time(onset)
    parts = []
    for line in (UPPER, LOWER):
        rows = outline(beats, pitch, window_s=_CHORD, line=line)
        if len(rows) >= GRAM:
            parts.append(shingles_of_line(pitch[rows], _rhythm(onset[rows]), line=line, gram=GRAM))
    return np.unique(np.concatenate(parts)) if parts else np.zeros(0, dtype=np.uint64)


def _even_time(onset: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return onsets (N,) on a clock that no tempo changes: the notes around pass at one a unit.

    A fixed number of milliseconds would tell chords from runs otherwise at another tempo.
    """
    place = np.arange(len(onset))
    before = np.maximum(place - _AROUND, 0)
    after = np.minimum(place + _AROUND, len(onset) - 1)
    mean = (onset[after] - onset[before]) / (after - before)
    unit = np.maximum((mean[1:] + mean[:-1]) / 2, 1e-9)
    return np.concatenate(([0.0], np.cumsum(np.diff(onset) / unit)))


def _rhythm(onset: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return how each gap of a line (M,) compares with the one before, 0 to 8, int64 (M − 2,)."""
    gaps = np.maximum(np.diff(onset), 1e-9)
    return np.digitize(np.log2(gaps[1:] / gaps[:-1]), _RHYTHM_STEPS)


def _minhash(shingles: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Return the least of the shingles (S,) under each of P multiply-and-shift hashes."""
    least = np.full(N_MINHASH, 2**32 - 1, dtype=np.uint32)
    if not len(shingles):
        return least
    numbers = scramble(np.arange(1, 2 * N_MINHASH + 1, dtype=np.uint64))
    factors, offsets = numbers[:N_MINHASH] | np.uint64(1), numbers[N_MINHASH:]
    for first in range(0, N_MINHASH, _BLOCK):
        rows = slice(first, first + _BLOCK)
        hashes = shingles * factors[rows, None] + offsets[rows, None]
        least[rows] = hashes.min(axis=1) >> np.uint64(32)
    return least
