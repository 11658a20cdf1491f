"""Files and folders: found, read, written whole or not at all."""

from __future__ import annotations

import io
import os
from pathlib import Path

import mido
import numpy as np
import pytest

from musicgen.errors import MidiReadError, MidiWriteError
from musicgen.midi import (
    NoteTable,
    describe,
    find_midi_files,
    note_table,
    notes_to_score,
    read_folder,
    read_midi,
    score_to_bytes,
    to_pretty_midi,
    write_midi,
)

SCORE = notes_to_score(NoteTable.of([0.0, 0.5], [0.5, 1.0], [60, 64], [64, 80]))
DATA = score_to_bytes(SCORE)


def test_folders_are_searched_by_name_once_each_and_in_order(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name in ("b/2.MIDI", "a.mid", "c.KAR", "d.rmi", "e.txt", "._a.mid"):
        (tmp_path / name).write_bytes(DATA)
    (tmp_path / "b" / "loop").symlink_to(tmp_path)
    found = [str(path.relative_to(tmp_path)) for path in find_midi_files(tmp_path)]
    assert found == ["a.mid", os.path.join("b", "2.MIDI"), "c.KAR", "d.rmi"]


def test_one_bad_file_does_not_end_the_folder(tmp_path: Path) -> None:
    (tmp_path / "1.mid").write_bytes(b"<html>404")
    (tmp_path / "2.mid").write_bytes(DATA)
    (tmp_path / "3.mid").symlink_to(tmp_path / "gone")
    kinds = [type(result).__name__ for _, result in read_folder(tmp_path)]
    assert kinds == ["MidiReadError", "MidiDocument", "MidiReadError"]


@pytest.mark.parametrize("path", ["gone.mid", ".", "nul\0.mid", "x" * 999])
def test_paths_that_hold_no_file_are_explained(tmp_path: Path, path: str) -> None:
    with pytest.raises(MidiReadError) as refusal:
        read_midi(tmp_path / path)
    assert refusal.value.hint


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes on this system")
def test_pipes_do_not_make_the_reader_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.mid")
    with pytest.raises(MidiReadError, match="no ordinary file"):
        read_midi(tmp_path / "pipe.mid")


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("..\\..\\pwned.mid", "pwned.mid"),
        ("C:\\Windows\\x.mid", "x.mid"),
        ("a\0b.mid", "ab.mid"),
        ("song.mid/../../x.mid", "x.mid"),
        ("song.exe:evil.mid", "evil.mid"),
        ("小星星\u202e\n.mid", "小星星 .mid"),
        ("", "music.mid"),
    ],
)
def test_names_are_never_paths(given: str, shown: str) -> None:
    assert read_midi(DATA, name=given).name == shown


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("Flügel".encode("latin-1"), "Flügel"),
        ("小星星".encode(), "小星星"),
        ("小星星".encode("utf-16"), "小星星"),
        (b"A\0\0B\x1b[31m\r\nC", "AB [31m C"),
        (b"\xed\xa0\x80", None),
        (b"x" * 5000, "x" * 119 + "…"),
    ],
)
def test_track_names_of_any_encoding_come_out_printable(raw: bytes, shown: str | None) -> None:
    size = bytes([0x80 | len(raw) >> 7, len(raw) & 0x7F])
    body = b"\0\xff\x03" + size + raw + b"\0\x90\x3c\x40\x60\x80\x3c\x40\0\xff\x2f\0"
    header = b"MThd\0\0\0\6\0\0\0\1\0\x60MTrk" + len(body).to_bytes(4, "big")
    document = read_midi(header + body)
    name = describe(document).tracks[0].name
    assert name.isprintable()
    name.encode("utf-8")
    assert shown is None or name == shown
    assert document.data == header + body  # the file's own bytes are nobody's to change


@pytest.mark.parametrize(
    ("n", "words"), [(1, "1 other byte precedes"), (9, "9 other bytes precede")]
)
def test_one_byte_is_no_plural(n: int, words: str) -> None:
    with pytest.raises(MidiReadError, match=f"as it stands: {words} the header 'MThd'"):
        read_midi(b"x" * n + DATA)


