"""What a run would take, size by size, before it is trained."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
import torch

from musicgen.model import Decoder
from musicgen.training import (
    Outlook,
    Scanned,
    TrainingRecipe,
    fine_tuning_recipe,
    look_ahead,
    step,
)
from musicgen.training.candidates import OWN_SIZE
from musicgen.training.length import Tried, minutes_of, steps_in
from musicgen.training.memory import free_bytes, peak_bytes
from musicgen.training.outlook import Trial
from runs import RECIPE
from small_models import save_small, small_config

CPU = torch.device("cpu")
TRIAL = Trial(
    seconds_per_step=0.5,
    events_per_s=100.0,
    steps=1000,
    minutes=9.0,
    epochs=1.0,
    memory_bytes=500,
    windows_at_once=None,
)
SMALL = replace(RECIPE, steps=600)


def test_every_size_is_tried_and_nothing_is_trained(music: Path, tmp_path: Path) -> None:
    events = list(look_ahead(music, SMALL, run_folder=tmp_path / "run", device="cpu"))
    [scanned] = [event for event in events if isinstance(event, Scanned)]
    assert scanned.n_pieces == 6
    found = [event for event in events if isinstance(event, Outlook)]
    assert [each.size for each in found] == ["tiny", "small", "medium", OWN_SIZE]
    own = found.pop()
    parameters = [each.parameters for each in found]
    assert own.parameters < parameters[0]
    assert parameters == sorted(parameters)
    trials = [each.trial for each in (own, *found)]
    assert [t.memory_bytes for t in trials if t] == sorted(t.memory_bytes for t in trials if t)
    for trial in trials:
        assert trial is not None
        assert trial.events_per_s == pytest.approx(64 / trial.seconds_per_step)
        assert trial.steps == 600
        assert trial.minutes > 600 * trial.seconds_per_step / 0.93 / 60
    # The events are made once: the run that follows finds them.
    assert {path.name for path in (tmp_path / "run").iterdir()} >= {"corpus"}
    assert not (tmp_path / "run" / "run.json").exists()


def test_both_ways_to_fine_tune_are_tried(music: Path, tmp_path: Path) -> None:
    """Guards: what it takes to go on with a model could not be asked before it was begun."""
    decoder = Decoder(small_config(max_seq_len=32))
    parent = save_small(tmp_path / "parent", decoder)
    recipe = fine_tuning_recipe(steps=25, batch_size=1)
    events = list(look_ahead(music, recipe, start_from=parent, device="cpu"))
    whole, narrow = (event for event in events if isinstance(event, Outlook))
    assert narrow.size == f"{whole.size}, LoRA 8"
    assert whole.parameters == decoder.config.parameter_count() > 2 * narrow.parameters
    for each in (whole, narrow):
        assert each.trial is not None
        assert each.trial.steps == 25
        assert each.trial.events_per_s == pytest.approx(32 / each.trial.seconds_per_step)
        # Few steps suffice for a model that knows music already.
        assert each.verdict == "fits"
        assert "20 steps" in replace(each, trial=replace(each.trial, steps=19)).verdict
    lora = fine_tuning_recipe(steps=25, batch_size=1, lora_rank=2)
    again = [e for e in look_ahead(music, lora, start_from=parent) if isinstance(e, Outlook)]
    assert [each.size for each in again] == [whole.size, f"{whole.size}, LoRA 2"]


def test_minutes_become_steps_and_steps_minutes() -> None:
    """Guards a minute of training that took nearly two, the second for validations."""
    unused = cast("Any", None)
    tried = Tried(recipe=TrainingRecipe(), decoder=unused, curriculum=unused, device=unused)
    assert steps_in(10, 0.5, tried) == 1116  # a share is for saving
    assert minutes_of(1116, 0.5, tried) == pytest.approx(10)
    looking = replace(tried, n_held_out=60)  # a look costs as much as five steps of four windows
    assert steps_in(1, 0.5, looking) == 71  # 111.6 steps' time, eight looks
    assert minutes_of(71, 0.5, looking) == pytest.approx((71 + 8 * 5) * 0.5 / 0.93 / 60)
    assert steps_in(600, 0.5, looking) > 66_800
    assert steps_in(0.05, 100.0, looking) == 1


def test_a_size_that_fits_in_parts_or_not_at_all(
    music: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards a plan that ends where the first size does not fit."""
    from musicgen.training.step import make_loss

    def made(decoder, *args):
        losses = make_loss(decoder, *args)
        most = 0 if decoder.config.d_model > 256 else 32

        def limited(ids: torch.Tensor) -> torch.Tensor:
            if ids.shape[0] * (ids.shape[1] - 1) > most:
                raise torch.OutOfMemoryError("CUDA out of memory.")
            return losses(ids)

        return limited

    monkeypatch.setattr(step, "make_loss", made)
    recipe = replace(SMALL, d_model=None, n_layers=None, d_ff=None, d_head_ff=None)
    found = [e for e in look_ahead(music, recipe, device="cpu") if isinstance(e, Outlook)]
    assert [each.size for each in found] == ["tiny", "small", "medium"]
    assert found[0].trial is not None
    assert found[0].trial.windows_at_once == 1
    assert found[0].verdict == "fits, 1 of its windows at once"
    assert found[2].trial is None
    assert found[2].is_too_large


@pytest.mark.parametrize(
    ("free", "changes", "verdict"),
    [
        (1000, {}, "fits"),
        (None, {}, "fits"),
        (400, {}, "too large"),
        (1000, {"steps": 299}, "too slow"),
        (1000, {"windows_at_once": 2}, "2 of its windows at once"),
    ],
)
def test_a_size_is_judged_by_memory_and_steps(free: int | None, changes: dict, verdict: str):
    outlook = Outlook(size="a", parameters=1, trial=replace(TRIAL, **changes), free_bytes=free)
    assert verdict in outlook.verdict


def test_memory_is_counted_while_it_is_held():
    """Guards a sum of all that was ever made, and views counted as tensors of their own."""
    with peak_bytes(CPU) as peak:
        kept = torch.ones(1000)
        for _ in range(5):
            torch.ones(500).view(5, 100).sum()
        kept.add_(1)
    assert 6000 <= peak.bytes <= 6100


def test_free_memory_is_some():
    free = free_bytes(CPU)
    assert free is None or free > 2**20
