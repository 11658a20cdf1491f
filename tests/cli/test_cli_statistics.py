"""`musicgen statistics`."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest


@pytest.fixture
def folder(piece: Path, tmp_path: Path) -> Path:
    """Return a folder of three copies of a piece of 6 seconds."""
    music = tmp_path / "music"
    music.mkdir()
    for number in range(3):
        shutil.copy(piece, music / f"{number}.mid")
    return music


def test_statistics_beside_a_folder(call, call_json, starter, folder):
    report = call_json("statistics", starter, "--against", starter, "--seconds", "20")
    assert report["folder"] == str(starter)
    assert report["excerpts"] >= report["pieces"] > 1
    pitch = report["statistics"]["pitch_mean"]
    assert set(pitch) == {"median", "low", "middle", "high", "inside", "distance"}
    assert report["ratio"] > 0
    said = call("statistics", starter, "--against", starter, "--seconds", "20").stdout
    assert "pitch_mean" in said
    assert "times that of held-out music" in said


def test_music_shorter_than_an_excerpt_is_a_sentence(call, folder):
    result = call("statistics", folder, "--seconds", "60")
    assert result.exit_code == 1
    assert "lasts 60 s" in result.stderr
    assert result.stdout == ""


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
