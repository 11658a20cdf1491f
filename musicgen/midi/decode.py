"""From the positions of events to their contents, with the bytes in them checked.

Shapes: E events, K tracks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from musicgen.midi.document import MidiWarning
from musicgen.midi.events import META, Events
from musicgen.midi.refusals import corrupt
from musicgen.midi.scan import END_OF_TRACK, MESSAGE_SIZE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from musicgen.midi.chunks import Layout

_SIZES = np.frombuffer(MESSAGE_SIZE, dtype=np.uint8)
_NAMES = {0x8: "a note-off", 0x9: "a note-on", 0xA: "an aftertouch", 0xB: "a controller"}
_NAMES |= {0xC: "a program", 0xD: "a channel pressure", 0xE: "a pitch bend"}


@dataclass(slots=True, kw_only=True)
class Repairs:
    """What was put right so far.

    Attributes:
        warnings: What the user is told.
        rewrite: The file's own bytes can no longer stand for its events.
    """

    warnings: list[MidiWarning] = field(default_factory=list)
    rewrite: bool = False

    def tell(self, code: str, message: str) -> None:
        """Note something odd that was left as it is."""
        self.warnings.append(MidiWarning(code=code, message=message))

    def warn(self, code: str, message: str) -> None:
        """Note a repair that changes what a reader sees."""
        self.tell(code, message)
        self.rewrite = True


def decode(layout: Layout, repairs: Repairs) -> Events:
    """Return the events of a file.

    Raises:
        MidiReadError: A byte stands where it cannot be read without guessing.
    """
    counts = [len(scan.begins) for scan in layout.tracks]
    begins = np.concatenate([np.frombuffer(scan.begins, np.int32) for scan in layout.tracks])
    track = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    data = np.frombuffer(layout.padded, dtype=np.uint8)
    delta, head = _quantities(data, begins)
    tick = np.cumsum(delta, dtype=np.int64)
    first = (np.cumsum(counts) - counts).astype(np.int32)
    if len(counts) > 1:
        tick -= np.concatenate(([0], tick))[first][track]

    status = data.take(head)
    own = status >= 0x80
    status = _with_running_status(status, own, track, first[track], begins, repairs)
    data_at = head + own
    size = _SIZES.take(status)
    data1, data2 = data.take(data_at), data.take(data_at + 1) * (size == 3)
    _check_data_bytes(status, data1, data2, track, data_at, repairs)

    begin, end = np.zeros_like(begins), np.zeros_like(begins)
    blob = np.flatnonzero((status == 0xF0) | (status == 0xF7) | (status == META))
    length, begin[blob] = _quantities(data, data_at[blob] + (status[blob] == META))
    end[blob] = begin[blob] + length
    end_ticks = np.array(
        [tick[stop - 1] if n else 0 for stop, n in zip(np.cumsum(counts), counts, strict=True)]
    )
    events = Events(
        division=layout.division,
        pool=layout.padded,
        end_ticks=end_ticks.astype(np.int64),
        track=track,
        tick=tick,
        status=status,
        data1=data1 * ((size > 0) | (status == META)),
        data2=data2,
        begin=begin,
        end=end,
    )
    return _without_strays(events, repairs)


def _without_strays(events: Events, repairs: Repairs) -> Events:
    """Leave out system messages, and the ends of track, which `end_ticks` holds."""
    stray = (events.status > 0xF0) & (events.status != META) & (events.status != 0xF7)
    if stray.any():
        repairs.warn(
            "system-message",
            f"{stray.sum()} system messages, which belong in no file, were left out.",
        )
    ends = events.is_meta(END_OF_TRACK)
    if (events.end[ends] > events.begin[ends]).any():
        repairs.rewrite = True
    return events.select(~(stray | ends))


def _quantities(
    data: NDArray[np.uint8], at: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the quantities that begin at positions `at`, and the positions after them."""
    digit = data.take(at)
    value, at = (digit & 0x7F).astype(np.int32), at + 1
    longer = np.flatnonzero(digit >= 0x80)
    while len(longer):
        digit = data.take(at[longer])
        value[longer] = value[longer] << 7 | (digit & 0x7F)
        at[longer] += 1
        longer = longer[digit >= 0x80]
    return value, at


def _with_running_status(
    status: NDArray[np.uint8],
    own: NDArray[np.bool_],
    track: NDArray[np.int32],
    first_of_track: NDArray[np.int32],
    begins: NDArray[np.int32],
    repairs: Repairs,
) -> NDArray[np.uint8]:
    """Fill in the status bytes that were left out because they repeat the one before, (E,)."""
    index = np.arange(len(status), dtype=np.int32)
    is_channel = own & (status < 0xF0)
    source = np.maximum.accumulate(np.where(is_channel, index, -1))
    orphan = ~own & (source < first_of_track)
    if orphan.any():
        at = int(np.argmax(orphan))
        raise corrupt(
            int(track[at]) + 1,
            int(begins[at]),
            "an event without a status byte, with none before it",
        )
    last_own = np.maximum.accumulate(np.where(own, index, -1))
    if (~own & (last_own > source)).any():
        repairs.warn(
            "running-status",
            "A status byte is left out after a meta or system event; the last one was used.",
        )
    return np.where(own, status, status.take(source))


def _check_data_bytes(
    status: NDArray[np.uint8],
    data1: NDArray[np.uint8],
    data2: NDArray[np.uint8],
    track: NDArray[np.int32],
    data_at: NDArray[np.int32],
    repairs: Repairs,
) -> None:
    """Clamp controllers' values above 127, in place; refuse any other data byte above 127."""
    is_channel = status < 0xF0
    high1, high2 = is_channel & (data1 > 0x7F), is_channel & (data2 > 0x7F)
    is_controller = status >> 4 == 0xB
    bad = high1 | (high2 & ~is_controller)
    if bad.any():
        i = int(np.argmax(bad))
        value, where = (data1[i], data_at[i]) if high1[i] else (data2[i], data_at[i] + 1)
        name = _NAMES[int(status[i]) >> 4]
        raise corrupt(
            int(track[i]) + 1,
            int(where),
            f"{name} event with the byte {value}, where 0 to 127 are allowed",
        )
    if high2.any():
        data2[high2] = 0x7F
        repairs.warn("controller-range", f"{high2.sum()} controllers above 127 were set to 127.")
