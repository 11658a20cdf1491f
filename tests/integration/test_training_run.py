"""A run learns, loses nothing, and resumes to the bit."""

from __future__ import annotations

import json
import shutil
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from musicgen.assets import asset_dir
from musicgen.checkpoint import load_checkpoint
from musicgen.engine.compiled import NOT_KEPT
from musicgen.errors import (
    ConfigError,
    NonFiniteLossError,
    TrainingError,
)
from musicgen.training import (
    CheckpointSaved,
    Finished,
    Planned,
    StepDone,
    TrainingRecipe,
    Validated,
    precision,
    train,
)
from musicgen.training.length import few_steps_notice
from runs import RECIPE


def newest_bytes(run: Path) -> dict[str, bytes]:
    folder = sorted((run / "checkpoints").iterdir())[-1]
    names = ("model.safetensors", "optimizer.safetensors", "state.json")
    return {name: (folder / name).read_bytes() for name in names}


def metrics(run: Path) -> list[dict[str, float]]:
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in line.items() if k != "events_per_s"} for line in lines]


def test_a_run_tells_what_it_does(music: Path, tmp_path: Path) -> None:
    events = list(train(music, tmp_path / "run", RECIPE, device="cpu"))
    steps = [event for event in events if isinstance(event, StepDone)]
    assert [event.step for event in steps] == list(range(1, 25))
    assert [event.step for event in events if isinstance(event, Validated)] == [8, 16, 24]
    assert isinstance(events[-1], Finished)
    assert sum(e.loss for e in steps[-4:]) < sum(e.loss for e in steps[:4])
    assert steps[-1].learning_rate < steps[4].learning_rate
    checkpoint = load_checkpoint(tmp_path / "run")
    assert checkpoint.manifest.training["notes"] > 0
    assert checkpoint.manifest.step == 24


def test_same_seed_same_bytes(music: Path, unbroken: Path, tmp_path: Path) -> None:
    list(train(music, tmp_path / "run", RECIPE, device="cpu"))
    assert newest_bytes(tmp_path / "run") == newest_bytes(unbroken)
    list(train(music, tmp_path / "other", replace(RECIPE, seed=1), device="cpu"))
    assert newest_bytes(tmp_path / "other") != newest_bytes(unbroken)


@pytest.mark.parametrize("stop_after", [1, 7, 8, 20])
def test_stopped_and_resumed_equals_unbroken(
    music: Path, unbroken: Path, tmp_path: Path, stop_after: int
) -> None:
    """Guards R08, R10, R11, R12: data order, rate and optimizer after a resume, to the bit."""
    events = train(music, tmp_path / "run", RECIPE, device="cpu")
    for event in events:
        if isinstance(event, StepDone) and event.step == stop_after:
            break
    events.close()  # type: ignore[attr-defined]
    torch.rand(3)  # somebody else draws from the global generator meanwhile
    resumed = list(train(music, tmp_path / "run", None, device="cpu", resume=True))
    planned = next(event for event in resumed if isinstance(event, Planned))
    assert planned.first_step == stop_after
    assert newest_bytes(tmp_path / "run") == newest_bytes(unbroken)
    assert metrics(tmp_path / "run") == metrics(unbroken)
    best = (tmp_path / "run" / "best" / "model.safetensors").read_bytes()
    assert best == (unbroken / "best" / "model.safetensors").read_bytes()


def test_a_resumed_run_goes_on_with_the_turn_that_was_due(music: Path, tmp_path: Path) -> None:
    """Guards matrices that take turns (Muon): one never updated, a resume that begins again."""
    recipe = replace(RECIPE, muon_period=3)
    list(train(music, tmp_path / "unbroken", recipe, device="cpu"))
    events = train(music, tmp_path / "run", recipe, device="cpu")
    next(event for event in events if isinstance(event, StepDone) and event.step == 7)
    events.close()  # type: ignore[attr-defined]
    list(train(music, tmp_path / "run", None, device="cpu", resume=True))
    assert newest_bytes(tmp_path / "run") == newest_bytes(tmp_path / "unbroken")
    # Where a branch ends matrices begin with zeros.
    assert all(each.any() for each in load_checkpoint(tmp_path / "run").decoder.parameters())


