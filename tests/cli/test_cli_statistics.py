"""`musicgen statistics`."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from musicgen.midi import NoteTable, notes_to_score, write_midi


@pytest.fixture
def folder(piece: Path, tmp_path: Path) -> Path:
    """Return a folder of three copies of a piece of 6 seconds."""
    music = tmp_path / "music"
    music.mkdir()
    for number in range(3):
        shutil.copy(piece, music / f"{number}.mid")
    return music


def write_piece(path: Path, *, seconds: float) -> None:
    onset = np.arange(0.0, seconds - 1.0, 0.5)
    pitch = 60 + np.arange(len(onset)) % 12
    notes = NoteTable.of(onset, onset + 1.0, pitch, np.full(len(onset), 70))
    write_midi(notes_to_score(notes), path)


def test_statistics_beside_a_folder(call, call_json, starter, folder):
    report = call_json("statistics", starter, "--against", starter, "--seconds", "20")
    assert report["folder"] == str(starter)
    assert report["excerpts"] >= report["pieces"] > 1
    pitch = report["statistics"]["pitch_mean"]
    assert set(pitch) == {"median", "low", "middle", "high", "inside", "distance"}
    assert report["ratio"] > 0
    said = call("statistics", starter, "--against", starter, "--seconds", "20").stdout
    assert "Mean key, middle C is 60" in said
    assert "Keys: histogram" in said
    table = said.splitlines()[1:-1]
    assert not any("_" in line for line in table), "names of code"
    assert max(map(len, table)) <= 80
    assert "times that of held-out music" in said


def test_progress_in_a_log_ends_with_the_last_file(call, starter):
    """Guards a log that ended at `1 of 24 files read`: what followed within 10 s was left out."""
    said = call("statistics", starter, "--against", starter, "--seconds", "20").stderr
    assert said.count(": 24 of 24 files read") == 2
    assert len(re.findall(r": (\d+) of \1 excerpts measured", said)) == 2


def test_music_shorter_than_an_excerpt_is_a_sentence(call, folder):
    result = call("statistics", folder, "--seconds", "60")
    assert result.exit_code == 1
    assert "lasts 60 s" in result.stderr
    assert result.stdout == ""


def test_takes_of_half_a_minute_need_no_option(call, call_json, tmp_path):
    """Guards the refusal of a folder of takes as `musicgen generate` makes them: 30 s long."""
    for number in range(3):
        write_piece(tmp_path / f"{number}.mid", seconds=29.0)
    result = call("statistics", tmp_path)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("3 excerpts of 30 s from 3 pieces")
    notice = f"The excerpts are 30 s long: no piece of {tmp_path} lasts the usual 60 s."
    assert notice in result.stderr.splitlines()
    assert call_json("statistics", tmp_path)["notice"] == notice
    # Half of the pieces are enough for the usual length, and nothing is to be said.
    for number in range(3, 6):
        write_piece(tmp_path / f"{number}.mid", seconds=60.0)
    report = call_json("statistics", tmp_path)
    assert (report["seconds"], report["excerpts"], report["short"]) == (60.0, 3, 3)
    assert report["notice"] == ""


def test_music_shorter_than_every_reference_is_told_the_way_on(call, folder):
    """Guards the hint to choose `--seconds 30` where that was what had just failed."""
    result = call("statistics", folder)
    assert result.exit_code == 1
    assert "lasts 30 s" in result.stderr
    assert "--against FOLDER --seconds 10" in result.stderr


def test_a_length_without_a_reference_is_a_sentence(call, folder):
    result = call("statistics", folder, "--seconds", "45")
    assert result.exit_code == 1
    assert "30, 60, 120 s" in result.stderr


def test_neither_torch_nor_a_model_is_needed(folder, starter):
    """Guards the two seconds that torch takes to import."""
    import subprocess
    import sys

    code = (
        "import sys; from musicgen.cli.app import app; "
        f"app(['statistics', {str(starter)!r}, '--against', {str(starter)!r}, '--seconds', '20'], "
        "standalone_mode=False); print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "False"
