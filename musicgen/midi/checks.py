"""Events that are well-formed and still mean nothing: left out, so that every reader copes.

Shapes: E events.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from musicgen.midi.events import META, Events, Row
from musicgen.midi.refusals import refuse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from musicgen.midi.decode import Repairs

TEMPO, TIME_SIGNATURE, KEY_SIGNATURE = 0x51, 0x58, 0x59
PORT = 0x21
SMPTE_OFFSET = 0x54
# Bytes that each meta event must have; −1 where any number will do.
_META_SIZE = np.full(128, -1)
_META_SIZE[[0x00, 0x20, PORT, TEMPO, SMPTE_OFFSET, TIME_SIGNATURE, KEY_SIGNATURE]] = (
    2,
    1,
    1,
    3,
    5,
    4,
    2,
)
MAX_TICK = 2**31 - 1  # what readers hold in 32 bits
_MAX_POWER = 7  # of 2, in a time signature's denominator
_FASTEST_US = 10_000  # a quarter note at 6000 bpm: faster is no tempo that anybody meant
_MANY_SIGNATURES = 200


def check_meta(events: Events, repairs: Repairs) -> Events:
    """Leave out meta events of a wrong length or range, and system events that break readers.

    Raises:
        MidiReadError: The only tempo of the start is 0, so there is no time.
    """
    everything, at = events, np.flatnonzero(events.status >= 0xF0)
    events = everything.select(at)
    is_meta = events.status == META
    kind = np.where(is_meta, events.data1, 0)
    due = np.where(is_meta, _META_SIZE[kind], -1)
    bad = (due >= 0) & (events.end - events.begin != due)
    pool = np.frombuffer(events.pool, dtype=np.uint8)
    bad |= _bad_tempos(events, bad, pool, repairs)
    for what, code, find in (
        ("time signatures", "time-signature", _bad_time_signatures),
        ("key signatures", "key-signature", _bad_key_signatures),
    ):
        found = find(events, bad, pool)
        if found.any():
            repairs.warn(code, f"{found.sum()} impossible {what} were left out.")
        bad |= found
    _warn_of_odd_signatures(events, bad, pool, repairs)
    bad |= events.is_meta(0x20) & ~bad & (_byte(events, pool, 0) > 15)
    bad |= _bad_offsets(events, bad, pool)
    bad |= _foreign_bytes(events)
    if not bad.any():
        return everything
    repairs.rewrite = True
    keep = np.ones(len(everything), dtype=bool)
    keep[at[bad]] = False
    return everything.select(keep)


def fix_frame_time(events: Events, quarter_us: int) -> Events:
    """Put the one tempo that makes a frame-based file's ticks last as they should in front."""
    if not quarter_us:
        return events
    tempo = Row(track=0, tick=0, status=META, data1=TEMPO, payload=quarter_us.to_bytes(3, "big"))
    return events.select(~events.is_meta(TEMPO)).insert([tempo])


