"""The shelf: sound when it is asked for, once; failures and quotas that cost no music."""

from __future__ import annotations

import os
import threading

import pytest

from musicgen.audio import SoundFile, SoundKind
from musicgen.errors import AudioError
from musicgen.ui import shelf as shelf_module
from musicgen.ui.pieces import Piece, from_upload, new_id
from musicgen.ui.shelf import Shelf


@pytest.fixture
def piece(music: bytes) -> Piece:
    return from_upload(music, name="a.mid")


class Synthesizer:
    """Counts what it plays."""

    def __init__(self) -> None:
        self.played: list[bytes] = []

    def __call__(self, midi: bytes, kind: SoundKind) -> SoundFile:
        self.played.append(midi)
        data = b"RIFF" + bytes(1000) if kind == "wav" else b"ID3" + bytes(100)
        return SoundFile(data=data, warnings=("The flute is played as a piano.",), gain=1.0)


@pytest.fixture
def synthesizer() -> Synthesizer:
    return Synthesizer()


def test_sound_is_rendered_once_however_many_ask(tmp_path, piece, synthesizer):
    shelf = Shelf(tmp_path, synthesizer)
    shelf.put(piece)
    threads = [threading.Thread(target=shelf.sound, args=(piece.id, "wav")) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(synthesizer.played) == 1
    path = shelf.sound(piece.id, "wav")
    assert path is not None
    assert path.read_bytes().startswith(b"RIFF")
    assert shelf.warnings(piece.id) == ("The flute is played as a piano.",)


def test_a_failing_synthesizer_costs_neither_the_piece_nor_more_tries(tmp_path, piece):
    tries = []

    def broken(midi: bytes, kind: SoundKind) -> SoundFile:
        tries.append(midi)
        raise AudioError("The synthesizer is broken.", hint="Use the MIDI file.")

    shelf = Shelf(tmp_path, broken)
    shelf.put(piece)
    for _ in range(2):
        with pytest.raises(AudioError):
            shelf.sound(piece.id, "wav")
    assert len(tries) == 1
    assert shelf.failure(piece.id) is not None
    assert shelf.get(piece.id) is piece
    assert list(tmp_path.iterdir()) == []


def test_what_is_dropped_leaves_no_file(tmp_path, piece, synthesizer):
    shelf = Shelf(tmp_path, synthesizer)
    shelf.put(piece)
    shelf.sound(piece.id, "wav")
    shelf.sound(piece.id, "mp3")
    assert len(list(tmp_path.iterdir())) == 2
    shelf.drop(piece.id)
    assert list(tmp_path.iterdir()) == []
    assert shelf.sound(piece.id, "wav") is None


def test_old_sound_makes_room_and_comes_back(tmp_path, music, synthesizer, monkeypatch):
    """And: "no such file" for a sound that was removed before it could be sent."""
    monkeypatch.setattr(shelf_module, "_MAX_SOUND_BYTES", 2500)
    shelf = Shelf(tmp_path, synthesizer)
    pieces = [shelf.put(from_upload(music, name=f"{i}.mid")) for i in range(4)]
    for age, piece in enumerate(pieces):
        path = shelf.sound(piece.id, "wav")
        assert path is not None
        if age < 3:
            asked_s = path.stat().st_mtime - 100 + age
            os.utime(path, (asked_s, asked_s))
    assert len(list(tmp_path.iterdir())) == 2
    assert shelf.sound(pieces[0].id, "wav") is not None
    assert len(synthesizer.played) == 5
    assert shelf.sound(pieces[1].id, "wav") is not None
    assert len(list(tmp_path.iterdir())) == 3, "what was asked for just now is about to be read"


def test_who_leaves_can_be_heard_for_a_moment(tmp_path, music, monkeypatch):
    """Guards: "not found" for what a page asked of a file just when another one took its place."""
    shelf = Shelf(tmp_path)
    one, other = (shelf.put(from_upload(music, name=f"{i}.mid")) for i in range(2))
    shelf.leave(one.id)
    shelf.leave(other.id)
    assert shelf.put(other) is other, "that one was had back"
    assert shelf.get(one.id) is not None
    monkeypatch.setattr(shelf_module, "_MOMENT_S", -1.0)
    third = shelf.put(from_upload(music, name="3.mid"))
    assert [shelf.get(piece.id) is None for piece in (one, other, third)] == [True, False, False]
    monkeypatch.setattr(shelf_module, "_MOMENT_S", 30.0)
    monkeypatch.setattr(shelf_module, "_MOST_LEAVING", 1)
    shelf.leave(other.id)
    shelf.leave(third.id)
    assert [shelf.get(piece.id) is None for piece in (other, third)] == [True, False]


def test_pieces_used_longest_ago_make_room(tmp_path, music, monkeypatch):
    monkeypatch.setattr(shelf_module, "_MAX_PIECES", 3)
    shelf = Shelf(tmp_path)
    pieces = [shelf.put(from_upload(music, name=f"{i}.mid")) for i in range(3)]
    shelf.get(pieces[0].id)
    shelf.put(from_upload(music, name="new.mid"))
    assert shelf.get(pieces[0].id) is not None
    assert shelf.get(pieces[1].id) is None


def test_names_cannot_be_guessed():
    names = {new_id() for _ in range(100)}
    assert len(names) == 100
    assert all(len(name) == 32 for name in names)


def test_muted_tracks_have_a_sound_of_their_own_at_the_whole_s_level(tmp_path, piece):
    """Guards: what is left after muting made louder, or kept under the whole piece's name."""
    asked = []

    def play(midi: bytes, kind: SoundKind, **part: object) -> SoundFile:
        asked.append(part)
        return SoundFile(data=b"RIFF" + bytes(len(asked)), warnings=(), gain=3.0 * len(asked))

    shelf = Shelf(tmp_path, play)
    shelf.put(piece)
    whole = shelf.sound(piece.id, "wav")
    part = shelf.sound(piece.id, "wav", muted=[4, 0])
    assert part is not None
    assert part != whole == shelf.sound(piece.id, "wav")
    assert part == shelf.sound(piece.id, "wav", muted=(0, 4))
    assert asked == [{}, {"muted": {0}, "most_gain": 3.0}]
    assert shelf.sound(piece.id, "wav", muted=[1, 99]) == whole, "there are no such tracks"
    assert len(asked) == 2
    assert shelf.gain(piece.id) == 3.0
    shelf.drop(piece.id)
    assert list(tmp_path.iterdir()) == []


def test_a_part_that_cannot_be_played_does_not_silence_the_whole(tmp_path, piece):
    def play(midi: bytes, kind: SoundKind, **part: object) -> SoundFile:
        if part:
            raise AudioError("The synthesizer is broken.")
        return SoundFile(data=b"RIFF", warnings=(), gain=1.0)

    shelf = Shelf(tmp_path, play)
    shelf.put(piece)
    with pytest.raises(AudioError):
        shelf.sound(piece.id, "wav", muted=[0])
    assert shelf.failure(piece.id) is None
    assert shelf.sound(piece.id, "wav") is not None
