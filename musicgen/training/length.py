"""How many steps a run takes: given, counted from epochs, or from minutes by a short trial."""

from __future__ import annotations

import copy
import time

import torch

from musicgen.model import Decoder
from musicgen.training.optim import make_optimizer
from musicgen.training.recipe import DEFAULT_MINUTES, TrainingRecipe
from musicgen.training.step import make_loss, optimizer_step
from musicgen.training.windows import WindowSampler

_TRIAL_STEPS = 4
_SHARE_FOR_STEPS = 0.93
"""The rest of the minutes goes to validation and saving."""


def steps_of(
    recipe: TrainingRecipe, decoder: Decoder, sampler: WindowSampler, device: torch.device
) -> tuple[int, float | None]:
    """Return the number of steps, and the trial's seconds a step where there was one.

    The trial runs on a copy, so that it leaves no trace in the run.
    """
    if recipe.steps is not None:
        return recipe.steps, None
    if recipe.epochs is not None:
        windows = recipe.epochs * sampler.windows_an_epoch
        return max(1, round(windows / recipe.batch_size)), None
    minutes = DEFAULT_MINUTES if recipe.minutes is None else recipe.minutes
    began = time.monotonic()
    seconds = _seconds_a_step(recipe, copy.deepcopy(decoder), sampler, device)
    left = 60 * minutes * _SHARE_FOR_STEPS - (time.monotonic() - began)
    return max(1, int(left / seconds)), seconds


def _seconds_a_step(
    recipe: TrainingRecipe, decoder: Decoder, sampler: WindowSampler, device: torch.device
) -> float:
    losses, optimizer = make_loss(decoder, recipe, device), make_optimizer(decoder, recipe)
    times = []
    for step in range(1 + _TRIAL_STEPS):
        began = time.monotonic()
        ids = torch.from_numpy(sampler.batch(step)).to(device)
        optimizer_step(losses, ids, decoder, optimizer, rate=1e-6, clip_norm=recipe.clip_norm)
        times.append(time.monotonic() - began)
    # The first step compiles and warms up; it tells nothing of the others.
    return sum(times[1:]) / _TRIAL_STEPS
