"""Sound of real and of hostile files."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from musicgen.audio import mp3_bytes, render, wav_bytes
from musicgen.midi import describe, read_midi


def _some(folder: Path, count: int) -> list[Path]:
    files = sorted(
        [*folder.rglob("*.mid"), *folder.rglob("*.midi")], key=lambda path: path.stat().st_size
    )
    return files[: count * 8 : 8]


@pytest.mark.parametrize("corpus", ["maestro/validation", "freedoom", "groove", "pop909"])
def test_real_music_sounds_and_has_its_length(corpora: Path, corpus: str) -> None:
    """Guards against silence, clipping and a length off by more than a second."""
    files = _some(corpora / corpus, 3)
    assert files
    for path in files:
        document = read_midi(path)
        sound = render(document.data, max_seconds=30)
        assert sound.engine == "midirenderer", sound.warnings
        is_heard = np.sqrt((sound.samples**2).mean()) > 0.003
        assert is_heard or "volume down to 0" in sound.warnings[-1], path.name
        assert np.abs(sound.samples).max() <= 0.8901
        assert 0 <= sound.seconds - min(describe(document).end_s, 30) <= 1, path.name
        assert wav_bytes(sound)[:4] == b"RIFF"
        assert mp3_bytes(sound)[:2] == b"\xff\xfb"


@pytest.mark.parametrize(
    ("name", "seconds"),
    [
        ("much_20k_at_one_tick", 0.5),
        ("silence_10h_tail", 2.0),
        ("pair_note_24h", 30.0),
        ("inst_all_128_programs", 16.0),
        ("inst_drums_with_program", 1.75),
    ],
)
def test_hostile_files_sound_within_bounds(midi_cases: Path, name: str, seconds: float) -> None:
    """Guards against a stalled client, endless files and silent parts."""
    data = (midi_cases / f"{name}.mid").read_bytes()
    began = time.process_time()
    sound = render(data)
    assert time.process_time() - began < 10
    assert 0 < sound.seconds - seconds <= 1
    assert np.sqrt((sound.samples**2).mean()) > 0.001
