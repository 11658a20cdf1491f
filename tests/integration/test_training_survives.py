"""Nothing is lost: killed at any moment, a full disk; and what a resume may change by leave."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from musicgen.checkpoint import folder as checkpoint_folder
from musicgen.configio import to_mapping
from musicgen.errors import ConfigError, ResumeMismatchError, TrainingError
from musicgen.training import CheckpointSaved, Finished, Planned, StepDone, metrics, train
from musicgen.training.run import Run
from runs import RECIPE

FILES_A_CHECKPOINT = 6
OFTEN = replace(RECIPE, checkpoint_minutes=0.0)
"""The moment of saving changes no number: such a run ends with the bytes of any other."""


def newest_bytes(run: Path) -> dict[str, bytes]:
    folder = sorted((run / "checkpoints").iterdir())[-1]
    names = ("model.safetensors", "optimizer.safetensors", "state.json")
    return {name: (folder / name).read_bytes() for name in names}


def told(run: Path) -> list[dict[str, float]]:
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in line.items() if k != "events_per_s"} for line in lines]


def assert_equal(run: Path, unbroken: Path) -> None:
    """Assert the unbroken run's bytes, its metrics without gaps or doubles, and no debris."""
    assert newest_bytes(run) == newest_bytes(unbroken)
    assert told(run) == told(unbroken)
    best = [(each / "best" / "model.safetensors").read_bytes() for each in (run, unbroken)]
    assert best[0] == best[1]
    hidden = [path for path in run.rglob(".*") if path.name != ".gitignore"]
    assert hidden == []


CHILD = """
import itertools, json, sys, time
from musicgen.checkpoint import folder
from musicgen.configio import from_mapping
from musicgen.training import StepDone, TrainingRecipe, train

music, run, recipe, mode, held = sys.argv[1:]
whole, written = folder._write_synced, itertools.count()

def hold():
    print("held", flush=True)
    time.sleep(600)

def write_half(path, data):
    if "step-" in path.parent.name and next(written) == int(held):
        path.write_bytes(data[: len(data) // 2])
        hold()
    whole(path, data)

def replace_half(new, old):
    if old.name == "best" and old.exists():
        old.rename(old.with_name(".best.old"))
        hold()
    renamed(new, old)

if held == "renaming":
    renamed, folder._replace_folder = folder._replace_folder, replace_half
elif held != "none":
    folder._write_synced = write_half
settings = from_mapping(TrainingRecipe, json.loads(recipe))
for event in train(music, run, settings, device="cpu", resume=mode == "resume"):
    if isinstance(event, StepDone):
        print(event.step, flush=True)
        time.sleep(0.02)
print("done", flush=True)
"""


def kill(music: Path, run: Path, *, held: str, after_s: float = 0.0) -> None:
    """Train until a moment, and kill.

    Args:
        music: The music.
        run: The run's folder.
        held: At which file of its checkpoints' it stands still, half written; "renaming": between
            the two renames of `best/`; "none": nowhere, it is killed some time after a step.
        after_s: How long after.
    """
    recipe = {k: v for k, v in to_mapping(OFTEN).items() if v is not None}
    mode = "resume" if (run / "run.json").exists() else "fresh"
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(music), str(run), json.dumps(recipe), mode, held],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert child.stdout is not None
    for line in child.stdout:
        if line.strip() == ("held" if held != "none" else line.strip()):
            break
    time.sleep(after_s)
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_killed_and_resumed_equals_unbroken(music: Path, unbroken: Path, tmp_path: Path) -> None:
    """Guards lost work: killed between steps, in a checkpoint's writing and in best's renaming."""
    run = tmp_path / "run"
    kill(music, run, held="none", after_s=0.1)
    kill(music, run, held=str(FILES_A_CHECKPOINT + 3))
    kill(music, run, held="renaming")
    list(train(music, run, None, device="cpu", resume=True))
    assert_equal(run, unbroken)


@pytest.mark.long
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_twenty_kills_and_still_equal(music: Path, unbroken: Path, tmp_path: Path) -> None:
    """Fifteen at random moments, five inside a checkpoint's writing, at another file each."""
    run, rng = tmp_path / "run", random.Random(0)
    moments = ["none"] * 15 + [str(FILES_A_CHECKPOINT * (n % 2) + n) for n in range(5)]
    rng.shuffle(moments)
    for held in moments:
        kill(music, run, held=held, after_s=rng.uniform(0.0, 0.4) if held == "none" else 0.0)
    list(train(music, run, None, device="cpu", resume=True))
    assert_equal(run, unbroken)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS])
