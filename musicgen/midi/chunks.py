"""The header and the tracks of a standard MIDI file, whatever its length fields claim."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from musicgen.midi.document import MidiWarning, ReadLimits
from musicgen.midi.refusals import refuse, too_much
from musicgen.midi.scan import PADDING, TrackScan, scan_track

TRACK = b"MTrk"
_HEADER_SIZE = 14
_MAX_HEADER = 1024  # room for what a later standard might add
_MAX_WARNINGS = 20  # sentences a person may still read; a flood of chunks would make thousands
_FRAME_RATES = {
    24: 24,
    25: 25,
    29: 30,
    30: 30,
}  # frames counted a second; 29 stands for 30 drop-frame


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A file taken apart.

    Attributes:
        padded: The file's bytes and `PADDING`.
        kind: 0 or 1, as the header says.
        division: Ticks a quarter note.
        quarter_us: For files that count frames (SMPTE): the one tempo that makes ticks last as they
            should, in microseconds a quarter note; otherwise 0.
        tracks: The tracks' events.
        warnings: What the header or the lengths got wrong.
        as_written: The file's chunks need no rewriting.
    """

    padded: bytes
    kind: int
    division: int
    quarter_us: int
    tracks: tuple[TrackScan, ...]
    warnings: tuple[MidiWarning, ...]
    as_written: bool


def take_apart(data: bytes, limits: ReadLimits) -> Layout:
    """Find the tracks of a file that begins with `MThd`, and their events.

    Raises:
        MidiReadError: Header or tracks are damaged, of an unknown type, or past a limit.
    """
    size = int.from_bytes(data[4:8], "big")
    if len(data) < _HEADER_SIZE:
        raise refuse(
            "midi-truncated", f"The MIDI file is truncated inside its header: {len(data)} bytes."
        )
    begin = 8 + size
    misled = data[_HEADER_SIZE : _HEADER_SIZE + 4] == TRACK and begin != _HEADER_SIZE
    if misled:
        begin = _HEADER_SIZE  # the tracks begin where they do in every file, whatever it says
    elif not 6 <= size <= _MAX_HEADER or begin > len(data):
        raise refuse(
            "midi-header",
            f"The MIDI header is corrupt: its length field says {size:,} bytes, where 6 are usual.",
        )
    kind, announced, division = (int.from_bytes(data[at : at + 2], "big") for at in (8, 10, 12))
    _check_kind(kind, announced)
    ticks, quarter_us = _check_division(division)
    walker = _Walker(data + PADDING, limits)
    if misled:
        walker.warn("header-length", f"The header's length field says {size:,} bytes; it has 6.")
    walker.run(begin)
    found = len(walker.tracks)
    if not found:
        raise refuse("midi-truncated", "The MIDI file is incomplete: it holds no track.")
    if announced != found:
        walker.warn("track-count", f"The header announces {announced} tracks; there are {found}.")
    elif kind == 0 and found > 1:
        walker.warn("type-0-tracks", f"A file of type 0 holds one track; this one holds {found}.")
    return Layout(
        padded=walker.data,
        kind=kind,
        division=ticks,
        quarter_us=quarter_us,
        tracks=tuple(walker.tracks),
        warnings=tuple(walker.warnings),
        as_written=walker.as_written
        and (size, kind) in ((6, 0), (6, 1))
        and not walker.warnings
        and not quarter_us,
    )


def _check_kind(kind: int, tracks: int) -> None:
    if kind == 2 and tracks > 1:
        raise refuse(
            "midi-type",
            "This is a MIDI file of type 2 (format 2): independent patterns, not one piece.",
            "Export the pattern you want as a file of type 0 or 1.",
        )
    if kind > 2:
        raise refuse(
            "midi-type",
            f"The MIDI file claims to be of type (format) {kind}; there are 0, 1 and 2.",
        )