def test_writing_replaces_the_whole_file_and_leaves_nothing_behind(tmp_path: Path) -> None:
    target = tmp_path / "小星星 -o.mid"
    target.write_bytes(b"old")
    write_midi(SCORE, target)
    assert target.read_bytes() == DATA
    assert list(tmp_path.iterdir()) == [target]


def test_a_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch) -> None:
    target = tmp_path / "out.mid"
    target.write_bytes(b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(MidiWriteError, match="No space left") as refusal:
        write_midi(DATA, target)
    # Guards the advice to choose a folder "that you may write to" where the disk was full.
    assert refusal.value.hint.startswith("Free some space")
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no named pipes, and few links")
def test_what_is_no_ordinary_file_stays_what_it_is(tmp_path: Path) -> None:
    """Guards a pipe, and a device, that became a MIDI file, told as a success."""
    pipe, link, loop = tmp_path / "pipe", tmp_path / "link.mid", tmp_path / "loop.mid"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    loop.symlink_to(loop)
    for place, words in ((pipe, "no ordinary file"), (link, "no ordinary file"), (loop, "levels")):
        with pytest.raises(MidiWriteError, match=words):
            write_midi(DATA, place)
    assert pipe.is_fifo()
    assert link.is_symlink()
    assert loop.is_symlink()
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.skipif(os.name == "nt", reason="Windows has few links")
def test_what_a_link_leads_to_is_written(tmp_path: Path) -> None:
    """Guards a link that was replaced by the file, while the one it leads to stayed old."""
    (tmp_path / "there").mkdir()
    for name, held in (("old.mid", b"old"), ("new.mid", None)):
        real, link = tmp_path / "there" / name, tmp_path / name
        if held is not None:
            real.write_bytes(held)
        link.symlink_to(Path("there", name))
        write_midi(DATA, link)
        assert link.is_symlink()
        assert real.read_bytes() == DATA
    assert len(list((tmp_path / "there").iterdir())) == 2


@pytest.mark.parametrize("path", ["no/such/folder.mid", ".", "nul\0.mid"])
def test_places_that_cannot_be_written_are_explained(tmp_path: Path, path: str) -> None:
    with pytest.raises(MidiWriteError) as refusal:
        write_midi(DATA, tmp_path / path)
    assert refusal.value.hint


def test_a_silence_too_long_for_the_format_is_refused_not_wrapped() -> None:
    score = notes_to_score(NoteTable.of([0.0, 3e5], [0.5, 3e5 + 1], [60, 64], [64, 80]))
    with pytest.raises(MidiWriteError, match="silence"):
        score_to_bytes(score)


def test_programs_survive_saving_more_instruments_than_channels() -> None:
    score = notes_to_score(NoteTable.of([], [], [], []))
    for program in range(30):
        one = notes_to_score(NoteTable.of([0.0], [1.0], [60], [64]), program=program)
        score.tracks.append(one.tracks[0])
    back = describe(read_midi(score_to_bytes(score)))
    assert [track.program for track in back.tracks] == list(range(30))


def test_pretty_midi_sees_every_tempo_and_long_fine_files() -> None:
    file = mido.MidiFile(ticks_per_beat=32767)
    file.tracks.append(mido.MidiTrack([mido.MetaMessage("set_tempo", tempo=250_000, time=0)]))
    beats = 600
    notes = mido.MidiTrack([mido.MetaMessage("set_tempo", tempo=1_000_000, time=32767)])
    for _ in range(beats):
        notes.append(mido.Message("note_on", note=60, velocity=64, time=0))
        notes.append(mido.Message("note_off", note=60, time=32767))
    file.tracks.append(notes)
    buffer = io.BytesIO()
    file.save(file=buffer)
    document = read_midi(buffer.getvalue())
    table = note_table(document.score)
    pretty = to_pretty_midi(document.data)
    onsets = np.array([note.start for note in pretty.instruments[0].notes])
    assert len(onsets) == beats
    assert np.abs(onsets - table.onset_s).max() < 0.002
