"""Hostile and odd files, built byte by byte: each must be read right, or refused with its cause.

Every row is one kind of trouble that readers have had; the bytes are written as hex with `|`
between events, so that a row can be read.
"""

from __future__ import annotations

import struct

import pytest

from musicgen.errors import EmptyScoreError, MidiReadError
from musicgen.midi import describe, note_table, read_midi

FOUR = (
    "00 90 3c 50|83 60 80 3c 40|00 90 3e 50|83 60 80 3e 40|"
    "00 90 40 50|83 60 80 40 40|00 90 41 50|83 60 80 41 40"
)
END = "|00 ff 2f 00"


def unhex(text: str) -> bytes:
    return bytes.fromhex(text.replace("|", " "))


def track(events: str, *, end: str = END, length: int | None = None) -> bytes:
    body = unhex(events + end)
    return b"MTrk" + struct.pack(">I", len(body) if length is None else length) + body


def smf(*chunks: bytes, kind: int = 1, division: int = 480, count: int | None = None) -> bytes:
    n = sum(chunk.startswith(b"MTrk") for chunk in chunks) if count is None else count
    return b"MThd" + struct.pack(">IHHH", 6, kind, n, division) + b"".join(chunks)


WHOLE = smf(track(FOUR))
# name: bytes, notes, first_s, end_s, warnings
READ = {
    "plain": (WHOLE, 4, 0, 2, ()),
    "running status and velocity 0": (
        smf(track("00 90 3c 50|83 60 3c 00|00 3e 50|83 60 3e 00")),
        2,
        0,
        1,
        (),
    ),
    "three data bytes in deltas": (
        smf(track("80 80 80 00 90 3c 50|80 80 83 60 80 3c 40")),
        1,
        0,
        0.5,
        (),
    ),
    "end without a start": (smf(track("00 80 3c 40|" + FOUR)), 4, 0, 2, ()),
    "ended twice": (
        smf(track("00 90 3c 50|83 60 80 3c 40|00 80 3c 40|00 90 3c 50|83 60 80 3c 40")),
        2,
        0,
        1,
        (),
    ),
    "same pitch twice": (
        smf(track("00 90 3c 50|81 70 90 3c 50|81 70 80 3c 40|81 70 80 3c 40")),
        2,
        0,
        0.75,
        (),
    ),
    "doubled at one instant, ended once": (
        smf(track("00 90 3c 50|00 90 3c 64|83 60 80 3c 40")),
        1,
        0,
        0.5,
        ("unended-notes",),
    ),
    "no length, then a real one": (
        smf(track("00 90 3c 50|00 80 3c 40|83 60 90 3c 50|83 60 80 3c 40")),
        1,
        0.5,
        1,
        (),
    ),
    "start before end at one tick": (
        smf(track("00 90 3c 50|83 60 90 3c 50|00 80 3c 40|83 60 80 3c 40")),
        2,
        0,
        1,
        (),
    ),
    "first note never ended": (smf(track("00 90 30 50|" + FOUR)), 5, 0, 2, ("unended-notes",)),
    "last note never ended": (smf(track(FOUR + "|00 90 30 50")), 5, 0, 2.5, ("unended-notes",)),
    "struck again unended": (
        smf(track("00 90 3c 50|81 70 90 3c 50|83 60 80 3c 40")),
        2,
        0,
        0.75,
        ("unended-notes",),
    ),
    "ended by controller 123": (
        smf(track("00 90 3c 50|00 90 40 50|87 40 b0 7b 00")),
        2,
        0,
        1,
        ("unended-notes",),
    ),
    "8 sharps": (smf(track("00 ff 59 02 08 00|" + FOUR)), 4, 0, 2, ("key-signature",)),
    "mode 2": (smf(track("00 ff 59 02 00 02|" + FOUR)), 4, 0, 2, ("key-signature",)),
    "key of one byte": (smf(track("00 ff 59 01 00|" + FOUR)), 4, 0, 2, ("key-signature",)),
    "stray tracks with bad keys": (
        smf(track(FOUR), track("00 ff 59 02 77 07"), track("00 ff 59 02 77 07")),
        4,
        0,
        2,
        ("key-signature",),
    ),
    "0 beats": (smf(track("00 ff 58 04 00 02 18 08|" + FOUR)), 4, 0, 2, ("time-signature",)),
    "denominator 2 to the 33rd": (
        smf(track("00 ff 58 04 04 21 18 08|" + FOUR)),
        4,
        0,
        2,
        ("time-signature",),
    ),
    "255 beats": (smf(track("00 ff 58 04 ff 00 18 08|" + FOUR)), 4, 0, 2, ("time-signature-odd",)),
    "time signature of 2 bytes": (
        smf(track("00 ff 58 02 04 02|" + FOUR)),
        4,
        0,
        2,
        ("time-signature",),
    ),
    "tempo of 0 bytes": (smf(track("00 ff 51 00|" + FOUR)), 4, 0, 2, ("tempo",)),
    "tempo of 4 bytes": (smf(track("00 ff 51 04 07 a1 20 00|" + FOUR)), 4, 0, 2, ("tempo",)),
    "tempo 0 midway": (
        smf(track("00 90 3c 50|83 60 80 3c 40|00 ff 51 03 00 00 00|00 90 3e 50|83 60 80 3e 40")),
        2,
        0,
        1,
        ("tempo",),
    ),
    "60 million bpm": (smf(track("00 ff 51 03 00 00 01|" + FOUR)), 4, 0, 0, ("tempo-extreme",)),
    "first tempo later": (
        smf(track("00 90 3c 50|83 60 80 3c 40|00 ff 51 03 0f 42 40|00 90 3c 50|83 60 80 3c 40")),
        2,
        0,
        1.5,
        (),
    ),
    "tempo in the second track": (smf(track(FOUR), track("00 ff 51 03 0f 42 40")), 4, 0, 4, ()),
    "two tempi at 0": (
        smf(track("00 ff 51 03 0f 42 40|00 ff 51 03 07 a1 20|" + FOUR)),
        4,
        0,
        2,
        (),
    ),
    "25 frames of 40 ticks": (
        smf(track("00 90 3c 50|87 68 80 3c 40"), division=0xE728),
        1,
        0,
        1,
        (),
    ),
    "29.97 frames": (smf(track("00 90 3c 50|89 30 80 3c 40"), division=0xE328), 1, 0, 1.001, ()),
    "frames, whatever the tempo": (
        smf(track("00 ff 51 03 01 00 00|00 90 3c 50|87 68 80 3c 40"), division=0xE728),
        1,
        0,
        1,
        (),
    ),
    "32767 ticks a quarter": (
        smf(track("00 90 3c 50|81 ff 7f 80 3c 40"), division=32767),
        1,
        0,
        0.5,
        (),
    ),
    "1 tick a quarter": (smf(track("00 90 3c 50|01 80 3c 40"), division=1), 1, 0, 0.5, ()),
    "type 0 with two tracks": (smf(track(FOUR), track(FOUR), kind=0), 8, 0, 2, ("type-0-tracks",)),
    "type 2 with one track": (smf(track(FOUR), kind=2), 4, 0, 2, ()),
    "0 tracks announced": (smf(track(FOUR), count=0), 4, 0, 2, ("track-count",)),
    "65535 tracks announced": (smf(track(FOUR), count=65535), 4, 0, 2, ("track-count",)),
    "header of 14 bytes": (
        b"MThd" + struct.pack(">IHHH", 14, 1, 1, 480) + bytes(8) + track(FOUR),
        4,
        0,
        2,
        (),
    ),
    "wrong header length": (
        WHOLE.replace(b"\0\0\0\6", b"\0\0\0\7", 1),
        4,
        0,
        2,
        ("header-length",),
    ),
    "unknown chunks": (smf(b"XFIH\0\0\0\3abc", track(FOUR), b"CASM\0\0\0\1z"), 4, 0, 2, ()),
    "no end of track": (smf(track(FOUR, end="")), 4, 0, 2, ("no-end-of-track",)),
    "end of track twice": (smf(track(FOUR, end=END + END)), 4, 0, 2, ()),
    "end of track with bytes": (smf(track(FOUR, end="|00 ff 2f 02 01 02")), 4, 0, 2, ()),
    "trailing newlines": (WHOLE + b"\r\n\n", 4, 0, 2, ()),
    "stray bytes between tracks": (smf(track(""), b"\1\2", track(FOUR)), 4, 0, 2, ("stray-bytes",)),
    "track of 4 GB": (smf(track(FOUR, length=0xFFFFFFFF)), 4, 0, 2, ("track-length",)),
    "length ends inside the music": (smf(track(FOUR, length=20)), 4, 0, 2, ("track-length",)),
    "length swallows the next track": (
        smf(track("", length=12), track(FOUR)),
        4,
        0,
        2,
        ("track-length",),
    ),
    "last byte missing": (WHOLE[:-1], 4, 0, 2, ("truncated",)),
    "cut inside a delta": (WHOLE[:-4] + b"\x81", 4, 0, 2, ("truncated",)),
    "cut inside a text": (
        smf(track(FOUR + "|00 ff 01 20 41 41", end="", length=99)),
        4,
        0,
        2,
        ("truncated",),
    ),
    "sysex, whole, empty, unended": (
        smf(track("00 f0 05 7e 7f 09 01 f7|00 f0 00|00 f0 03 01 02 03|" + FOUR)),
        4,
        0,
        2,
        (),
    ),
    "sysex with bytes above 127": (smf(track("00 f0 04 43 ff 80 f7|" + FOUR)), 4, 0, 2, ()),
    "sysex in two packets": (
        smf(track("00 f0 03 43 12 00|60 f7 02 01 f7|" + FOUR)),
        4,
        0.1,
        2.1,
        (),
    ),
    "song position": (smf(track("00 f2 01 02|" + FOUR)), 4, 0, 2, ("system-message",)),
    "undefined status FD": (smf(track("00 fd|" + FOUR)), 4, 0, 2, ("system-message",)),
    "controller 255": (smf(track("00 b0 07 ff|" + FOUR)), 4, 0, 2, ("controller-range",)),
    "running status over a meta event": (
        smf(track("00 90 3c 50|00 ff 01 01 41|83 60 3c 00")),
        1,
        0,
        0.5,
        ("running-status",),
    ),
    "running status of one data byte": (
        smf(track("00 d0 05|00 06|00 c0 00|00 01|" + FOUR)),
        4,
        0,
        2,
        (),
    ),
    "small meta events of odd lengths": (
        smf(
            track("00 ff 00 00|00 ff 20 01 c8|00 ff 21 00|00 ff 54 01 60|00 ff 60 02 01 02|" + FOUR)
        ),
        4,
        0,
        2,
        (),
    ),
    "text of 300 bytes": (smf(track("00 ff 01 82 2c" + " 41" * 300 + "|" + FOUR)), 4, 0, 2, ()),
    "long silence after the music": (smf(track(FOUR, end="|90 83 b8 00 ff 2f 00")), 4, 0, 2, ()),
    "a day": (smf(track("00 90 3c 50|a7 c6 c0 00 80 3c 40")), 1, 0, 86400, ("very-long",)),
    "RMID": (b"RIFF\0\0\0\0RMIDdata" + struct.pack("<I", len(WHOLE)) + WHOLE, 4, 0, 2, ()),
    "RMID, odd chunk first": (
        b"RIFF\0\0\0\0RMIDINFO\3\0\0\0abc\0data" + struct.pack("<I", len(WHOLE)) + WHOLE,
        4,
        0,
        2,
        (),
    ),
    "RMID, odd chunk without its padding": (
        b"RIFF\0\0\0\0RMIDINFO\3\0\0\0abcdata" + struct.pack("<I", len(WHOLE)) + WHOLE,
        4,
        0,
        2,
        (),
    ),
    "MacBinary": (b"\0\4song" + bytes(122) + WHOLE, 4, 0, 2, ()),
    "a zip behind it": (WHOLE + b"PK\3\4" + bytes(40), 4, 0, 2, ()),
}

