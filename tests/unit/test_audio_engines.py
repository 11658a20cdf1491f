"""The players behind the sound, and the font they play."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import numpy as np
import pytest

from musicgen.audio import engines, render
from musicgen.audio.font_keys import with_every_key
from musicgen.audio.instruments import FONT, GM_NAMES, FontContents, font_contents
from musicgen.audio.playable import Playable
from musicgen.audio.playing import ENGINES
from musicgen.errors import AudioError
from musicgen.midi import NoteTable, notes_to_score, score_to_bytes

MUSIC = Playable(
    data=b"MThd",
    notes=NoteTable.of([], [], [], []),
    is_drum=np.zeros(0, bool),
    seconds=1.0,
    turns_down=False,
    warnings=(),
)


@pytest.mark.parametrize(("program", "key"), [(0, 0), (0, 109), (0, 127), (58, 90)])
def test_every_key_is_heard(program: int, key: int) -> None:
    """Guards against notes that are on the roll and silent: the piano's samples end at 108."""
    notes = NoteTable.of([0.0], [0.5], [key], [100])
    score = notes_to_score(notes)
    score.tracks[0].program = program
    sound = render(score_to_bytes(score))
    assert sound.engine == "midirenderer"
    assert np.abs(sound.samples).max() > 0.05


def test_drums_keep_their_keys() -> None:
    """Guards against a cymbal on every key below the lowest drum."""
    font = FONT.read_bytes()
    changed = with_every_key(font)
    assert len(changed) == len(font)
    assert with_every_key(changed) == changed
    drums = NoteTable.of([0.0], [0.5], [120], [100])
    score = notes_to_score(drums)
    score.tracks[0].is_drum = True
    with pytest.raises(AudioError):
        render(score_to_bytes(score), engines=ENGINES[:1])


def test_the_font_has_each_family_and_the_standard_kit() -> None:
    """Guards against a cut that leaves a whole family to the piano."""
    contents = font_contents()
    families = {program // 8 for program in contents.programs}
    assert families == set(range(16))
    assert {0, 32, 40, 48, 56, 73} <= contents.programs, (
        "piano, bass, violin, strings, trumpet, flute"
    )
    assert 0 in contents.kits
    assert FONT.stat().st_size < 17_000_000


def test_the_fonts_licence_travels_with_it() -> None:
    """Guards against shipping the samples without the notice that their licence asks for."""
    text = (FONT.parent / "LICENSE").read_text(encoding="utf-8")
    assert "Permission is hereby granted" in text
    assert "Frank Wen" in text
    assert "Michael Cowgill" in text


def test_every_instrument_has_a_name_and_a_stand_in_the_font_has() -> None:
    """Guards against a stand-in that is itself missing."""
    contents = font_contents()
    assert len(GM_NAMES) == len(set(GM_NAMES)) == 128
    assert (GM_NAMES[0], GM_NAMES[40], GM_NAMES[73], GM_NAMES[127]) == (
        "Acoustic Grand Piano",
        "Violin",
        "Flute",
        "Gunshot",
    )
    assert all(contents.nearest_program(p) in contents.programs for p in range(128))
    assert all(contents.nearest_kit(k) in contents.kits for k in range(128))


def test_stand_ins_come_from_the_family_while_it_has_any() -> None:
    """Guards against a trombone played by whatever has the nearest number."""
    font = FontContents(programs=frozenset({0, 55, 62}), kits=frozenset({0, 8}))
    assert font.nearest_program(57) == 62
    assert font.nearest_program(100) == 62
    assert (font.nearest_kit(10), font.nearest_kit(30)) == (8, 0)


@pytest.mark.parametrize("content", [None, b"", b"RIFF....sfbk", b"phdr\x26\0\0\0"])
def test_a_damaged_font_is_one_sentence(tmp_path: Path, content: bytes | None) -> None:
    """Guards against a struct.error where a file was cut short."""
    font = tmp_path / "font.sf2"
    if content is not None:
        font.write_bytes(content)
    with pytest.raises(AudioError, match="SoundFont"):
        font_contents(font)


def test_a_panic_of_the_renderer_stops_at_its_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guards against a Rust panic, which no `except Exception` sees, ending the whole program."""
    import midirenderer

    panic = type("PanicException", (BaseException,), {})

    def burst(font: bytes, midi: bytes) -> bytes:
        raise panic("index out of bounds")

    monkeypatch.setattr(midirenderer, "render_wave_from", burst)
    with pytest.raises(AudioError, match="index out of bounds"):
        engines.play_midirenderer(MUSIC)


def test_an_interrupt_is_not_taken_for_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guards against Ctrl-C that only changes the synthesizer."""
    import midirenderer

    def interrupted(font: bytes, midi: bytes) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr(midirenderer, "render_wave_from", interrupted)
    with pytest.raises(KeyboardInterrupt):
        engines.play_midirenderer(MUSIC)


def test_without_fluidsynth_there_is_nothing_to_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guards against a crash on machines without the program."""
    monkeypatch.setenv("PATH", os.devnull)
    assert engines.play_fluidsynth(MUSIC) is None


FAKE = """#!{python}
import sys, wave
target = sys.argv[sys.argv.index("-F") + 1]
assert open(sys.argv[-1], "rb").read(4) == b"MThd"
with wave.open(target, "wb") as file:
    file.setparams((2, 2, 48000, 0, "NONE", ""))
    file.writeframes(bytes([0, 64, 0, 192]) * 1000)
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if sys.platform == "win32":
        pytest.skip("the stand-in for fluidsynth is a script with a #! line")
    path = tmp_path / "fluidsynth"
    path.write_text(FAKE.format(python=sys.executable))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path))
    return path


def test_fluidsynth_is_given_the_file_and_read_back(program: Path) -> None:
    """Guards against options in an order that the program takes for files."""
    samples = engines.play_fluidsynth(MUSIC)
    assert samples is not None
    assert samples.shape == (2, 1000)
    assert samples[:, 0].tolist() == [0.5, -0.5]


@pytest.mark.parametrize(
    "script", ["#!/bin/sh\nexit 3\n", "#!/bin/sh\nexit 0\n"], ids=["fails", "no file"]
)
def test_a_failing_fluidsynth_is_an_audio_error(program: Path, script: str) -> None:
    """Guards against CalledProcessError and FileNotFoundError in the user's face."""
    program.write_text(script)
    with pytest.raises(AudioError, match="fluidsynth"):
        engines.play_fluidsynth(MUSIC)
