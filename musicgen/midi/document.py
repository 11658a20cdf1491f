"""What reading a MIDI file gives, and how much of one is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symusic.core import ScoreTick as Score


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLimits:
    """What one file may cost. The defaults take every piece of music we have met.

    Attributes:
        max_bytes: Size of the file, and of what a compressed file may unpack to.
        max_tracks: Tracks with events in them.
        max_events: Events of all tracks together.
        max_notes: Notes of all tracks together.
        max_seconds: From the start to the end of the last note.
    """

    max_bytes: int = 8 * 2**20
    max_tracks: int = 65_535
    max_events: int = 2_000_000
    max_notes: int = 200_000
    max_seconds: float = 26 * 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MidiWarning:
    """Something that was repaired or left out: a short code and a sentence."""

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MidiDocument:
    """A MIDI file that was read.

    Attributes:
        name: The file's name, printable, for messages; never a path.
        score: The music, in ticks.
        data: The same music as a plain MIDI file that every reader takes: the file's own bytes
            where nothing had to be repaired.
        warnings: What was repaired.
        source_sha256: SHA-256 of the bytes that were read, in hexadecimal.
    """

    name: str
    score: Score
    data: bytes = field(repr=False)
    warnings: tuple[MidiWarning, ...] = ()
    source_sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackFacts:
    """One instrument of a file; `program` counts from 0 as the file does."""

    name: str
    program: int
    is_drum: bool
    notes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MidiFacts:
    """What a file holds: the number of notes, the first note's start and the last note's end."""

    notes: int
    first_s: float
    end_s: float
    tracks: tuple[TrackFacts, ...]
    warnings: tuple[str, ...]
