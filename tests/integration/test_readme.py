"""The README's commands work as they stand there."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


TOUR, TRAINING = blocks("bash")
[PYTHON] = blocks("python")


@pytest.fixture(scope="module")
def shipped() -> None:
    from musicgen.checkpoint import resolve_checkpoint
    from musicgen.errors import CheckpointNotFoundError

    try:
        resolve_checkpoint("piano")
    except CheckpointNotFoundError:
        pytest.skip("no model ships yet")


def run_lines(block: str, folder: Path) -> None:
    for line in block.splitlines():
        words = shlex.split(line, comments=True)
        if not words:
            continue
        assert words[0] == "musicgen", line
        done = subprocess.run(
            [sys.executable, "-m", *words], cwd=folder, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"


def link_data(root: Path, folder: Path) -> None:
    (folder / "data").mkdir()
    os.symlink(root / "data" / "starter", folder / "data" / "starter")


def test_its_two_commands_stand_in_it():
    assert "pip install . && musicgen ui" in README
    assert 'pip install ".[dev]" && pytest' in README


def test_the_tour(shipped, tmp_path):
    run_lines(TOUR, tmp_path)
    made = {file.name for file in tmp_path.iterdir()}
    assert made == {
        *("first.mid", "first.wav", "again.mid", "longer.mid", "longer.png", "longer.mp3"),
        "attention.png",
    }
    assert (tmp_path / "again.mid").read_bytes() == (tmp_path / "first.mid").read_bytes()


def test_the_python_part(shipped, tmp_path):
    code = PYTHON + "\nassert strongest.shape == (len(view.ids),) * 2\nassert longer.prompt_notes\n"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "five_seconds.mid").exists()


def test_training_in_a_minute(root, tmp_path):
    # The same commands with a smaller model and less patience.
    link_data(root, tmp_path)
    assert "--minutes 2" in TRAINING
    run_lines(TRAINING.replace("--minutes 2", "--steps 2"), tmp_path)
    assert (tmp_path / "mine.mid").exists()


@pytest.mark.long
def test_training_as_it_stands(root, tmp_path):
    link_data(root, tmp_path)
    run_lines(TRAINING, tmp_path)
    assert (tmp_path / "mine.mid").exists()


def test_its_links_lead_somewhere(root):
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (root / target).exists(), target
