"""Where each event of a track begins: the first look at foreign bytes."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

from musicgen.midi.refusals import corrupt

PADDING = bytes(
    16
)  # zeros after the file's bytes: an event's head may be read without bounds checks
MAX_STRAYS = 1000  # a track with more is noise
END_OF_TRACK = 0x2F

# Bytes of a channel message with its status byte; 0 for what is none.
MESSAGE_SIZE = bytes(
    0 if status < 0x80 or status >= 0xF0 else 2 if 0xC0 <= status < 0xE0 else 3
    for status in range(256)
)
_SYSTEM_SIZE = {
    0xF1: 1,
    0xF2: 2,
    0xF3: 1,
}  # data bytes of system messages, which no file should hold


@dataclass(slots=True, kw_only=True)
class TrackScan:
    """The events of one track, by the position of their first byte.

    Attributes:
        begins: Events, the end of track among them.
        stop: Position after the last event.
        ended: An end of track was met.
        cut: The last event is not whole; it is not among `begins`.
        strays: System messages met, which have no place in a file.
    """

    begins: array[int] = field(default_factory=lambda: array("i"))
    stop: int
    ended: bool = False
    cut: bool = False
    strays: int = 0


def scan_track(data: bytes, begin: int, limit: int, *, track: int, may_be_cut: bool) -> TrackScan:
    """Walk along the events between `begin` and `limit`, or to the end of track.

    This is the one loop that runs for every event of every file, so it only finds where events
    begin; what stands in them is checked on arrays, in `decode`.

    Args:
        data: The file's bytes and `PADDING`.
        begin: Position of the first event.
        limit: Position at which the track ends.
        track: Its number from 1, for messages.
        may_be_cut: The file ends before the track's announced end, so any event may be cut short.

    Raises:
        MidiReadError: An event is damaged in a way that leaves no doubt-free reading.
    """
    scan = TrackScan(stop=begin)
    add, sizes = scan.begins.append, MESSAGE_SIZE
    running_size = 2  # data bytes of an event that leans on the status byte before it
    at = after = begin
    while after < limit:
        at = after
        add(at)
        head = at + 1
        if data[at] > 0x7F:
            head = at + 2 if data[at + 1] < 0x80 else _after_delta(data, at, limit, track)
        status = data[head]
        if status < 0x80:
            after = head + running_size
        elif sizes[status]:
            after = head + sizes[status]
            running_size = sizes[status] - 1
        else:
            after = _after_system(data, head, limit, track, scan, may_be_cut)
            if scan.ended:
                break
    scan.cut = after > limit
    if scan.cut:
        scan.begins.pop()
    scan.stop = at if scan.cut else after
    return scan


def _after_delta(data: bytes, at: int, limit: int, track: int) -> int:
    """Return the position after a delta time of more than two bytes."""
    for head in range(at + 2, at + 4):
        if data[head] < 0x80:
            return head + 1
    if at + 4 < limit:
        raise corrupt(track, at, "a delta time of more than 4 bytes")
    return at + 4


def _after_system(
    data: bytes, head: int, limit: int, track: int, scan: TrackScan, may_be_cut: bool
) -> int:
    """Return the position after a meta event, a system exclusive or another system message."""
    status = data[head]
    if status not in (0xF0, 0xF7, 0xFF):
        scan.strays += 1
        if scan.strays > MAX_STRAYS:
            raise corrupt(
                track, head, f"more than {MAX_STRAYS} system messages, which belong in no file"
            )
        return head + 1 + _SYSTEM_SIZE.get(status, 0)
    is_meta = status == 0xFF
    at = head + 1 + is_meta
    if is_meta and data[head + 1] > 0x7F and at < limit:
        raise corrupt(
            track, head + 1, f"a meta event of type {data[head + 1]}, where 0 to 127 are allowed"
        )
    length = 0
    for digit in data[at : at + 4]:
        length = length << 7 | (digit & 0x7F)
        at += 1
        if digit < 0x80:
            break
    else:
        if at < limit:
            raise corrupt(track, at, "an event length of more than 4 bytes")
    after = at + length
    if after > limit and at <= limit and not may_be_cut:
        kind = "meta event" if is_meta else "sysex"
        raise corrupt(
            track, head, f"a {kind} of {length:,} bytes, longer than what is left of the track"
        )
    scan.ended = is_meta and data[head + 1] == END_OF_TRACK and after <= limit
    return after
