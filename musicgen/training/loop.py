"""The training loop: yields what happens, saves on time, resumes to the bit.

The order of the windows is a function of (seed, step) and the model draws no random numbers, so a
run that was killed and resumed ends with the weights of an unbroken one on a CPU.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from musicgen.training.augmentation import Augmentation
from musicgen.training.batches import Batch, Batches
from musicgen.training.boards import board_of
from musicgen.training.events import (
    Finished,
    MemoryStepDown,
    ParentMeasured,
    StepDone,
    Stopped,
    StoppedEarly,
    TrainingEvent,
)
from musicgen.training.gain import gain_of, untouched_bits
from musicgen.training.group import ALONE, Group, LeftError
from musicgen.training.optim import learning_rate
from musicgen.training.plan import Plan
from musicgen.training.step import Stepper, StepTaken
from musicgen.training.writer import Writer, validation_is_due

_SPEED_OVER_S = 60.0


@dataclass(slots=True, kw_only=True)
class _Standing:
    """Where the loop stands."""

    step: int
    is_over: bool = False
    busy_s: list[float] = field(default_factory=list)


def run_steps(plan: Plan, group: Group = ALONE) -> Iterator[TrainingEvent]:
    """Train from where the plan stands to its last step.

    Closing the iterator saves a checkpoint first. Of several processes only the writer saves and
    looks at held-out music; when one of them is closed all end.

    Args:
        plan: What to train, and where it stands; of all processes the same.
        group: The processes.

    Raises:
        NonFiniteLossError: The loss left the numbers; the last checkpoint is before that.
        OutOfMemoryError: Not even one window fits.
        TrainingError: The run's folder can no longer be written, or another process failed.
    """
    wanted = plan.recipe.tensorboard and group.is_writer
    with board_of(plan.run.folder, wanted=wanted, first_step=plan.state.step) as board:
        writer = Writer(plan, board) if group.is_writer else None
        yield from _run(plan, group, writer)


def _run(plan: Plan, group: Group, writer: Writer | None) -> Iterator[TrainingEvent]:
    at = _Standing(step=plan.state.step)
    stepper = Stepper(
        plan.decoder,
        plan.optimizers,
        plan.recipe,
        plan.device,
        group=group,
        windows_at_once=plan.state.windows_at_once,
    )
    try:
        if writer is not None:
            yield from _parent_measured(plan)
        yield from _steps(plan, group, at, stepper, writer)
    except GeneratorExit:
        # The caller closes the iterator between two steps, where the state is whole. (An
        # interrupt inside a step leaves it half done, so nothing is saved then.)
        if writer is not None and writer.has_unsaved(at.step):
            writer.save(at.step, stepper.windows_at_once)
        if at.step < plan.steps and not at.is_over:
            group.leave()
            group.part()
        raise
    except LeftError:
        if writer is not None and writer.has_unsaved(at.step):
            yield writer.save(at.step, stepper.windows_at_once)
        group.part()
        yield Stopped(step=at.step)
        return
    bits = None
    if writer is not None:
        bits = writer.best_bits
        if writer.has_unsaved(at.step):
            yield writer.save(at.step, stepper.windows_at_once)
        writer.draw()
    yield Finished(
        step=at.step,
        best=plan.run.best,
        bits_per_note=bits or float("nan"),
        gain=gain_of(plan, bits) if writer is not None else None,
    )


def _parent_measured(plan: Plan) -> Iterator[ParentMeasured]:
    parent, bits = plan.run.parent(), untouched_bits(plan)
    if parent is not None and bits is not None:
        yield ParentMeasured(parent=parent.name, bits_per_note=bits)


def _steps(
    plan: Plan, group: Group, at: _Standing, stepper: Stepper, writer: Writer | None
) -> Iterator[TrainingEvent]:
    recipe, steps = plan.recipe, plan.steps
    batches = Batches(
        curriculum=plan.curriculum(),
        augmentation=Augmentation.of(recipe, plan.tokenizer),
        steps=recipe.first_steps(steps),
        share=group.share,
    )
    while at.step < steps:
        no_gain = _validations_without_gain(plan, group, at, writer)
        if recipe.patience is not None and no_gain >= recipe.patience:
            at.is_over = True
            yield StoppedEarly(step=at.step, steps=steps, n_validations=no_gain)
            return
        began = time.monotonic()
        batch = batches.of(at.step)
        rate = learning_rate(recipe, at.step, steps)
        taken = stepper.take(batch, rate, at.step)
        if taken is None:
            yield _step_down(plan, at, stepper)
            continue
        at.step += 1
        done = _done(plan, at, batch, taken, rate, time.monotonic() - began)
        # Before the step is told: whoever stops the run here stops it after the validation, and a
        # resumed run need not ask whether it is still due.
        told = [] if writer is None else writer.after(done)
        yield done
        yield from told
        if writer is not None and writer.checkpoint_is_due:
            yield writer.save(at.step, stepper.windows_at_once)


def _validations_without_gain(
    plan: Plan, group: Group, at: _Standing, writer: Writer | None
) -> int:
    """Return how many validations have passed since the lowest loss, on all processes the same."""
    asked = at.step == plan.state.step or validation_is_due(plan, at.step)
    if plan.recipe.patience is None or not asked:
        return 0
    return int(group.same(0 if writer is None else writer.n_since_lowest))


def _done(
    plan: Plan, at: _Standing, batch: Batch, taken: StepTaken, rate: float, busy_s: float
) -> StepDone:
    per_step = _recent_mean(at.busy_s, busy_s)
    return StepDone(
        step=at.step,
        steps=plan.steps,
        loss=taken.loss,
        learning_rate=rate,
        gradient_norm=taken.gradient_norm,
        events_per_s=batch.n_events / per_step,
        seconds_left=(plan.steps - at.step) * per_step,
    )


def _step_down(plan: Plan, at: _Standing, stepper: Stepper) -> MemoryStepDown:
    fewer = stepper.halve()
    return MemoryStepDown(step=at.step, windows_at_once=fewer, batch_size=plan.recipe.batch_size)


def _recent_mean(times: list[float], newest: float) -> float:
    """Add a time; return the mean of those of the last minute or so."""
    times.append(newest)
    while len(times) > 2 and sum(times) > _SPEED_OVER_S:
        times.pop(0)
    return sum(times) / len(times)
