"""What becomes of a command whose stdout or stderr cannot be written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no /dev/full and no `>&-`")
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")


def shell(words: str, tmp_path: Path, piece: Path, **variables: str):
    """Run `words` in a shell, where $M is the program and $S a piece of music."""
    known = {"M": f"{sys.executable} -m musicgen", "S": str(piece), **variables}
    return subprocess.run(
        ["bash", "-c", words],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, **known},
    )


@needs_full
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", ["info $S", "info $S --json", "info nix", "--help", "--version"])
def test_a_full_disk_behind_stdout_is_a_sentence(tmp_path, piece, words, unbuffered):
    """Guards the traceback of an OSError that only a closed pipe was spared."""
    done = shell(f"$M {words} > /dev/full", tmp_path, piece, PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: The output cannot be written: No space left on device.\n")
    assert done.stderr.count("\n") == 2


@needs_full
def test_remarks_that_cannot_be_written_stop_nothing(tmp_path, piece):
    """Guards a training that ended because the disk of its log was full."""
    done = shell("$M render $S -o r.wav 2> /dev/full", tmp_path, piece)
    assert done.returncode == 0
    assert "r.wav" in done.stdout
    assert shell("$M info nix > /dev/full 2>&1", tmp_path, piece).returncode == 1


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_reason_not_to_work(tmp_path, piece, closed):
    """Guards exit 1 from cron jobs whose picture was complete: 'NoneType' has no 'flush'."""
    done = shell(f"$M render $S -o r.png {closed}", tmp_path, piece)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    picture = (tmp_path / "r.png").read_bytes()
    # Nothing else got into the file, as it may where a file takes the number of a closed stream.
    assert picture.startswith(b"\x89PNG")
    assert picture.endswith(b"IEND\xaeB`\x82")


@pytest.mark.parametrize("words", ["info $S", "info $S --json", "data list", "corpus music"])
def test_a_command_that_only_tells_needs_a_stdout(tmp_path, piece, words):
    """Guards exit 0 of `info ... >&-`, whose result went nowhere."""
    done = shell(f"$M {words} >&-", tmp_path, piece)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: The output cannot be written: it is closed.\n")
    assert done.stderr.count("\n") == 2
    assert shell(f"$M {words} >&- 2>&-", tmp_path, piece).returncode == 1


def test_an_error_behind_closed_streams_keeps_its_exit_code(tmp_path, piece):
    assert shell("$M info nix >&- 2>&-", tmp_path, piece).returncode == 1
    assert shell("$M info >&- 2>&-", tmp_path, piece).returncode == 2
