"""What a run may do beside its steps: end early, average, make pieces, draw, tell TensorBoard."""

from __future__ import annotations

import shutil
import sys
import types
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from musicgen.errors import ConfigError, TrainingError
from musicgen.midi import note_table, read_midi
from musicgen.training import (
    Finished,
    Planned,
    SamplesMade,
    StepDone,
    StoppedEarly,
    TrainingRecipe,
    Validated,
    boards,
    train,
)
from musicgen.training.averaging import Average
from musicgen.training.picture import draw_losses
from runs import RECIPE
from small_models import small_decoder

PNG = b"\x89PNG\r\n"
ENDING = replace(
    RECIPE,
    validate_steps=4,
    warmup_steps=0,
    restart_steps=(20,),
    restart_learning_rates=(1.0,),  # it gets worse
    steps=60,
    patience=2,
)


def newest(run: Path) -> dict[str, bytes]:
    folder = sorted((run / "checkpoints").iterdir())[-1]
    return {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if path.suffix == ".safetensors" or path.name == "state.json"
    }


def stop_after(music: Path, run: Path, recipe: TrainingRecipe, step: int) -> None:
    events = train(music, run, recipe, device="cpu")
    next(event for event in events if isinstance(event, StepDone) and event.step == step)
    events.close()


def test_a_run_ends_where_held_out_music_gains_no_more(music: Path, tmp_path: Path) -> None:
    """Guards a patience that a resume begins anew, and one that counts what `best/` keeps."""
    run = tmp_path / "run"
    stop_after(music, run, replace(ENDING, keep="last"), 25)
    events = list(train(music, run, None, device="cpu", resume=True))
    [early] = [event for event in events if isinstance(event, StoppedEarly)]
    losses = {event.step: event.loss for event in events if isinstance(event, Validated)}
    assert (early.n_validations, early.steps) == (2, 60)
    assert early.step == 28
    assert losses[28] > 0
    end = events[-1]
    assert isinstance(end, Finished)
    assert end.step == 28
    again = list(train(music, run, None, device="cpu", resume=True))
    assert not any(isinstance(event, StepDone) for event in again)
    assert isinstance(again[-1], Finished)


def test_a_mean_of_the_weights_is_kept_and_resumed_to_the_bit(music: Path, tmp_path: Path) -> None:
    """Guards a mean that a resumed run begins anew."""
    recipe = replace(RECIPE, ema_decay=0.9)
    list(train(music, tmp_path / "whole", recipe, device="cpu"))
    stop_after(music, tmp_path / "run", recipe, 13)
    list(train(music, tmp_path / "run", None, device="cpu", resume=True))
    assert newest(tmp_path / "run") == newest(tmp_path / "whole")
    best = [(tmp_path / name / "best/model.safetensors").read_bytes() for name in ("run", "whole")]
    assert best[0] == best[1]
    assert best[0] != newest(tmp_path / "whole")["model.safetensors"]


def test_the_mean_forgets_the_first_weights():
    """Guards a mean in which the random weights of the beginning weigh as long as the run lasts."""
    decoder = small_decoder()
    average = Average(decoder, 0.99)
    with torch.no_grad():
        for parameter in decoder.parameters():
            parameter.add_(1.0)
    first = next(average.decoder.parameters()).clone()
    average.take_in(decoder, 1)
    one = next(average.decoder.parameters()).clone()
    torch.testing.assert_close(one - first, torch.full_like(one, 9 / 11))
    for step in range(2, 200):
        average.take_in(decoder, step)
    torch.testing.assert_close(
        next(average.decoder.parameters()), next(decoder.parameters()), atol=1e-3, rtol=0
    )
    with pytest.raises(ValueError, match="missing"):
        average.restore({})


def test_pieces_on_the_way_change_nothing_of_the_run(
    music: Path, unbroken: Path, tmp_path: Path
) -> None:
    """Guards samples that draw from the run's order, or leave the model in another mode."""
    recipe = replace(RECIPE, sample_steps=10, sample_seconds=4.0)
    events = list(train(music, tmp_path / "run", recipe, device="cpu"))
    made = [event for event in events if isinstance(event, SamplesMade)]
    assert [event.step for event in made] == [10, 20, 24]
    files = [file for event in made for file in event.files]
    assert files
    for file in files:
        notes = note_table(read_midi(file).score)
        assert len(notes) > 0
        assert notes.end_s.max() < 4.2
    assert newest(tmp_path / "run") == newest(unbroken)
    assert (tmp_path / "run" / "loss.png").read_bytes().startswith(PNG)


def test_pieces_by_the_clock(music: Path, tmp_path: Path) -> None:
    recipe = replace(RECIPE, steps=2, sample_minutes=0.0, sample_seconds=1.0, n_samples=1)
    events = list(train(music, tmp_path / "run", recipe, device="cpu"))
    assert [event.step for event in events if isinstance(event, SamplesMade)] == [1, 2]
    with pytest.raises(ConfigError, match="exclude"):
        TrainingRecipe(sample_steps=5, sample_minutes=1.0)


def test_losses_are_drawn_from_the_metrics(unbroken: Path, tmp_path: Path) -> None:
    shutil.copy(unbroken / "metrics.jsonl", tmp_path)
    assert draw_losses(tmp_path) == tmp_path / "loss.png"
    assert (tmp_path / "loss.png").read_bytes().startswith(PNG)
    (tmp_path / "metrics.jsonl").write_text("")
    assert draw_losses(tmp_path) is None
    assert {path.name for path in tmp_path.iterdir()} == {"metrics.jsonl", "loss.png"}


def test_tensorboard_that_is_missing_is_said_at_once(
    music: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boards, "find_spec", lambda name: None)
    with pytest.raises(TrainingError, match="TensorBoard") as caught:
        list(train(music, tmp_path / "run", replace(RECIPE, tensorboard=True), device="cpu"))
    assert "pip install tensorboard," in caught.value.hint
    assert not (tmp_path / "run").exists()


def test_tensorboard_is_told_the_metrics(
    music: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards a resumed run whose board tells steps twice."""
    told: list[Any] = []

    class SummaryWriter:
        def __init__(self, folder: str, purge_step: int) -> None:
            told.append((Path(folder).name, purge_step))

        def add_scalar(self, name: str, value: float, step: int) -> None:
            told.append((name, step))

        def close(self) -> None:
            told.append("closed")

    fake: Any = types.ModuleType("torch.utils.tensorboard")
    fake.SummaryWriter = SummaryWriter
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", fake)
    monkeypatch.setattr(boards, "find_spec", lambda name: True)
    recipe = replace(RECIPE, tensorboard=True, steps=3, validate_steps=3)
    stop_after(music, tmp_path / "run", recipe, 2)
    assert told[0] == ("tensorboard", 1)
    assert [step for name, step in told[1:-1] if name == "loss"] == [1, 2]
    assert told.pop() == "closed"
    told.clear()
    resumed = list(train(music, tmp_path / "run", None, device="cpu", resume=True))
    assert next(event for event in resumed if isinstance(event, Planned)).first_step == 2
    assert told[0] == ("tensorboard", 3)
    assert ("validation_bits_per_note", 3) in told