def tempos(events: Events) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ticks of all tempo events and their microseconds a quarter note."""
    at = np.flatnonzero(events.is_meta(TEMPO))
    events = events.select(at)
    return events.tick, _three_bytes(events, np.frombuffer(events.pool, dtype=np.uint8))


def _byte(events: Events, pool: NDArray[np.uint8], offset: int) -> NDArray[np.int64]:
    return pool.take(events.begin + offset, mode="clip").astype(np.int64)


def _three_bytes(events: Events, pool: NDArray[np.uint8]) -> NDArray[np.int64]:
    return _byte(events, pool, 0) << 16 | _byte(events, pool, 1) << 8 | _byte(events, pool, 2)


def _bad_tempos(
    events: Events, bad: NDArray[np.bool_], pool: NDArray[np.uint8], repairs: Repairs
) -> NDArray[np.bool_]:
    is_tempo = events.is_meta(TEMPO)
    quarter_us = _three_bytes(events, pool)
    sized = is_tempo & ~bad
    zero = sized & (quarter_us == 0)
    at_start = sized & (events.tick == 0)
    if (zero & at_start).any() and not (at_start & ~zero).any():
        raise refuse(
            "midi-tempo",
            "The MIDI file's tempo is 0 microseconds a quarter note, so that all times collapse; "
            "1 to 16777215 are allowed.",
        )
    wrong = zero | (is_tempo & bad)
    if wrong.any():
        repairs.warn("tempo", f"{wrong.sum()} impossible tempo events were left out.")
    if (sized & ~zero & (quarter_us < _FASTEST_US)).any():
        repairs.tell("tempo-extreme", f"A tempo is faster than {60_000_000 // _FASTEST_US} bpm.")
    return zero


def _bad_time_signatures(
    events: Events, bad: NDArray[np.bool_], pool: NDArray[np.uint8]
) -> NDArray[np.bool_]:
    impossible = (_byte(events, pool, 0) == 0) | (_byte(events, pool, 1) > _MAX_POWER)
    return events.is_meta(TIME_SIGNATURE) & (bad | impossible)


def _bad_key_signatures(
    events: Events, bad: NDArray[np.bool_], pool: NDArray[np.uint8]
) -> NDArray[np.bool_]:
    sharps = (_byte(events, pool, 0) + 128) % 256 - 128
    impossible = (np.abs(sharps) > 7) | (_byte(events, pool, 1) > 1)
    return events.is_meta(KEY_SIGNATURE) & (bad | impossible)


def _bad_offsets(
    events: Events, bad: NDArray[np.bool_], pool: NDArray[np.uint8]
) -> NDArray[np.bool_]:
    """Which SMPTE offsets are no time of day: strict readers give up at them."""
    offset = events.is_meta(SMPTE_OFFSET) & ~bad
    past = _byte(events, pool, 0) > 0x7F
    for place, highest in enumerate((23, 59, 59, 29, 99)):
        field = _byte(events, pool, place)
        past |= (field & 0x1F if place == 0 else field) > highest
    return offset & past


def _warn_of_odd_signatures(
    events: Events, bad: NDArray[np.bool_], pool: NDArray[np.uint8], repairs: Repairs
) -> None:
    kept = np.flatnonzero(events.is_meta(TIME_SIGNATURE) & ~bad)
    if (_byte(events, pool, 0)[kept] > 64).any():
        repairs.tell("time-signature-odd", "A time signature has more than 64 beats a bar.")
    if len(kept) > _MANY_SIGNATURES:
        between = np.diff(np.sort(events.tick[kept]))
        if (between < events.division).mean() > 0.5:
            repairs.tell(
                "time-signatures-many", f"{len(kept)} time signatures, most less than a beat apart."
            )


def _foreign_bytes(events: Events) -> NDArray[np.bool_]:
    """Which system exclusive events hold bytes above 127, at which strict readers give up.

    They carry no notes.
    """
    sysex = np.flatnonzero(events.status != META)
    foreign = np.zeros(len(events), dtype=bool)
    for i in sysex.tolist():
        payload = events.payload(i)
        body = payload[:-1] if payload.endswith(b"\xf7") else payload
        foreign[i] = not body.isascii()
    return foreign


def check_times(events: Events, repairs: Repairs) -> Events:
    """Leave out what stands past the last tick that readers can hold.

    Raises:
        MidiReadError: A note stands there.
    """
    if not len(events) or max(events.tick.max(), events.end_ticks.max()) <= MAX_TICK:
        return events
    late = events.tick > MAX_TICK
    if (late & events.starts()).any():
        raise refuse(
            "midi-too-long",
            f"The MIDI file is too long: its delta times sum to {int(events.tick.max()):,} ticks, "
            f"and a duration of {MAX_TICK:,} is the limit.",
        )
    repairs.warn(
        "late-events", "Events after the longest time that MIDI readers hold were left out."
    )
    events = events.select(~late)
    return replace(events, end_ticks=np.minimum(events.end_ticks, MAX_TICK))