# name: bytes, words of which one must stand in the sentence
REFUSED = {
    "nothing": (b"", ("empty",)),
    "one byte": (b"M", ("truncated: it ends after its first byte.",)),
    "half a header": (WHOLE[:9], ("truncated",)),
    "no track": (WHOLE[:14], ("track",)),
    "half a track header": (WHOLE[:20], ("track",)),
    "text": (b"hello", ("not a MIDI",)),
    "text after MThd": (b"MThd is how a MIDI file begins, they say", ("header",)),
    "web page": (b"\n<!DOCTYPE html><html>404", ("web page",)),
    "gzip": (b"\x1f\x8b\x08\0" + bytes(40), ("gzip",)),
    "zip": (b"PK\3\4" + bytes(40), ("zip",)),
    "wave": (b"RIFF\x24\0\0\0WAVEfmt " + bytes(24), ("RIFF", "WAVE")),
    "RMID without data": (b"RIFF\4\0\0\0RMID", ("RMID",)),
    "bytes before the header": (b"\1\2\3" + WHOLE, ("MThd",)),
    "header of FF": (b"MThd" + b"\xff" * 200, ("header",)),
    "header of 4 bytes": (b"MThd\0\0\0\4\0\1\0\1" + track(FOUR), ("header",)),
    "type 2": (smf(track(FOUR), track(FOUR), kind=2), ("type 2",)),
    "type 3": (smf(track(FOUR), kind=3), ("type",)),
    "division 0": (smf(track(FOUR), division=0), ("division",)),
    "16 frames a second": (smf(track(FOUR), division=0xF060), ("SMPTE",)),
    "0 ticks a frame": (smf(track(FOUR), division=0xE700), ("SMPTE",)),
    "tempo 0": (smf(track("00 ff 51 03 00 00 00|" + FOUR)), ("tempo",)),
    "delta of 5 bytes": (smf(track("80 80 80 80 00 90 3c 50")), ("delta time",)),
    "delta without end": (smf(track("00 90 3c 50|" + "ff" * 400)), ("delta time",)),
    "length of 5 bytes": (smf(track("00 ff 01 80 80 80 80 00|" + FOUR)), ("length",)),
    "text past the end": (smf(track("00 ff 01 ff ff ff 7f|" + FOUR)), ("meta event",)),
    "sysex past the end": (smf(track("00 f0 8f ff ff 7f|" + FOUR)), ("sysex",)),
    "data first": (smf(track("00 3c 50|" + FOUR)), ("status",)),
    "pitch 253": (smf(track("00 90 fd 50|" + FOUR)), ("253", "note-on")),
    "velocity 200": (smf(track("00 90 3c c8|" + FOUR)), ("200",)),
    "bend FF FF": (smf(track("00 e0 ff ff|" + FOUR)), ("pitch bend",)),
    "meta type 152": (smf(track("00 ff 98 00|" + FOUR)), ("meta",)),
    "77 hours of silence": (smf(track("ff ff ff 7f 90 3c 50|83 60 80 3c 40")), ("hours",)),
    "past 31 bits": (smf(track("ff ff ff 7f b0 07 64|" * 20 + FOUR)), ("ticks",)),
    "no notes": (smf(track("00 ff 03 01 41"), track("00 b0 40 7f")), ("no note",)),
    "velocity 0 only": (smf(track("00 90 3c 00")), ("no note",)),
    "no length only": (smf(track("00 90 3c 50|00 80 3c 40")), ("no note",)),
    "sent as text": (
        WHOLE.replace(track(FOUR)[:8], b"MTrk\0\0\0\x40").replace(b"\x3c", b"\r\n"),
        ("corrupt",),
    ),
}


