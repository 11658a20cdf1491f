"""All events of a file as columns, and back to bytes.

Shapes: E events, K tracks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from musicgen.midi.scan import END_OF_TRACK, MESSAGE_SIZE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

META = 0xFF
MAX_DELTA = 2**28 - 1  # the longest a file can write
_SIZES = np.frombuffer(MESSAGE_SIZE, dtype=np.uint8)
_COLUMNS = ("track", "tick", "status", "data1", "data2", "begin", "end")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Events:
    """The events of a file, track after track, in the order of the file; ends of track apart.

    Attributes:
        division: Ticks a quarter note.
        pool: Bytes in which the texts and other payloads stand.
        end_ticks: Where each track ends, int64 (K,).
        track: Each event's track, ascending, int32 (E,).
        tick: Its time, ascending within a track, int64 (E,).
        status: Its status byte: 0xFF for meta events, 0xF0 and 0xF7 for system exclusive ones,
            uint8 (E,).
        data1: First data byte, or the type of a meta event, uint8 (E,).
        data2: Second data byte, or 0, uint8 (E,).
        begin: Where the payload of a meta or system exclusive event begins in `pool`, int32 (E,).
        end: Where it ends; equal to `begin` for channel events, int32 (E,).
    """

    division: int
    pool: bytes
    end_ticks: NDArray[np.int64]
    track: NDArray[np.int32]
    tick: NDArray[np.int64]
    status: NDArray[np.uint8]
    data1: NDArray[np.uint8]
    data2: NDArray[np.uint8]
    begin: NDArray[np.int32]
    end: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.tick)

    @property
    def channel(self) -> NDArray[np.int16]:
        """The channel, −1 for meta and system events, int16 (E,)."""
        return np.where(self.status < 0xF0, (self.status & 0x0F).astype(np.int16), np.int16(-1))

    def is_meta(self, kind: int) -> NDArray[np.bool_]:
        """Which events are meta events of type `kind`, (E,)."""
        return (self.status == META) & (self.data1 == kind)

    def is_message(self, high: int) -> NDArray[np.bool_]:
        """Which events are channel messages with the status 0x`high`0 on any channel, (E,)."""
        return self.status >> 4 == high

    def starts(self) -> NDArray[np.bool_]:
        """Which events start a note, (E,)."""
        return (self.status >> 4 == 9) & (self.data2 > 0)

    def stops(self) -> NDArray[np.bool_]:
        """Which events end a note, (E,)."""
        return (self.status >> 4 == 8) | ((self.status >> 4 == 9) & (self.data2 == 0))

    def payload(self, index: int) -> bytes:
        """Return the bytes of a meta or system exclusive event."""
        return self.pool[self.begin[index] : self.end[index]]

    def select(self, mask: NDArray[np.bool_] | NDArray[np.int64]) -> Events:
        """Return the events that a mask, or ascending indices, keep."""
        kept = (
            np.flatnonzero(mask) if mask.dtype == bool else mask
        )  # taking is quicker than masking
        return replace(self, **{name: getattr(self, name).take(kept) for name in _COLUMNS})

    def insert(self, rows: Sequence[Row], *, first: bool = True) -> Events:
        """Return the events with `rows` among them.

        Args:
            rows: New events, in the order in which they are to stand at one tick of one track.
            first: Whether they come before or after what already stands at their tick.
        """
        if not rows:
            return self
        sizes = np.array([len(row.payload) for row in rows])
        end = len(self.pool) + np.cumsum(sizes)
        columns = {name: [getattr(row, name) for row in rows] for name in _COLUMNS[:5]}
        columns |= {"begin": end - sizes, "end": end}
        both = {
            name: np.append(getattr(self, name), np.array(values, dtype=getattr(self, name).dtype))
            for name, values in columns.items()
        }
        new = np.arange(len(self) + len(rows)) >= len(self)
        order = np.lexsort((new ^ first, both["tick"], both["track"]))
        ends = self.end_ticks.copy()
        np.maximum.at(ends, both["track"][new], both["tick"][new])
        pool = self.pool + b"".join(row.payload for row in rows)
        columns = {name: values[order] for name, values in both.items()}
        return replace(self, pool=pool, end_ticks=ends, **columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One event to insert."""

    track: int
    tick: int
    status: int
    data1: int
    data2: int = 0
    payload: bytes = b""


