"""How many steps a run takes: given, counted from epochs, or from minutes by a short trial."""

from __future__ import annotations

import copy
import math
import statistics
import time
from bisect import bisect_right
from dataclasses import dataclass, replace

import torch

from musicgen.model import Decoder
from musicgen.training.batches import plain_batch
from musicgen.training.curriculum import Curriculum
from musicgen.training.group import ALONE, Group
from musicgen.training.optim import make_optimizers
from musicgen.training.recipe import DEFAULT_MINUTES, TrainingRecipe
from musicgen.training.step import Stepper
from musicgen.training.windows import WindowSampler

_WARM_STEPS, _TRIAL_STEPS = 2, 9
"""The first steps compile, and fill caches and memory; of the others the median counts, so that
what else the machine does for a moment decides nothing."""
_SHARE_FOR_STEPS = 0.93
"""Of the minutes, for steps and validations; the rest goes to saving and a slower moment."""
_FORWARD = 1 / 3
"""Of a step's time: reading as many events without learning from them."""
FEW_STEPS = 300
"""Below this even the tiny model has learned little beyond how often each pitch is played."""
FEW_STEPS_ON = 20
"""Fine-tuning on pop had most of its gain after so many (docs/lab_log.md)."""
_SHARE_FOR_TRIAL = 0.1
_ESTIMATE_S = 4.0
_TRIAL_RATE = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """What a run is tried with before it begins; all processes try it together.

    Attributes:
        recipe: The settings.
        decoder: The model; only copies of it are trained.
        curriculum: The windows.
        device: Where it trains.
        n_held_out: Windows that every validation looks at.
        group: The processes.
    """

    recipe: TrainingRecipe
    decoder: Decoder
    curriculum: Curriculum
    device: torch.device
    n_held_out: int = 0
    group: Group = ALONE

    def with_looks(self, steps: int) -> float:
        """Return so many steps with their validations, all of it in steps."""
        looks = math.ceil(steps / self.recipe.validation_interval(steps))
        return steps + looks * _FORWARD * self.n_held_out / self.recipe.batch_size


def steps_of(tried: Tried) -> tuple[int, float | None]:
    """Return the number of steps, and the trial's seconds a step where there was one.

    The trial runs on a copy, so that it leaves no trace in the run.
    """
    counted = counted_steps(tried.recipe, tried.curriculum)
    if counted is not None:
        return counted, None
    minutes = DEFAULT_MINUTES if tried.recipe.minutes is None else tried.recipe.minutes
    began = time.monotonic()
    seconds = seconds_a_step(tried, _SHARE_FOR_TRIAL * 60 * minutes)
    spent_s = tried.group.same(time.monotonic() - began)
    return steps_in(minutes, seconds, tried, spent_s), seconds


def steps_in(minutes: float, seconds_per_step: float, tried: Tried, spent_s: float = 0.0) -> int:
    """Return how many steps fit into so many minutes, of which some seconds are spent."""
    room = (60 * minutes * _SHARE_FOR_STEPS - spent_s) / seconds_per_step
    return max(1, bisect_right(range(1, int(max(room, 0)) + 1), room, key=tried.with_looks))


def minutes_of(steps: int, seconds_per_step: float, tried: Tried) -> float:
    """Return how many minutes so many steps take, with validation and saving."""
    return tried.with_looks(steps) * seconds_per_step / _SHARE_FOR_STEPS / 60


def expected_s(tried: Tried) -> float:
    """Return about how many seconds the run will take if its step is not compiled.

    A run of few steps is not asked: it counts as none.
    """
    recipe = tried.recipe
    counted = counted_steps(recipe, tried.curriculum)
    if counted is None:
        return 60 * (DEFAULT_MINUTES if recipe.minutes is None else recipe.minutes)
    if counted < FEW_STEPS:
        return 0.0
    plain = replace(tried, recipe=replace(recipe, compile=False))
    return counted * seconds_a_step(plain, _ESTIMATE_S)


def counted_steps(recipe: TrainingRecipe, curriculum: Curriculum) -> int | None:
    """Return the number of steps where it follows from the recipe alone."""
    if recipe.epochs is None:
        return recipe.steps
    events = recipe.epochs * curriculum.phases[-1].sampler.events_an_epoch
    return max(1, round(events / curriculum.mean(lambda each: each.events_a_step)))


def seconds_a_step(tried: Tried, budget_s: float) -> float:
    """Return the seconds that a step of a copy takes, the mean over the run's windows.

    Whole windows, which take longest, come first. Where two steps of them took the whole budget,
    shorter ones are taken to be as slow: to try them out would be to wait for nothing new.

    Args:
        tried: What is tried.
        budget_s: About so long it may take, but for the two steps that it needs.
    """
    trial = replace(tried, decoder=copy.deepcopy(tried.decoder))
    phases = trial.curriculum.phases
    found: dict[int, float] = {}
    began = time.monotonic()
    for at in reversed(range(len(phases))):
        spent_s = trial.group.same(time.monotonic() - began)
        if not found or spent_s < budget_s:
            share_s = (budget_s - spent_s) / (at + 1)
            found[at] = _seconds_a_step(trial, phases[at].sampler, share_s)
    slowest = max(found.values())
    mean = sum(phase.share * found.get(at, slowest) for at, phase in enumerate(phases))
    return trial.group.same(mean)


def few_steps_notice(
    recipe: TrainingRecipe, steps: int, seconds_a_step: float | None, *, goes_on: bool = False
) -> str:
    """Return a sentence for a run whose minutes do not suffice, or nothing.

    What to give the command line stands in brackets: the app leaves it out.

    Args:
        recipe: The settings.
        steps: That fit into the minutes.
        seconds_a_step: From the trial; None where the length was given otherwise.
        goes_on: Whether it begins with a model's weights, and its sizes.
    """
    enough = FEW_STEPS_ON if goes_on else FEW_STEPS
    if seconds_a_step is None or steps >= enough:
        return ""
    wanted = math.ceil(enough * seconds_a_step / 60 / _SHARE_FOR_STEPS)
    if recipe.minutes is not None:  # validations took their part, so as many can look like enough
        wanted = max(wanted, math.floor(recipe.minutes) + 1)
    is_smallest = goes_on or recipe.preset == "tiny"
    smaller = "" if is_smallest else ", or the tiny size (--preset tiny), which is faster"
    fit = "step fits" if steps == 1 else "steps fit"
    unit = "minute" if wanted == 1 else "minutes"
    return (
        f"Only {steps:,} {fit} into the time; below {enough} a model learns little. "
        f"Take {wanted} {unit} (--minutes {wanted}) or more{smaller}."
    )


def _seconds_a_step(tried: Tried, sampler: WindowSampler, budget_s: float) -> float:
    decoder, recipe, group = tried.decoder, tried.recipe, tried.group
    stepper = Stepper(
        decoder,
        make_optimizers(decoder, recipe),
        recipe,
        tried.device,
        group=group,
        windows_at_once=recipe.micro_batch_size,
    )
    times: list[float] = []
    while len(times) < _TRIAL_STEPS and (len(times) < 2 or group.same(sum(times)) < budget_s):
        began = time.monotonic()
        batch = plain_batch(sampler, len(times), group.share)
        while stepper.take(batch, _TRIAL_RATE, len(times)) is None:
            stepper.halve()  # the run itself will say so, when it comes to that
        times.append(time.monotonic() - began)
    return statistics.median(times[min(_WARM_STEPS, len(times) - 1) :])
