"""What a training run tells while it goes on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from musicgen.corpus import Corpus
from musicgen.training.gain import Gain


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

    @classmethod
    def of(cls, corpus: Corpus) -> Scanned:
        """Return what there is to tell of a corpus."""
        report = corpus.report
        return cls(
            summary=report.sentence(),
            n_pieces=len(report.pieces),
            n_refused=len(report.refused),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """The length is fixed.

    Attributes:
        steps: Optimizer steps in all.
        first_step: Steps already done, in a resumed run.
        parameters: Trainable numbers of the model.
        seconds_per_step: From the trial for `minutes`, else None.
        notice: Something to know, in a sentence, or empty.
        readings: How often the run will go through its music, where the notice says so, else None.
    """

    steps: int
    first_step: int
    parameters: int
    seconds_per_step: float | None
    notice: str = ""
    readings: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParentMeasured:
    """The model that the run begins with has been looked at on the held-out windows, untouched.

    Told once each time that the run begins or goes on; measured once.

    Attributes:
        parent: Its name.
        bits_per_note: Of it.
    """

    parent: str
    bits_per_note: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryStepDown:
    """Memory ran out; the same step is taken again in smaller parts, the batch stays as it is.

    Attributes:
        step: Steps done so far.
        windows_at_once: Windows of the whole length that are read at once from here on.
        batch_size: Windows of the whole length that a step reads.
    """

    step: int
    windows_at_once: int
    batch_size: int


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
        is_kept: Whether it is what the run's `best/` holds now.
    """

    step: int
    loss: float
    bits_per_note: float
    is_kept: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplesMade:
    """Pieces to listen to, made by the model as it is.

    Attributes:
        step: Steps done so far.
        files: Their files; fewer than were wanted where the model made no note.
        n_wanted: How many were wanted.
    """

    step: int
    files: tuple[Path, ...]
    n_wanted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppedEarly:
    """The run ends before its last step: held-out music has no more to gain.

    Attributes:
        step: Steps done.
        steps: Steps that there were to be.
        n_validations: Looks at held-out music since the lowest loss.
    """

    step: int
    steps: int
    n_validations: int


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
class Stopped:
    """Another process of the run was interrupted; what was learned is kept.

    Attributes:
        step: Steps done.
    """

    step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The run is done.

    Attributes:
        step: Steps done.
        best: The folder of the checkpoint that the recipe keeps.
        bits_per_note: Of that checkpoint, on the held-out windows.
        gain: What it gained over the model that it began with; None for random weights.
    """

    step: int
    best: Path
    bits_per_note: float
    gain: Gain | None = None


TrainingEvent = (
    Scanned
    | Planned
    | ParentMeasured
    | MemoryStepDown
    | StepDone
    | Validated
    | SamplesMade
    | CheckpointSaved
    | StoppedEarly
    | Stopped
    | Finished
)
