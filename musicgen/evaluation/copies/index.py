"""The fingerprints of a corpus, ready to be asked.

Legend: E entries, F fingerprints of a piece that is asked about.

An entry tells where in the corpus a fingerprint stands. Its pitch and its duration are sealed: only
who has the fingerprint's notes can open them. Inner voices, lengths and velocities are nowhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

HASH_BITS = 24
TIME_S = 0.01
_SHORTEST_S, _STEPS_AN_OCTAVE = 0.02, 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Yardstick:
    """The longest passages that music held out from training shares with it.

    Attributes:
        excerpt_s: Length of the excerpts that were checked.
        excerpts: How many.
        notes_50: Shared notes of the median excerpt's longest passage.
        notes_95: Of the excerpt that 95% do not surpass.
        notes_max: Of the one that shares most.
        seconds_50: Length of the longest passage in the median excerpt.
        seconds_95: In the excerpt that 95% do not surpass.
        seconds_max: The longest of all.
    """

    excerpt_s: float
    excerpts: int
    notes_50: float
    notes_95: float
    notes_max: int
    seconds_50: float
    seconds_95: float
    seconds_max: float

    def __post_init__(self) -> None:
        """Check the length, of which a logarithm is taken.

        Raises:
            ValueError: It is no length.
        """
        if not 0 < self.excerpt_s < 1e6:
            raise ValueError(f"excerpt_s is {self.excerpt_s}; it must lie above 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class CopySettings:
    """How fingerprints are taken; part of the index, so that takes are read alike.

    Attributes:
        window_s: See `outline`.
        gram: Notes a fingerprint.
        spacing: See `winnow`.
        most_places: A fingerprint that stands in more places is common stock and left out.
    """

    window_s: float = 0.05
    gram: int = 7
    spacing: int = 7
    most_places: int = 64

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: A value is out of its range.
        """
        if not 0.001 <= self.window_s <= 1:
            raise ValueError(f"window_s is {self.window_s}; it must lie within 0.001 and 1")
        for name, low, high in (("gram", 4, 64), ("spacing", 1, 64), ("most_places", 1, 65_535)):
            value = getattr(self, name)
            if not low <= value <= high:
                raise ValueError(f"{name} is {value}; it must lie within {low} and {high}")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CopyIndex:
    """Where the fingerprints of a corpus stand, sorted by piece and time.

    Attributes:
        settings: How fingerprints are taken.
        pieces: File names.
        counts: Entries of each piece, in their order.
        hashes: The upper `HASH_BITS` of each hash, uint32 (E,).
        times: Onset of the first note in units of `TIME_S` from the piece's begin, uint32 (E,).
        sealed_pitch: Its pitch, sealed, uint8 (E,).
        sealed_duration: From the first onset to the last, sealed, uint8 (E,).
        yardstick: What held-out music shares with the corpus, by length of excerpt.
    """

    settings: CopySettings
    pieces: tuple[str, ...]
    counts: tuple[int, ...]
    hashes: NDArray[np.uint32]
    times: NDArray[np.uint32]
    sealed_pitch: NDArray[np.uint8]
    sealed_duration: NDArray[np.uint8]
    yardstick: tuple[Yardstick, ...] = ()
    _order: NDArray[np.int64] = field(init=False, repr=False)
    _sorted: NDArray[np.uint32] = field(init=False, repr=False)
    _piece: NDArray[np.int64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Sort the hashes for look-ups.

        Raises:
            ValueError: The columns do not fit one another.
        """
        lengths = {
            len(column)
            for column in (self.hashes, self.times, self.sealed_pitch, self.sealed_duration)
        }
        if lengths != {sum(self.counts)} or len(self.counts) != len(self.pieces):
            raise ValueError("the columns of a copy index must have one row an entry")
        order = np.argsort(self.hashes, kind="stable")
        object.__setattr__(self, "_order", order)
        object.__setattr__(self, "_sorted", self.hashes[order])
        object.__setattr__(self, "_piece", np.repeat(np.arange(len(self.counts)), self.counts))

    def __len__(self) -> int:
        return len(self.hashes)

    def look_up(self, hashes: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the pairs of fingerprint and entry that agree, as two columns of indices.

        Args:
            hashes: Whole hashes, uint64 (F,).
        """
        wanted = shorten(hashes)
        first = np.searchsorted(self._sorted, wanted, side="left")
        places = np.searchsorted(self._sorted, wanted, side="right") - first
        asked = np.repeat(np.arange(len(wanted)), places)
        within = np.arange(places.sum()) - np.repeat(np.cumsum(places) - places, places)
        return asked, self._order[np.repeat(first, places) + within]

    def piece_of(self, entries: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the index of each entry's piece."""
        return self._piece[entries]

    def seconds_of(self, entries: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return where in its piece each entry stands, in seconds."""
        return self.times[entries].astype(np.float64) * TIME_S

    def pitch_of(self, entries: NDArray[np.int64], hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Open the pitches of entries with the hashes that found them."""
        return ((self.sealed_pitch[entries] - pitch_seal(hashes)) & np.uint8(127)).astype(np.int64)

    def duration_of(
        self, entries: NDArray[np.int64], hashes: NDArray[np.uint64]
    ) -> NDArray[np.float64]:
        """Open the durations of entries with the hashes that found them, in seconds."""
        steps = (self.sealed_duration[entries] - duration_seal(hashes)).astype(np.float64)
        return (_SHORTEST_S * np.exp2(steps / _STEPS_AN_OCTAVE)).astype(np.float64)


def shorten(hashes: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Return the bits of whole hashes that an index keeps."""
    return (hashes >> np.uint64(64 - HASH_BITS)).astype(np.uint32)


def pitch_seal(hashes: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Return what is added to pitches: bits of the hash that the index does not keep."""
    return ((hashes >> np.uint64(8)) & np.uint64(127)).astype(np.uint8)


def duration_seal(hashes: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Return what is added to durations."""
    return (hashes & np.uint64(255)).astype(np.uint8)


def duration_steps(seconds: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Return durations in steps of a sixteenth of an octave (4.4%)."""
    steps = np.rint(np.log2(np.maximum(seconds, _SHORTEST_S) / _SHORTEST_S) * _STEPS_AN_OCTAVE)
    return np.minimum(steps, 255).astype(np.uint8)
