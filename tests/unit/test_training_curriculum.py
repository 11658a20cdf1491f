"""Short windows first, whole ones later."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from musicgen.corpus import Piece
from musicgen.model import Decoder, DecoderConfig
from musicgen.training import TrainingRecipe, length
from musicgen.training.augmentation import settle_augmentation
from musicgen.training.curriculum import Curriculum, curriculum_of
from musicgen.training.length import Tried, steps_of

EVENTS = np.arange(4_000).reshape(1_000, 4)
PIECE = Piece(
    path="a.mid", split="train", start=0, n_events=1_000, n_notes=998, seconds=99.0, digest=""
)


def recipe(**settings: Any) -> TrainingRecipe:
    return replace(TrainingRecipe(seq_len=32, batch_size=2, early_seq_len=8), **settings)


def curriculum(**settings) -> Curriculum:
    return curriculum_of(recipe(**settings), EVENTS, [PIECE])


def shapes(made: Curriculum, steps: int) -> list[tuple[int, int]]:
    return [made.sampler(step, steps).batch(step).shape[:2] for step in range(steps)]


def test_windows_double_while_their_number_halves():
    """Guards equal steps: a step of short windows reads as many events as one of whole ones."""
    early = [(8, 9)] * 2 + [(4, 17)] * 2
    assert shapes(curriculum(early_share=0.5), 8) == early + [(2, 33)] * 4


@pytest.mark.parametrize(
    "settings", [{"early_seq_len": None}, {"early_seq_len": 32}, {"early_share": 0.0}]
)
def test_without_early_windows_all_are_whole(settings):
    assert shapes(curriculum(**settings), 4) == [(2, 33)] * 4


def test_the_last_length_need_not_be_a_doubling():
    assert [length for _, length in shapes(curriculum(early_seq_len=12, early_share=0.5), 4)] == [
        13,
        25,
        33,
        33,
    ]


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_an_epoch_counts_events_not_windows(share: float):
    """Guards epochs that end too early: an epoch has more short windows than whole ones."""
    decoder = Decoder(DecoderConfig(vocab_sizes=(8,), d_model=16, n_layers=1, d_ff=16))
    settings = recipe(early_share=share, epochs=1)
    made = curriculum_of(settings, EVENTS, [PIECE])
    cpu = torch.device("cpu")
    steps, _ = steps_of(Tried(recipe=settings, decoder=decoder, curriculum=made, device=cpu))
    assert steps == 16  # 31 windows of 32 events in the piece and one at its beginning, two a step


class Clock:
    """A machine whose steps take so long, one after the other; the last ones all alike."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *seconds: float) -> None:
        self.now_s = 0.0
        self.steps = 0
        self._seconds = seconds
        monkeypatch.setattr(length.time, "monotonic", lambda: self.now_s)
        monkeypatch.setattr(length, "Stepper", lambda *args, **kwargs: self)
        monkeypatch.setattr(length, "make_optimizers", lambda *args: None)

    def take(self, batch: Any, rate: float, turn: int) -> bool:
        self.now_s += self._seconds[min(self.steps, len(self._seconds) - 1)]
        self.steps += 1
        return True


def tried(settings: TrainingRecipe) -> Tried:
    made = curriculum_of(settings, EVENTS, [PIECE])
    decoder = Decoder(DecoderConfig(vocab_sizes=(8,), d_model=16, n_layers=1, d_ff=16))
    return Tried(recipe=settings, decoder=decoder, curriculum=made, device=torch.device("cpu"))


def test_a_moment_of_load_decides_no_runs_length(monkeypatch):
    """Guards 35 steps for ten minutes that ended after four: a mean of four slow steps."""
    Clock(monkeypatch, 20.0, 9.0, 1.0, 1.0, 14.0, 1.0, 1.0)
    settings = recipe(early_seq_len=None, minutes=10.0)
    assert length.seconds_a_step(tried(settings), 60.0) == 1.0


def test_measuring_takes_no_longer_than_the_run(monkeypatch):
    """Guards a run of a minute that measured for a minute: two steps of each length of window."""
    clock = Clock(monkeypatch, 8.0)
    settings = recipe(minutes=1.0)
    assert len(curriculum_of(settings, EVENTS, [PIECE]).phases) == 3
    steps, seconds = steps_of(tried(settings))
    assert (clock.steps, seconds) == (2, 8.0)
    assert steps * seconds + clock.now_s <= 60.0


def test_music_that_is_read_often_is_varied():
    """Guards a run of twenty minutes on a few pieces whose best model is that of the first two."""
    often, told = settle_augmentation(TrainingRecipe(), 20.0)
    assert (often.augment_semitones, often.augment_tempo, often.augment_velocity) == (5, 0.1, 8)
    assert "20 times" in told
    seldom, told = settle_augmentation(TrainingRecipe(), 3.0)
    assert (seldom.augment_semitones, seldom.augment_tempo, seldom.augment_velocity) == (0, 0, 0)
    assert told == ""
    as_given, _ = settle_augmentation(TrainingRecipe(augment_semitones=0, augment_tempo=0.2), 20.0)
    assert (as_given.augment_semitones, as_given.augment_tempo) == (0, 0.2)
    flat, _ = settle_augmentation(TrainingRecipe(scheme="remi"), 20.0)
    assert flat.augment_semitones == 0
