"""What a model would take, tried out in a process of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from musicgen.assets import asset_dir
from musicgen.errors import MusicgenError
from musicgen.studio import estimates
from musicgen.studio.estimates import try_sizes


@pytest.mark.long  # the same trials as in test_training_outlook.py, by another door
def test_every_size_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    *_, last = try_sizes(str(asset_dir("data") / "starter"), 20.0, limit_s=300.0)
    found = last.found
    assert (last.is_over, last.is_late) == (True, False)
    assert [each.size for each in found] == ["tiny", "small", "medium"]
    assert all(each.verdict for each in found)
    tiny, small, _ = found
    assert tiny.parameters < small.parameters
    assert tiny.steps is not None
    assert tiny.steps > 0
    assert tiny.memory_bytes is not None


def test_music_that_cannot_be_used_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(MusicgenError) as caught:
        list(try_sizes(str(tmp_path), 20.0))
    assert str(tmp_path) in caught.value.message
    assert caught.value.hint


TINY = """
size = {"size": "tiny", "parameters": 1, "verdict": "fits", "seconds_per_step": 0.5, "steps": 9,
        "epochs": 1.0, "memory_bytes": 1}
for told in ({"files": [3, 4]}, {"read": True}, {"size": size}):
    print(json.dumps(told), flush=True)
"""


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen]:
    """Have trials that find one size and then never end; return their processes."""
    begun: list[subprocess.Popen] = []

    def popen(command: list[str], **how: Any) -> subprocess.Popen:
        code = f"import json, time\n{TINY}\ntime.sleep(600)"
        begun.append(subprocess.Popen([command[0], "-c", code], **how))
        return begun[-1]

    monkeypatch.setattr(
        estimates,
        "subprocess",
        SimpleNamespace(Popen=popen, PIPE=subprocess.PIPE, DEVNULL=subprocess.DEVNULL),
    )
    return begun


def test_a_trial_that_nobody_waits_for_ends_at_once(processes: list[subprocess.Popen]) -> None:
    """Guards a process that computed on for minutes, beside the run, when its page was left."""
    trial = try_sizes("music", 20.0)
    assert next(step for step in trial if step.found).found[0].size == "tiny"
    assert processes[0].poll() is None
    trial.close()
    assert processes[0].poll() is not None


def test_a_trial_ends_at_its_limit_with_what_it_found(processes: list[subprocess.Popen]) -> None:
    """Guards "about half a minute" that took as long as it liked."""
    steps = list(try_sizes("music", 20.0, limit_s=1.0))
    last = steps[-1]
    assert (last.is_late, last.is_over, last.is_reading) == (True, False, False)
    assert [each.size for each in last.found] == ["tiny"]
    assert 1.0 < last.seconds < 10.0
    assert (last.files_done, last.files) == (3, 4)
    assert len({round(step.seconds, 1) for step in steps}) > 1, "it says how long it takes"
    assert processes[0].poll() is not None


def test_a_trial_ends_with_the_studio(tmp_path: Path) -> None:
    """Guards a trial that outlives a studio which was killed: nobody else holds its input."""
    command = [sys.executable, "-m", "musicgen.studio.trial", str(asset_dir("data") / "starter")]
    trial = subprocess.Popen(
        [*command, "20"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert trial.stdout is not None
    assert "files" in json.loads(trial.stdout.readline())
    told, _ = trial.communicate(timeout=30)  # that closes its input first
    assert trial.returncode == 0
    assert "over" not in told


def test_a_trial_that_breaks_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimates.sys, "executable", shutil.which("true") or "/bin/true")
    with pytest.raises(MusicgenError, match="could not be tried"):
        list(try_sizes("music", 20.0))
