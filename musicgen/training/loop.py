"""The training loop: yields what happens, saves on time, resumes to the bit.

The order of the windows is a function of (seed, step) and the model draws no random numbers, so a
run that was killed and resumed ends with the weights of an unbroken one on a CPU.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from musicgen.errors import NonFiniteLossError, NoNumbersError
from musicgen.evaluation.bits import Window, sliding_windows, surprise
from musicgen.training.augmentation import Augmentation
from musicgen.training.events import (
    CheckpointSaved,
    Finished,
    StepDone,
    TrainingEvent,
    Validated,
)
from musicgen.training.optim import learning_rate
from musicgen.training.plan import Plan
from musicgen.training.run import RunState
from musicgen.training.step import make_loss, optimizer_step
from musicgen.training.windows import validation_rows

_SPEED_OVER_S = 60.0


@dataclass(slots=True, kw_only=True)
class _Standing:
    """Where the loop stands."""

    step: int
    best_loss: float | None
    best_bits: float | None
    saved_step: int
    saved_at: float = field(default_factory=time.monotonic)
    busy_s: list[float] = field(default_factory=list)


def run_steps(plan: Plan) -> Iterator[TrainingEvent]:
    """Train from where the plan stands to its last step.

    Closing the iterator saves a checkpoint first.

    Raises:
        NonFiniteLossError: The loss left the numbers; the last checkpoint is before that.
        TrainingError: The run's folder can no longer be written.
    """
    recipe, decoder, steps = plan.recipe, plan.decoder, plan.steps
    losses = make_loss(decoder, recipe, plan.device)
    curriculum = plan.curriculum()
    augmentation = Augmentation.of(recipe, plan.tokenizer)
    windows = validation_windows(plan)
    every = recipe.validate_steps or max(10, steps // 20)
    at = _Standing(
        step=plan.first_step,
        best_loss=plan.best_loss,
        best_bits=plan.best_bits_per_note,
        saved_step=plan.first_step,
    )
    try:
        while at.step < steps:
            began = time.monotonic()
            events = augmentation.vary(
                curriculum.batch(at.step, recipe.first_steps(steps)), at.step
            )
            ids = torch.from_numpy(events).to(plan.device)
            rate = learning_rate(recipe, at.step, steps)
            loss, norm = optimizer_step(
                losses, ids, decoder, plan.optimizers, rate=rate, clip_norm=recipe.clip_norm
            )
            at.step += 1
            per_step = _recent_mean(at.busy_s, time.monotonic() - began)
            done = StepDone(
                step=at.step,
                steps=steps,
                loss=loss,
                learning_rate=rate,
                gradient_norm=norm,
                events_per_s=ids.shape[0] * (ids.shape[1] - 1) / per_step,
                seconds_left=(steps - at.step) * per_step,
            )
            plan.run.log(_metrics(done))
            # Before the step is told: whoever stops the run here stops it after the validation,
            # and a resumed run need not ask whether it is still due.
            due = at.step % every == 0 or at.step == steps
            validated = _validate(plan, at, windows) if due else None
            yield done
            if validated is not None:
                yield validated
            if time.monotonic() - at.saved_at > 60 * recipe.checkpoint_minutes:
                yield _save(plan, at)
    except GeneratorExit:
        # The caller closes the iterator between two steps, where the state is whole. (An
        # interrupt inside a step leaves it half done, so nothing is saved then.)
        if at.step > at.saved_step:
            _save(plan, at)
        raise
    if at.step > at.saved_step:
        yield _save(plan, at)
    yield Finished(step=at.step, best=plan.run.best, bits_per_note=at.best_bits or float("nan"))


def _recent_mean(times: list[float], newest: float) -> float:
    """Add a time; return the mean of those of the last minute or so."""
    times.append(newest)
    while len(times) > 2 and sum(times) > _SPEED_OVER_S:
        times.pop(0)
    return sum(times) / len(times)


def validation_windows(plan: Plan) -> list[Window]:
    """Return the held-out windows that every validation of the plan looks at."""
    pieces = plan.corpus.pieces("validation")
    seq_len = plan.recipe.seq_len
    every = [
        window
        for piece in pieces
        for window in sliding_windows(piece.start, piece.n_events, seq_len)
    ]
    rows = validation_rows(len(every), plan.recipe.validation_windows)
    return [every[row] for row in rows]


def _validate(plan: Plan, at: _Standing, windows: list[Window]) -> Validated:
    events = plan.corpus.events("validation")
    plan.decoder.eval()
    try:
        found = surprise(plan.decoder, events, windows)
    except NoNumbersError as error:
        raise NonFiniteLossError(
            f"After step {at.step:,} the model gives no numbers any more.",
            hint="Resume from the last checkpoint with a lower learning_rate.",
        ) from error
    plan.decoder.train()
    loss = float(found.nats.sum()) / max(1, found.n_events)
    pieces = plan.corpus.pieces("validation")
    notes_an_event = sum(p.n_notes for p in pieces) / max(1, sum(p.n_events for p in pieces))
    bits = float(found.bits().sum()) / max(1.0, found.n_events * notes_an_event)
    is_best = at.best_loss is None or loss < at.best_loss
    if is_best:
        at.best_loss, at.best_bits = loss, bits
        plan.run.save_best(
            at.step,
            decoder=plan.decoder,
            tokenizer=plan.tokenizer,
            training=plan.summary(at.step, bits),
        )
    plan.run.log({"step": at.step, "validation_loss": loss, "validation_bits_per_note": bits})
    return Validated(step=at.step, loss=loss, bits_per_note=bits, is_best=is_best)


def _save(plan: Plan, at: _Standing) -> CheckpointSaved:
    folder = plan.run.save(
        RunState(step=at.step, best_loss=at.best_loss, best_bits_per_note=at.best_bits),
        decoder=plan.decoder,
        optimizers=plan.optimizers,
        tokenizer=plan.tokenizer,
        training=plan.summary(at.step, at.best_bits),
    )
    at.saved_at, at.saved_step = time.monotonic(), at.step
    return CheckpointSaved(step=at.step, folder=folder)


def _metrics(done: StepDone) -> dict[str, Any]:
    return {
        "step": done.step,
        "loss": done.loss,
        "learning_rate": done.learning_rate,
        "gradient_norm": done.gradient_norm,
        "events_per_s": round(done.events_per_s, 1),
    }
