"""What one process of a run does beside the steps: metrics, validation, samples, checkpoints."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

from musicgen.model import Decoder
from musicgen.training.averaging import Average
from musicgen.training.boards import Board
from musicgen.training.events import CheckpointSaved, SamplesMade, StepDone, Validated
from musicgen.training.picture import draw_losses
from musicgen.training.plan import Plan
from musicgen.training.run import RunState
from musicgen.training.samples import make_samples
from musicgen.training.validating import look, validation_windows

_PICTURE_EVERY_S = 60.0


def validation_is_due(plan: Plan, step: int) -> bool:
    """Whether held-out music is looked at after a step."""
    return step % plan.recipe.validation_interval(plan.steps) == 0 or step == plan.steps


@dataclass(slots=True, kw_only=True)
class _Clock:
    """When something was done last."""

    saved_at: float = field(default_factory=time.monotonic)
    sampled_at: float = field(default_factory=time.monotonic)
    drawn_at: float = float("-inf")


class Writer:
    """Writes a run down.

    Attributes:
        best_loss: Of what `best/` holds, in nats an event, or None.
        best_bits: The same in bits a note.
        n_since_lowest: Validations since the lowest held-out loss.
    """

    def __init__(self, plan: Plan, board: Board) -> None:
        """Go on where a plan stands."""
        state = plan.state
        self.best_loss, self.best_bits = state.best_loss, state.best_bits_per_note
        self.n_since_lowest = state.n_since_lowest
        self._lowest = state.lowest_loss
        self._plan, self._board = plan, board
        self._windows = validation_windows(plan)
        self._saved_step = state.step
        self._clock = _Clock()
        self._average = plan.average
        if plan.recipe.ema_decay is not None and plan.average is None:
            self._average = Average(plan.decoder, plan.recipe.ema_decay)

    @property
    def _judged(self) -> Decoder:
        """The model that is validated, kept and listened to."""
        return self._plan.decoder if self._average is None else self._average.decoder

    def after(self, done: StepDone) -> list[Validated | SamplesMade]:
        """Write down a step and what is due after it; return what there is to tell besides.

        Raises:
            NonFiniteLossError: The model gives no numbers any more.
            TrainingError: The run's folder cannot be written.
        """
        if self._average is not None:
            self._average.take_in(self._plan.decoder, done.step)
        self._plan.run.log(_metrics(done))
        self._board.add(
            done.step,
            {
                "loss": done.loss,
                "learning_rate": done.learning_rate,
                "gradient_norm": done.gradient_norm,
                "events_per_s": done.events_per_s,
            },
        )
        told: list[Validated | SamplesMade] = []
        if validation_is_due(self._plan, done.step):
            told.append(self._validate(done.step))
        if self._sample_is_due(done.step):
            self._clock.sampled_at = time.monotonic()
            told.append(make_samples(self._plan, self._judged, done.step))
        return told

    def _validate(self, step: int) -> Validated:
        plan = self._plan
        found = look(replace(plan, decoder=self._judged), step, self._windows)
        is_lowest = self._lowest is None or found.loss < self._lowest
        self.n_since_lowest = 0 if is_lowest else self.n_since_lowest + 1
        self._lowest = found.loss if is_lowest else self._lowest
        lower = self.best_loss is None or found.loss < self.best_loss
        is_kept = plan.recipe.keep == "last" or lower
        if is_kept:
            self.best_loss, self.best_bits = found.loss, found.bits_per_note
            plan.run.save_best(
                step,
                decoder=self._judged,
                tokenizer=plan.tokenizer,
                training=plan.summary(step, found.bits_per_note),
            )
        figures = {
            "validation_loss": found.loss,
            "validation_bits_per_note": found.bits_per_note,
        }
        plan.run.log({"step": step, **figures})
        self._board.add(step, figures)
        return Validated(
            step=step, loss=found.loss, bits_per_note=found.bits_per_note, is_kept=is_kept
        )

    def _sample_is_due(self, step: int) -> bool:
        steps, minutes = self._plan.recipe.sample_steps, self._plan.recipe.sample_minutes
        if steps is None and minutes is None:
            return False
        waited_s = time.monotonic() - self._clock.sampled_at
        by_time = minutes is not None and waited_s >= 60 * minutes
        return by_time or (steps is not None and step % steps == 0) or step == self._plan.steps

    @property
    def checkpoint_is_due(self) -> bool:
        """Whether the last checkpoint is as old as the recipe allows."""
        age_s = time.monotonic() - self._clock.saved_at
        return age_s > 60 * self._plan.recipe.checkpoint_minutes

    def has_unsaved(self, step: int) -> bool:
        """Whether steps were done since the last checkpoint."""
        return step > self._saved_step

    def save(self, step: int, windows_at_once: int | None) -> CheckpointSaved:
        """Write a checkpoint, and now and then the picture of the losses.

        Raises:
            TrainingError: The run's folder cannot be written.
        """
        plan = self._plan
        folder = plan.run.save(
            RunState(
                step=step,
                best_loss=self.best_loss,
                best_bits_per_note=self.best_bits,
                windows_at_once=windows_at_once,
                lowest_loss=self._lowest,
                n_since_lowest=self.n_since_lowest,
            ),
            decoder=plan.decoder,
            optimizers=plan.optimizers,
            tokenizer=plan.tokenizer,
            training=plan.summary(step, self.best_bits),
            average=self._average,
        )
        self._clock.saved_at, self._saved_step = time.monotonic(), step
        if time.monotonic() - self._clock.drawn_at > _PICTURE_EVERY_S:
            self.draw()
        return CheckpointSaved(step=step, folder=folder)

    def draw(self) -> None:
        """Draw the losses.

        Raises:
            TrainingError: The run's folder cannot be written.
        """
        draw_losses(self._plan.run.folder)
        self._clock.drawn_at = time.monotonic()


def _metrics(done: StepDone) -> dict[str, Any]:
    return {
        "step": done.step,
        "loss": done.loss,
        "learning_rate": done.learning_rate,
        "gradient_norm": done.gradient_norm,
        "events_per_s": round(done.events_per_s, 1),
    }
