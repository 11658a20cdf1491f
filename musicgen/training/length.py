"""How many steps a run takes: given, counted from epochs, or from minutes by a short trial."""

from __future__ import annotations

import copy
import math
import time
from dataclasses import replace

import torch

from musicgen.model import Decoder
from musicgen.training.curriculum import Curriculum
from musicgen.training.optim import make_optimizers
from musicgen.training.recipe import DEFAULT_MINUTES, TrainingRecipe
from musicgen.training.step import make_loss, optimizer_step
from musicgen.training.windows import WindowSampler

_TRIAL_STEPS = 4
_SHARE_FOR_STEPS = 0.93
"""The rest of the minutes goes to validation and saving."""
_FEW_STEPS = 300
"""Below this even the tiny model has learned little beyond how often each pitch is played."""
_SHARE_FOR_TRIAL = 0.1
_ESTIMATE_S = 4.0


def steps_of(
    recipe: TrainingRecipe, decoder: Decoder, curriculum: Curriculum, device: torch.device
) -> tuple[int, float | None]:
    """Return the number of steps, and the trial's seconds a step where there was one.

    The trial runs on a copy, so that it leaves no trace in the run.
    """
    counted = _counted_steps(recipe, curriculum)
    if counted is not None:
        return counted, None
    minutes = DEFAULT_MINUTES if recipe.minutes is None else recipe.minutes
    began = time.monotonic()
    seconds = _trial_s(recipe, decoder, curriculum, device, _SHARE_FOR_TRIAL * 60 * minutes)
    left = 60 * minutes * _SHARE_FOR_STEPS - (time.monotonic() - began)
    return max(1, int(left / seconds)), seconds


def expected_s(
    recipe: TrainingRecipe, decoder: Decoder, curriculum: Curriculum, device: torch.device
) -> float:
    """Return about how many seconds the run will take if its step is not compiled.

    A run of few steps is not asked: it counts as none.
    """
    counted = _counted_steps(recipe, curriculum)
    if counted is None:
        return 60 * (DEFAULT_MINUTES if recipe.minutes is None else recipe.minutes)
    if counted < _FEW_STEPS:
        return 0.0
    plain = replace(recipe, compile=False)
    return counted * _trial_s(plain, decoder, curriculum, device, _ESTIMATE_S)


def _counted_steps(recipe: TrainingRecipe, curriculum: Curriculum) -> int | None:
    """Return the number of steps where it follows from the recipe alone."""
    if recipe.epochs is None:
        return recipe.steps
    events = recipe.epochs * curriculum.phases[-1].sampler.events_an_epoch
    return max(1, round(events / curriculum.mean(lambda each: each.events_a_step)))


def _trial_s(
    recipe: TrainingRecipe,
    decoder: Decoder,
    curriculum: Curriculum,
    device: torch.device,
    budget_s: float,
) -> float:
    """Return the seconds that a step of a copy takes, the mean over the run's windows."""
    budget_s /= len(curriculum.phases)
    trial = copy.deepcopy(decoder)
    return curriculum.mean(
        lambda sampler: _seconds_a_step(recipe, trial, sampler, device, budget_s)
    )


def few_steps_notice(recipe: TrainingRecipe, steps: int, seconds_a_step: float | None) -> str:
    """Return a sentence for a run whose minutes do not suffice, or nothing."""
    if seconds_a_step is None or steps >= _FEW_STEPS:
        return ""
    wanted = math.ceil(_FEW_STEPS * seconds_a_step / 60 / _SHARE_FOR_STEPS)
    smaller = "" if recipe.preset == "tiny" else ", or choose --preset tiny, which is faster"
    fit = "step fits" if steps == 1 else "steps fit"
    return (
        f"Only {steps:,} {fit} into the time; below {_FEW_STEPS} a model learns little. "
        f"Give --minutes {wanted} or more{smaller}."
    )


def _seconds_a_step(
    recipe: TrainingRecipe,
    decoder: Decoder,
    sampler: WindowSampler,
    device: torch.device,
    budget_s: float,
) -> float:
    losses, optimizers = make_loss(decoder, recipe, device), make_optimizers(decoder, recipe)
    times: list[float] = []
    while len(times) <= _TRIAL_STEPS and (len(times) < 2 or sum(times) < budget_s):
        began = time.monotonic()
        ids = torch.from_numpy(sampler.batch(len(times))).to(device)
        optimizer_step(losses, ids, decoder, optimizers, rate=1e-6, clip_norm=recipe.clip_norm)
        times.append(time.monotonic() - began)
    # The first step compiles and warms up; it tells nothing of the others.
    return sum(times[1:]) / len(times[1:])
