"""Limits: nothing foreign may cost more time or memory than its size warrants."""

from __future__ import annotations

import contextlib
import struct
import time
import tracemalloc

import pytest

from musicgen.errors import MidiReadError
from musicgen.midi import ReadLimits, describe, read_midi


def one_track(body: bytes) -> bytes:
    body += b"\x00\xff\x2f\x00"
    return b"MThd\0\0\0\6\0\0\0\1\x01\xe0MTrk" + struct.pack(">I", len(body)) + body


NOTE = b"\x00\x90\x3c\x40\x01\x80\x3c\x40"


@pytest.mark.parametrize(
    ("limits", "body", "word"),
    [
        (ReadLimits(max_notes=9), NOTE * 10, "10 notes"),
        (ReadLimits(max_events=9), NOTE * 10, "events"),
        (ReadLimits(max_bytes=99), NOTE * 20, "bytes"),
        (ReadLimits(max_seconds=0.001), NOTE * 10, "hours"),
    ],
)
def test_each_limit_names_itself_and_the_value_met(
    limits: ReadLimits, body: bytes, word: str
) -> None:
    with pytest.raises(MidiReadError, match=word) as refusal:
        read_midi(one_track(body), limits=limits)
    assert "limit" in refusal.value.message


@pytest.mark.parametrize(
    "body",
    [
        b"\x00\x90\x3c\x40" * 20_000 + b"\x00\x80\x3c\x40" * 20_000,  # nested starts
        b"\x00\x90\x3c\x40" * 20_000,  # starts that nothing ends
        b"\xff" * 1_000_000,  # a delta without end
        b"\x00\xf8" * 500_000 + NOTE,  # clock ticks
        b"\x00\xff\x01\x02\xe9\xe8" * 30_000 + NOTE,  # texts in an unknown encoding
        b"\x01\xff\x51\x03\x00\x00\x00" * 30_000 + NOTE,  # tempi of 0
        b"\x00\xb0\x07\xff" * 30_000 + NOTE,  # controllers above 127
    ],
    ids=["nested", "unended", "delta", "clock", "texts", "tempi", "controllers"],
)
def test_floods_are_answered_quickly_and_in_little_memory(body: bytes) -> None:
    data = one_track(body)
    tracemalloc.start()
    began = time.thread_time()
    with contextlib.suppress(MidiReadError):  # some are refused: what counts is how soon
        describe(read_midi(data))
    took = time.thread_time() - began
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert took < 5
    assert peak < 150 * 2**20


def test_thousands_of_tracks_are_no_trouble() -> None:
    # readers with an array of fixed size overflowed here
    track = one_track(NOTE)[14:]
    data = b"MThd\0\0\0\6" + struct.pack(">HHH", 1, 3000, 480) + track * 3000
    assert describe(read_midi(data)).notes == 3000


def test_thousands_of_broken_tracks_are_told_in_a_few_sentences() -> None:
    # each empty chunk had a warning of its own, and all of them stood in a take's report
    data = one_track(NOTE) + b"MTrk\0\0\0\0" * 5000
    assert len(read_midi(data).warnings) < 50


def test_reading_has_no_memory() -> None:
    # a reader kept the first file's tempi for the second
    slow = one_track(b"\x00\xff\x51\x03\x0f\x42\x40" + NOTE * 9)
    first, other, again = (describe(read_midi(data)) for data in (slow, one_track(NOTE * 9), slow))
    assert first == again != other