@pytest.mark.parametrize("name", READ)
def test_odd_files_are_read_as_meant(name: str) -> None:
    data, notes, first_s, end_s, warnings = READ[name]
    document = read_midi(data, name="case.mid")
    facts = describe(document)
    assert facts.notes == notes
    assert facts.first_s == pytest.approx(first_s, abs=1e-3)
    assert facts.end_s == pytest.approx(end_s, abs=1e-3)
    assert facts.warnings == warnings
    table = note_table(document.score, include_drums=True)
    assert (table.end_s > table.onset_s).all()


@pytest.mark.parametrize("name", READ)
def test_repaired_bytes_suit_strict_readers_and_need_no_second_repair(name: str) -> None:
    import io

    import mido

    document = read_midi(READ[name][0])
    mido.MidiFile(file=io.BytesIO(document.data))  # the strictest reader about
    again = read_midi(document.data)
    assert describe(again).notes == READ[name][1]
    left_alone = {"tempo-extreme", "time-signature-odd", "very-long"}
    assert {warning.code for warning in again.warnings} <= left_alone
    assert again.data == document.data


@pytest.mark.parametrize("name", REFUSED)
def test_damaged_files_are_refused_by_cause_and_with_a_next_step(name: str) -> None:
    data, words = REFUSED[name]
    with pytest.raises(MidiReadError) as refusal:
        read_midi(data)
    assert any(word in refusal.value.message for word in words), refusal.value.message
    assert refusal.value.hint
    assert refusal.value.message.endswith(".")


def test_an_empty_score_is_an_error_of_its_own() -> None:
    # the pipeline tells "nothing to play" from "damaged"
    with pytest.raises(EmptyScoreError):
        read_midi(REFUSED["no notes"][0])


def test_untouched_files_keep_their_very_bytes() -> None:
    # rewriting a sound file would put every later comparison in doubt
    assert read_midi(WHOLE).data == WHOLE