@pytest.mark.parametrize("keep", ["lowest", "last"])
def test_best_holds_what_the_recipe_keeps(music: Path, tmp_path: Path, keep: str) -> None:
    """Guards a recipe whose own output is not the model that is shipped of it."""
    recipe = replace(RECIPE, keep=keep, validate_steps=4, warmup_steps=0)
    recipe = replace(recipe, restart_steps=(20,), restart_learning_rates=(1.0,))  # it gets worse
    events = list(train(music, tmp_path / "run", recipe, device="cpu"))
    validated = [event for event in events if isinstance(event, Validated)]
    lowest = min(validated, key=lambda event: event.loss)
    kept = load_checkpoint(tmp_path / "run")
    wanted = lowest if keep == "lowest" else validated[-1]
    assert lowest.step < validated[-1].step  # else the two recipes keep the same
    assert kept.manifest.step == wanted.step
    end = events[-1]
    assert isinstance(end, Finished)
    assert end.bits_per_note == wanted.bits_per_note


def test_a_damaged_newest_checkpoint_is_passed_over(
    music: Path, unbroken: Path, tmp_path: Path
) -> None:
    events = train(music, tmp_path / "run", replace(RECIPE, checkpoint_minutes=0.0), device="cpu")
    for event in events:
        if isinstance(event, CheckpointSaved) and event.step == 10:
            break
    events.close()  # type: ignore[attr-defined]
    newest = sorted((tmp_path / "run" / "checkpoints").iterdir())[-1]
    data = bytearray((newest / "optimizer.safetensors").read_bytes())
    data[-1] ^= 1
    (newest / "optimizer.safetensors").write_bytes(bytes(data))
    resumed = list(train(music, tmp_path / "run", None, device="cpu", resume=True))
    planned = next(event for event in resumed if isinstance(event, Planned))
    assert planned.first_step == 9
    assert "damaged" in planned.notice
    assert (
        newest_bytes(tmp_path / "run")["model.safetensors"]
        == (newest_bytes(unbroken)["model.safetensors"])
    )


def test_a_run_is_never_overwritten(music: Path, unbroken: Path, tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="holds a run") as caught:
        list(train(music, unbroken, RECIPE, device="cpu"))
    assert "--resume" in caught.value.hint
    with pytest.raises(TrainingError, match="no run to resume"):
        list(train(music, tmp_path / "none", RECIPE, device="cpu", resume=True))
    (tmp_path / "file").write_text("")
    with pytest.raises(TrainingError, match="is a file"):
        list(train(music, tmp_path / "file", RECIPE, device="cpu"))


def test_minutes_become_steps_once(music: Path, tmp_path: Path) -> None:
    recipe = replace(RECIPE, steps=None, minutes=0.05)
    events = list(train(music, tmp_path / "run", recipe, device="cpu"))
    planned = next(event for event in events if isinstance(event, Planned))
    assert planned.seconds_per_step is not None
    facts = json.loads((tmp_path / "run" / "run.json").read_text())
    assert facts["steps"] == planned.steps
    assert facts["trial_seconds_per_step"] == planned.seconds_per_step
    again = list(train(music, tmp_path / "run", None, device="cpu", resume=True))
    assert next(e for e in again if isinstance(e, Planned)).steps == planned.steps


def test_the_precision_is_decided_once_and_written_down(music: Path, tmp_path: Path) -> None:
    """Guards a resumed run that measures again, and goes on in other numbers than it began in."""
    list(train(music, tmp_path / "run", replace(RECIPE, precision="auto", steps=2), device="cpu"))
    facts = json.loads((tmp_path / "run" / "run.json").read_text())
    assert facts["recipe"]["precision"] in ("float32", "bf16")


def test_a_run_says_that_compiled_code_cannot_be_kept(
    music: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards machines on which every run compiles for seconds before its first step, unsaid."""
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX2")
    monkeypatch.setattr("musicgen.engine.compiled.warnings_about", lambda *_: (NOT_KEPT,))
    recipe = replace(RECIPE, d_model=128)
    with closing(train(music, tmp_path / "run", recipe, device="cpu")) as events:
        planned = next(event for event in events if isinstance(event, Planned))
    assert planned.notice.endswith(NOT_KEPT)


def test_bf16_is_chosen_where_it_is_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guards a processor that announces bf16 and multiplies float32 at 1.7 times its speed."""
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: True)
    for bf16_s, expected in ((0.5, "bf16"), (1.7, "float32"), (1.0, "float32")):
        seconds = {torch.bfloat16: bf16_s, torch.float32: 1.0}
        monkeypatch.setattr(precision, "_seconds", seconds.__getitem__)
        assert precision.faster_precision(torch.device("cpu")) == expected