@pytest.mark.parametrize("place", ["checkpoint", "metrics"])
def test_a_disk_that_takes_no_more_ends_a_run_and_loses_nothing(
    music: Path,
    unbroken: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    code: int,
    place: str,
) -> None:
    """Guards half a line in the metrics, half a checkpoint, and a traceback for a full disk."""
    run, n_writes = tmp_path / "run", 0

    def breaks(path: Path, data: object) -> None:
        nonlocal n_writes
        n_writes += 1
        if n_writes > 10:
            with open(path, "ab") as file:
                file.write(b'{"step": 1')
            raise OSError(code, os.strerror(code))
        whole(path, data)

    module, name = {
        "checkpoint": (checkpoint_folder, "_write_synced"),
        "metrics": (metrics, "add_line"),
    }[place]
    whole = getattr(module, name)
    with monkeypatch.context() as patched:
        patched.setattr(module, name, breaks)
        with pytest.raises(TrainingError, match=os.strerror(code)) as caught:
            list(train(music, run, OFTEN, device="cpu"))
    assert "What was saved before is still there" in caught.value.hint
    # Guards advice to make room on a disk that has room, but takes nothing.
    assert ("Free some space" in caught.value.hint) == (code == errno.ENOSPC)
    list(train(music, run, None, device="cpu", resume=True))
    assert_equal(run, unbroken)


LIMITED = """
import json, resource, sys
from musicgen.configio import from_mapping
from musicgen.errors import TrainingError
from musicgen.training import StepDone, TrainingRecipe, train
recipe = from_mapping(TrainingRecipe, json.loads(sys.argv[3]))
try:
    for event in train(sys.argv[1], sys.argv[2], recipe, device="cpu"):
        if isinstance(event, StepDone) and event.step == 5:
            resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
except TrainingError as error:
    print(error)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit is POSIX's own")
def test_a_system_that_refuses_a_file_of_that_size(
    music: Path, unbroken: Path, tmp_path: Path
) -> None:
    """Guards the same by a real refusal: no file of more than 20 kB from the fifth step on."""
    run = tmp_path / "run"
    recipe = {k: v for k, v in to_mapping(OFTEN).items() if v is not None}
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(music), str(run), json.dumps(recipe)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert "cannot be written" in done.stdout
    list(train(music, run, None, device="cpu", resume=True))
    assert_equal(run, unbroken)


def begun(music: Path, run: Path) -> Path:
    """Begin a run of ten steps, stopped after six."""
    recipe = replace(RECIPE, steps=10, restart_steps=(), restart_learning_rates=())
    events = train(music, run, recipe, device="cpu")
    next(event for event in events if isinstance(event, StepDone) and event.step == 6)
    events.close()
    return run


def test_a_setting_is_changed_by_leave_and_written_down(music: Path, tmp_path: Path) -> None:
    run = begun(music, tmp_path / "run")
    facts = Run(folder=run).facts()
    assert facts is not None
    other = replace(facts.recipe, learning_rate=1e-4, steps=12, micro_batch_size=1)
    with pytest.raises(ResumeMismatchError, match="steps = 10, not 12") as caught:
        list(train(music, run, other, device="cpu", resume=True))
    assert "--allow settings" in caught.value.hint
    events = list(train(music, run, other, device="cpu", resume=True, allow=["settings"]))
    planned = next(event for event in events if isinstance(event, Planned))
    assert (planned.first_step, planned.steps) == (6, 12)
    assert "From step 6 on: steps 10 → 12" in planned.notice
    assert "learning_rate 0.003 → 0.0001" in planned.notice
    assert isinstance(events[-1], Finished)
    assert events[-1].step == 12
    assert [line["step"] for line in told(run) if "loss" in line] == list(range(1, 13))
    after = Run(folder=run).facts()
    assert after is not None
    assert after.recipe == other
    assert len(after.changes) == 1
    # What was changed is the run's own from now on.
    list(train(music, run, other, device="cpu", resume=True))


@pytest.mark.parametrize(
    ("changes", "told_why"),
    [
        ({"d_model": 64}, "weights are made by that"),
        ({"optimizer": "adamw"}, "weights are made by that"),
        ({"steps": 3}, "has done 6 steps"),
        ({"steps": None, "minutes": 5.0}, "in steps"),
    ],
)
def test_what_weights_are_made_by_is_not_changed_by_leave(
    music: Path, tmp_path: Path, changes: dict, told_why: str
) -> None:
    run = begun(music, tmp_path / "run")
    facts = Run(folder=run).facts()
    assert facts is not None
    recipe = replace(facts.recipe, **changes)
    with pytest.raises(ResumeMismatchError) as caught:
        list(train(music, run, recipe, device="cpu", resume=True, allow=["settings"]))
    assert told_why in str(caught.value)
    assert Run(folder=run).facts() == facts


def test_other_music_is_read_by_leave(music: Path, tmp_path: Path) -> None:
    run = begun(music, tmp_path / "run")
    less = Path(shutil.copytree(music, tmp_path / "less"))
    sorted(less.glob("*.mid"))[0].unlink()
    with pytest.raises(ResumeMismatchError, match="music") as caught:
        list(train(less, run, None, device="cpu", resume=True, allow=["settings"]))
    assert "--allow music" in caught.value.hint
    events = list(train(less, run, None, device="cpu", resume=True, allow=["music"]))
    planned = next(event for event in events if isinstance(event, Planned))
    assert "From step 6 on: other music." in planned.notice
    assert any(isinstance(event, CheckpointSaved) for event in events)
    list(train(less, run, None, device="cpu", resume=True))


def test_only_what_there_is_can_be_allowed(music: Path, unbroken: Path) -> None:
    with pytest.raises(ConfigError, match="anything"):
        list(train(music, unbroken, None, device="cpu", resume=True, allow=["anything"]))