def _check_division(division: int) -> tuple[int, int]:
    """Return ticks a quarter and, for frame-based files, microseconds a quarter."""
    if division == 0:
        raise refuse(
            "midi-division",
            "The MIDI file's division is 0 ticks a quarter note; 1 to 32767 are allowed.",
        )
    if division < 0x8000:
        return division, 0
    frame_rate, frame_ticks = 256 - (division >> 8), division & 0xFF
    frames = _FRAME_RATES.get(frame_rate)
    if frames is None or not frame_ticks:
        raise refuse(
            "midi-division",
            f"The MIDI file's division (time resolution) {division:#06x} names SMPTE time of "
            f"{frame_rate} frames a second with {frame_ticks} ticks a frame; 24, 25, 29 or 30 "
            "frames of 1 to 255 ticks are allowed.",
        )
    # One "quarter note" a second; 29 counts 30 frames in 1.001 s.
    return frames * frame_ticks, 1_001_000 if frame_rate == 29 else 1_000_000


class _Walker:
    """Goes from chunk to chunk, through wrong lengths and stray bytes."""

    def __init__(self, padded: bytes, limits: ReadLimits) -> None:
        self.data = padded
        self.size = len(padded) - len(PADDING)
        self.tracks: list[TrackScan] = []
        self.warnings: list[MidiWarning] = []
        self.as_written = True
        self._told: Counter[str] = Counter()
        self._limits = limits
        self._events = 0

    def warn(self, code: str, message: str) -> None:
        """Note what is wrong; of one kind no more than anybody would read."""
        self._told[code] += 1
        if self._told[code] <= _MAX_WARNINGS:
            self.warnings.append(MidiWarning(code=code, message=message))

    def run(self, at: int) -> None:
        """Collect the tracks from position `at` to the file's end."""
        while at + 8 <= self.size:
            length = int.from_bytes(self.data[at + 4 : at + 8], "big")
            if self.data[at : at + 4] == TRACK:
                at = self._track(at + 8, length)
            elif self._is_chunk(at):
                at += 8 + length  # of another kind: the standard asks to skip it
                self.as_written = False
            else:
                following = self.data.find(TRACK, at, self.size)
                if following < 0:
                    break
                self.warn("stray-bytes", f"{following - at} stray bytes at byte {at} were skipped.")
                at = following
        self.as_written = self.as_written and at == self.size

    def _track(self, begin: int, length: int) -> int:
        """Scan the track whose events begin at `begin`; return where the next chunk begins."""
        number = len(self.tracks) + 1
        end, limit = begin + length, begin + length
        if end > self.size:
            limit = self.size
        elif not (end == self.size or self._is_chunk(end) or self._ends_at(end)):
            following = self.data.find(TRACK, end, self.size)
            limit = self.size if following < 0 else following
        scan = scan_track(self.data, begin, limit, track=number, may_be_cut=end > self.size)
        self.tracks.append(scan)
        self._count(len(scan.begins))
        if scan.cut:
            self.warn(
                "truncated", f"Track {number} breaks off inside an event; what came before is kept."
            )
        elif not scan.ended:
            self.warn("no-end-of-track", f"Track {number} has no end of track.")
        if end == limit:
            if scan.stop < end:
                self.as_written = False
                if self.data[scan.stop : scan.stop + 4] == TRACK:
                    self.warn("track-length", f"Track {number} is shorter than it claims.")
                    return scan.stop
            return end
        if not scan.cut:
            self.warn(
                "track-length",
                f"Track {number} claims {length:,} bytes and holds {scan.stop - begin:,}.",
            )
        return scan.stop

    def _is_chunk(self, at: int) -> bool:
        """Whether a chunk with a believable name and length begins at `at`."""
        name = self.data[at : at + 4]
        length = int.from_bytes(self.data[at + 4 : at + 8], "big")
        return name == TRACK or (name.isalnum() and name.isascii() and at + 8 + length <= self.size)

    def _ends_at(self, end: int) -> bool:
        return self.data[end - 3 : end] == b"\xff\x2f\x00"

    def _count(self, events: int) -> None:
        self._events += events
        if len(self.tracks) > self._limits.max_tracks:
            raise too_much("tracks", len(self.tracks), self._limits.max_tracks)
        if self._events > self._limits.max_events:
            raise too_much("events", self._events, self._limits.max_events)