def test_minutes_that_do_not_suffice_are_said() -> None:
    """Guards a run of a handful of steps that looks like any other."""
    notice = few_steps_notice(RECIPE, 40, 3.0)
    assert "Only 40 steps" in notice
    assert "Take 17 minutes (--minutes 17)" in notice
    assert "--preset tiny" in few_steps_notice(replace(RECIPE, preset="small"), 40, 3.0)
    # Guards "Take 2 minutes or more" under a run of two minutes.
    short = few_steps_notice(replace(RECIPE, steps=None, minutes=2.0), 263, 0.35)
    assert "Take 3 minutes (--minutes 3)" in short
    # Guards fine-tuning from being told to take a smaller size, and hundreds of steps.
    on = few_steps_notice(replace(RECIPE, preset="small"), 7, 3.0, goes_on=True)
    assert "below 20" in on
    assert "preset" not in on
    assert few_steps_notice(RECIPE, 40, 3.0, goes_on=True) == ""
    assert few_steps_notice(RECIPE, 300, 0.1) == few_steps_notice(RECIPE, 3, None) == ""


def test_a_run_goes_on_from_a_model(music: Path, unbroken: Path, tmp_path: Path) -> None:
    recipe = replace(RECIPE, steps=3, learning_rate=1e-5)
    events = list(train(music, tmp_path / "run", recipe, device="cpu", start_from=unbroken))
    first = next(event for event in events if isinstance(event, StepDone))
    parent = load_checkpoint(unbroken)
    random_start = metrics(unbroken)[0]["loss"]
    assert first.loss < random_start - 2, "it begins where the parent ended, not at random"
    assert load_checkpoint(tmp_path / "run").manifest.training["parent"] == parent.sha256


def test_a_corpus_smaller_than_a_window_trains(tmp_path: Path) -> None:
    """Guards R18: fewer samples than a batch gave zero steps or a division by zero."""
    root = tmp_path / "music"
    root.mkdir()
    shutil.copy(sorted((asset_dir("data") / "starter").glob("*.mid"))[0], root)
    recipe = replace(RECIPE, seq_len=4096, batch_size=3, steps=2, epochs=None)
    events = list(train(root, tmp_path / "run", recipe, device="cpu"))
    assert isinstance(events[-1], Finished)


def test_a_loss_that_leaves_the_numbers_stops_the_run(
    music: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    infinite = torch.tensor(float("inf"))
    with monkeypatch.context() as patched:
        patched.setattr(torch.nn.utils, "get_total_norm", lambda *_: infinite)
        with pytest.raises(NonFiniteLossError, match="inf") as caught:
            list(train(music, run, RECIPE, device="cpu"))
    assert "learning_rate" in caught.value.hint
    assert metrics(run) == [], "no line claims a step that was not taken"


@pytest.mark.parametrize(
    ("setting", "value"),
    [("preset", "huge"), ("scheme", "abc"), ("batch_size", 0), ("seed", -1), ("minutes", 0.0)],
)
def test_settings_out_of_range_are_refused(setting: str, value: object) -> None:
    with pytest.raises(ConfigError, match=setting):
        replace(TrainingRecipe(), **{setting: value})  # type: ignore[arg-type]


def test_the_length_is_given_once() -> None:
    with pytest.raises(ConfigError, match="twice"):
        TrainingRecipe(steps=1, minutes=1.0)


def test_an_unwritable_run_folder_is_found_out_at_once(music: Path, tmp_path: Path) -> None:
    """Guards R05: hours lost at the first save."""
    (tmp_path / "blocked").write_text("a file where a folder is needed")
    began = time.monotonic()
    with pytest.raises(TrainingError):
        list(train(music, tmp_path / "blocked" / "run", RECIPE, device="cpu"))
    assert time.monotonic() - began < 5
