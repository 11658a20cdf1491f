"""Sound on the disk goes with its studio, however that ended."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from musicgen.ui.sound_folder import SoundFolder

HOLDS = """
import time
from musicgen.ui.sound_folder import SoundFolder
folder = SoundFolder()
(folder.path / "a.wav").write_bytes(b"RIFF")
print(folder.path, flush=True)
time.sleep(600)
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def studio() -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen([sys.executable, "-c", HOLDS], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def age(folder: Path) -> None:
    long_ago_s = time.time() - 3600
    os.utime(folder, (long_ago_s, long_ago_s))


def test_what_a_killed_studio_left_is_removed_and_nothing_else(root: Path) -> None:
    """Guards: up to a gigabyte of sound in the temporary folder after every kill."""
    (killed, left), (alive, used) = studio(), studio()
    killed.kill()
    killed.wait()
    (root / "musicgen-sound-link").symlink_to(root / "elsewhere", target_is_directory=True)
    (root / "elsewhere").mkdir()
    (root / "elsewhere" / ".lock").touch()
    just_made = root / "musicgen-sound-new"
    just_made.mkdir()
    (just_made / ".lock").touch()
    for folder in (left.parent, used.parent, root / "elsewhere"):
        age(folder)
    own = SoundFolder()
    assert not left.parent.exists()
    assert (used / "a.wav").exists()
    assert just_made.exists()
    assert (root / "elsewhere" / ".lock").exists()
    assert own.path.is_dir()
    own.close()
    assert not own.path.parent.exists()
    alive.kill()
    alive.wait()
