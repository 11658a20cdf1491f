"""What a training run tells while it goes on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Scanned:
    """The folder has been read.

    Attributes:
        summary: What was kept and left out, in a sentence.
        n_pieces: Pieces kept.
        n_refused: Files left out.
    """

    summary: str
    n_pieces: int
    n_refused: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """The length is fixed.

    Attributes:
        steps: Optimizer steps in all.
        first_step: Steps already done, in a resumed run.
        parameters: Trainable numbers of the model.
        seconds_per_step: From the trial for `minutes`, else None.
        notice: Something to know, in a sentence, or empty.
    """

    steps: int
    first_step: int
    parameters: int
    seconds_per_step: float | None
    notice: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDone:
    """One optimizer step.

    Attributes:
        step: Steps done so far.
        steps: Steps in all.
        loss: Nats an event of this step's windows.
        learning_rate: Of this step.
        gradient_norm: Before clipping.
        events_per_s: Speed lately, validation and saving left out.
        seconds_left: By that speed.
    """

    step: int
    steps: int
    loss: float
    learning_rate: float
    gradient_norm: float
    events_per_s: float
    seconds_left: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Validated:
    """The held-out windows have been looked at.

    Attributes:
        step: Steps done so far.
        loss: Nats an event.
        bits_per_note: The same in bits a note.
        is_best: Whether it is the lowest so far.
    """

    step: int
    loss: float
    bits_per_note: float
    is_best: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointSaved:
    """The run can go on from here.

    Attributes:
        step: Steps done so far.
        folder: Where it lies.
    """

    step: int
    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The run is done.

    Attributes:
        step: Steps done.
        best: The best checkpoint's folder.
        bits_per_note: Of the best, on the held-out windows.
    """

    step: int
    best: Path
    bits_per_note: float


TrainingEvent = Scanned | Planned | StepDone | Validated | CheckpointSaved | Finished