def empty_events(*, division: int, tracks: int) -> Events:
    """Return the events of a file in which nothing happens yet."""
    small, wide = np.zeros(0, dtype=np.uint8), np.zeros(0, dtype=np.int32)
    return Events(
        division=division,
        pool=b"",
        end_ticks=np.zeros(tracks, dtype=np.int64),
        track=wide,
        tick=np.zeros(0, dtype=np.int64),
        status=small,
        data1=small,
        data2=small,
        begin=wide,
        end=wide,
    )


def to_bytes(events: Events) -> bytes:
    """Return the events as a standard MIDI file: type 0 if there is one track, otherwise type 1.

    Raises:
        ValueError: The division or a time is out of what a file can say.
    """
    if not 0 < events.division < 0x8000:
        raise ValueError(f"the division must be 1 to 32767, not {events.division}")
    n_tracks = len(events.end_ticks)
    ends = [
        Row(track=track, tick=int(tick), status=META, data1=END_OF_TRACK)
        for track, tick in enumerate(events.end_ticks)
    ]
    events = _bridge_long_gaps(events.insert(ends, first=False))
    delta = _deltas(events)
    if len(delta) and delta.min() < 0:
        raise ValueError("a track's events must be in the order of their ticks")
    delta_size = _quantity_sizes(delta)
    payload = events.end - events.begin
    is_blob = events.status >= 0xF0
    message_size = _SIZES[events.status].astype(np.int64)
    head = np.where(events.status == META, 2, 1)
    size = delta_size + np.where(is_blob, head + _quantity_sizes(payload) + payload, message_size)
    chunk = np.bincount(events.track, weights=size, minlength=n_tracks).astype(np.int64)
    out = np.zeros(14 + 8 * n_tracks + int(size.sum()), dtype=np.uint8)
    at = 14 + 8 * (events.track + 1) + np.cumsum(size) - size

    _put_quantity(out, at, delta)
    at = at + delta_size
    out[at] = events.status
    one = is_blob & (events.status == META) | ~is_blob
    out[at[one] + 1] = events.data1[one]
    two = message_size == 3
    out[at[two] + 2] = events.data2[two]
    at = (at + head)[is_blob]
    payload, source = payload[is_blob], events.begin[is_blob]
    _put_quantity(out, at, payload)
    at = at + _quantity_sizes(payload)
    within = np.arange(int(payload.sum())) - np.repeat(np.cumsum(payload) - payload, payload)
    pool = np.frombuffer(events.pool, dtype=np.uint8)
    out[np.repeat(at, payload) + within] = pool[np.repeat(source, payload) + within]

    data = bytearray(out.tobytes())
    kind = 0 if n_tracks == 1 else 1
    data[:14] = b"MThd\0\0\0\6" + b"".join(
        n.to_bytes(2, "big") for n in (kind, n_tracks, events.division)
    )
    begin = 14
    for length in chunk.tolist():
        data[begin : begin + 8] = b"MTrk" + length.to_bytes(4, "big")
        begin += 8 + length
    return bytes(data)


def _deltas(events: Events) -> NDArray[np.int64]:
    same_track = np.concatenate(([False], events.track[1:] == events.track[:-1]))
    before = np.concatenate(([0], events.tick[:-1]))
    return events.tick - np.where(same_track, before, 0)


def _bridge_long_gaps(events: Events) -> Events:
    """Break gaps that no delta can express with empty texts."""
    while True:
        delta = _deltas(events)
        wide = np.flatnonzero(delta > MAX_DELTA)
        if not len(wide):
            return events
        rows = [
            Row(
                track=int(events.track[i]),
                tick=int(events.tick[i] - delta[i]) + MAX_DELTA,
                status=META,
                data1=1,
            )
            for i in wide
        ]
        events = events.insert(rows)


def _quantity_sizes(values: NDArray[np.int64]) -> NDArray[np.int64]:
    return 1 + (values >= 1 << 7) + (values >= 1 << 14) + (values >= 1 << 21)


def _put_quantity(out: NDArray[np.uint8], at: NDArray[np.int64], values: NDArray[np.int64]) -> None:
    size = _quantity_sizes(values)
    for digit in range(4):
        has = size > digit
        bits = values[has] >> 7 * digit & 0x7F
        out[at[has] + size[has] - 1 - digit] = bits | (0x80 if digit else 0)
