"""Whether a run's step is compiled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from musicgen.corpus import Piece
from musicgen.errors import TrainingError
from musicgen.model import Decoder
from musicgen.training import TrainingRecipe, compiling
from musicgen.training.compiling import COMPILED, NOT_COMPILED, WORTHWHILE_S, settle_compile
from musicgen.training.curriculum import curriculum_of
from musicgen.training.length import Tried, expected_s
from musicgen.training.step import make_loss
from small_models import small_config

pytestmark = [  # torch's own
    pytest.mark.filterwarnings("ignore:.*script_method:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:dynamo_pgo force disabled:UserWarning"),
]

CPU = torch.device("cpu")


@pytest.fixture
def broken(tmp_path: Path) -> Iterator[None]:
    """A machine whose compiler fails."""
    from torch._inductor import config

    program = tmp_path / "g++"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    with config.patch({"cpp.cxx": (str(program),), "force_disable_caches": True}):
        yield


def test_a_short_run_does_not_even_look_for_a_compiler(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(compiling, "compiles", lambda device: pytest.fail("looked"))
    assert settle_compile(expected_s=WORTHWHILE_S - 1, device=CPU) == (False, "")


@pytest.mark.parametrize(("works", "told"), [(True, COMPILED), (False, NOT_COMPILED)])
def test_a_long_run_is_compiled_where_that_works_and_says_so(monkeypatch, works, told):
    monkeypatch.setattr(compiling, "compiles", lambda device: works)
    assert settle_compile(expected_s=2 * WORTHWHILE_S, device=CPU) == (works, told)


def test_a_compiler_that_fails_is_none(broken):
    """Guards long runs that end at their first step: a program named g++ is not enough."""
    assert not compiling.compiles(CPU)


def test_a_step_that_cannot_be_compiled_is_a_sentence(broken):
    decoder = Decoder(small_config())
    losses = make_loss(decoder, TrainingRecipe(compile=True, precision="float32"), CPU)
    with pytest.raises(TrainingError, match="could not be compiled") as caught:
        losses(torch.ones(1, 9, 4, dtype=torch.int64))
    assert "compile = false" in caught.value.hint


def test_a_loss_needs_the_decision():
    with pytest.raises(ValueError, match="compile"):
        make_loss(Decoder(small_config()), TrainingRecipe(precision="float32"), CPU)


def test_only_runs_of_many_steps_are_tried_out():
    events = np.full((400, 4), 5)
    piece = Piece(
        path="a.mid", split="train", start=0, n_events=400, n_notes=398, seconds=9.0, digest=""
    )
    recipe = TrainingRecipe(seq_len=32, batch_size=1, precision="float32", steps=299)
    curriculum = curriculum_of(recipe, events, [piece])
    decoder = Decoder(small_config())
    tried = Tried(recipe=recipe, decoder=decoder, curriculum=curriculum, device=CPU)
    assert expected_s(tried) == 0.0
    assert expected_s(replace(tried, recipe=replace(recipe, steps=300))) > 0.1
    longer = replace(recipe, steps=None, minutes=40)
    assert expected_s(replace(tried, recipe=longer)) == 2400.0
