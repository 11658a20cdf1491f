"""What a resumed run holds on to, and what it refuses."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import safetensors.torch
import torch

from musicgen.checkpoint import add_file
from musicgen.errors import MusicgenError, NonFiniteLossError, ResumeMismatchError, TrainingError
from musicgen.training import Finished, StepDone, resumed_recipe, train
from musicgen.training.run import Run
from runs import RECIPE


@pytest.mark.parametrize("state", [b"{", b'{"step": "ten"}', b"[" * 100_000])
def test_a_state_that_is_none_is_told_in_a_sentence(unbroken: Path, tmp_path: Path, state: bytes):
    """Guards the resume: a file with the right hash was read as JSON without a look."""
    run = Path(shutil.copytree(unbroken, tmp_path / "run"))
    for folder in (run / "checkpoints").iterdir():
        add_file(folder, "state.json", state)
    with pytest.raises(TrainingError, match=r"No checkpoint of .* is sound"):
        Run(folder=run).newest(RECIPE, torch.device("cpu"))


def test_resume_refuses_other_settings_and_other_music(
    music: Path, unbroken: Path, tmp_path: Path
) -> None:
    run = Path(shutil.copytree(unbroken, tmp_path / "run"))
    with pytest.raises(ResumeMismatchError, match="batch_size"):
        list(train(music, run, replace(RECIPE, batch_size=3), device="cpu", resume=True))
    less = Path(shutil.copytree(music, tmp_path / "less"))
    sorted(less.glob("*.mid"))[0].unlink()
    with pytest.raises(ResumeMismatchError, match="music"):
        list(train(less, run, None, device="cpu", resume=True))


def test_music_that_was_copied_is_the_same_music(
    music: Path, unbroken: Path, tmp_path: Path
) -> None:
    """Guards a resume that was refused because the files bore another date."""
    run = Path(shutil.copytree(unbroken, tmp_path / "run"))
    copied = tmp_path / "copied"
    copied.mkdir()
    for path in music.glob("*.mid"):
        (copied / path.name).write_bytes(path.read_bytes())
    events = list(train(copied, run, None, device="cpu", resume=True))
    assert isinstance(events[-1], Finished)


def test_a_setting_is_held_against_the_run_also_where_it_is_the_default(unbroken: Path):
    """Guards `--resume --seed 0`, which went on with another seed and said nothing."""
    assert resumed_recipe(unbroken, {}) is None
    assert resumed_recipe(unbroken, {"seed": 0}) == Run(folder=unbroken).facts().recipe
    other = resumed_recipe(unbroken, {"preset": "small", "momentum": 0.95})
    with pytest.raises(ResumeMismatchError, match="preset = tiny, not small"):
        list(train(unbroken, unbroken, other, device="cpu", resume=True))


def test_one_process_a_run(music: Path, tmp_path: Path) -> None:
    """Guards checkpoints that two processes replaced for each other, and metrics told twice."""
    first = train(music, tmp_path / "run", RECIPE, device="cpu")
    assert any(isinstance(event, StepDone) for event in first)
    with pytest.raises(TrainingError, match="Another process") as caught:
        list(train(music, tmp_path / "run", None, device="cpu", resume=True))
    assert "another folder" in caught.value.hint
    first.close()
    resumed = list(train(music, tmp_path / "run", None, device="cpu", resume=True))
    assert isinstance(resumed[-1], Finished)


def test_a_refused_folder_leaves_no_run(tmp_path: Path) -> None:
    (tmp_path / "music").mkdir()
    (tmp_path / "music" / "bad.mid").write_bytes(b"no music")
    with pytest.raises(MusicgenError):
        list(train(tmp_path / "music", tmp_path / "run", RECIPE, device="cpu"))
    assert [path.name for path in tmp_path.iterdir()] == ["music"]


@pytest.mark.parametrize("left", ["nothing", "a folder", "a half"])
def test_a_run_whose_checkpoints_are_gone_is_not_begun_anew(
    music: Path, unbroken: Path, tmp_path: Path, left: str
) -> None:
    """Guards a resume that began from nothing and put its model in the place of the best one."""
    run = Path(shutil.copytree(unbroken, tmp_path / "run"))
    shutil.rmtree(run / "checkpoints")
    if left != "nothing":
        (run / "checkpoints").mkdir()
    if left == "a half":
        (run / "checkpoints" / ".step-000000024.x").mkdir()
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    with pytest.raises(TrainingError, match="done 24 steps, but its checkpoints are gone") as told:
        list(train(music, run, None, device="cpu", resume=True))
    assert "--from" in told.value.hint
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before


def test_a_run_that_never_saved_begins_anew(music: Path, unbroken: Path, tmp_path: Path) -> None:
    """What a run leaves that is killed after a validation, before its first checkpoint."""
    run = Path(shutil.copytree(unbroken, tmp_path / "run"))
    shutil.rmtree(run / "checkpoints")
    (run / "loss.png").unlink()
    steps = [
        event.step
        for event in train(music, run, None, device="cpu", resume=True)
        if isinstance(event, StepDone)
    ]
    assert steps == list(range(1, 25))


@pytest.mark.parametrize(
    "line", [b"5", b"[1]", b'{"step": null}', b"\xff\xfe\x00\x80", b"\0" * 4096, b'{"step": 25}\n']
)
def test_a_damaged_line_of_the_metrics_is_dropped(unbroken: Path, tmp_path: Path, line: bytes):
    """Guards a resume that ended in a traceback beside sound checkpoints."""
    run = Run(folder=Path(shutil.copytree(unbroken, tmp_path / "run")))
    whole = (run.folder / "metrics.jsonl").read_bytes()
    (run.folder / "metrics.jsonl").write_bytes(whole + line)
    run.rewind_log(24)
    assert (run.folder / "metrics.jsonl").read_bytes() == whole


@pytest.mark.parametrize("damage", ["missing", "empty", "shape"])
def test_an_optimizer_that_does_not_fit_is_passed_over(
    music: Path, unbroken: Path, tmp_path: Path, damage: str
) -> None:
    """Guards a resume that ended in a KeyError: the file had its hash, and lacked a parameter."""
    run = tmp_path / "run"
    stopped = train(music, run, RECIPE, device="cpu")
    next(event for event in stopped if isinstance(event, StepDone) and event.step == 20)
    stopped.close()
    list(train(music, run, None, device="cpu", resume=True))
    sound, newest = sorted((run / "checkpoints").iterdir())
    tensors = safetensors.torch.load((newest / "optimizer.safetensors").read_bytes())
    name = min(tensors)
    kept = {key: value for key, value in tensors.items() if key != name}
    broken = {"missing": kept, "empty": {}, "shape": {**tensors, name: torch.zeros(1, 2, 3)}}
    add_file(newest, "optimizer.safetensors", safetensors.torch.save(broken[damage]))
    found = Run(folder=run).newest(RECIPE, torch.device("cpu"))
    assert found is not None
    assert found.state.step == int(sound.name[-9:])
    assert "does not fit it" in found.passed_over[0]


def test_a_model_that_became_none_is_no_success(music: Path, unbroken: Path, tmp_path: Path):
    """Guards `nan bits a note` at the last step, reported with exit code 0."""
    run = Path(shutil.copytree(unbroken, tmp_path / "run"))
    facts = Run(folder=run).facts()
    Run(folder=run).begin(replace(facts, steps=25))
    newest = sorted((run / "checkpoints").iterdir())[-1]
    tensors = safetensors.torch.load((newest / "optimizer.safetensors").read_bytes())
    for key in tensors:
        if key.endswith(":momentum"):
            tensors[key] = torch.full_like(tensors[key], float("nan"))
    add_file(newest, "optimizer.safetensors", safetensors.torch.save(tensors))
    with pytest.raises(NonFiniteLossError, match="no numbers"):
        list(train(music, run, None, device="cpu", resume=True))
