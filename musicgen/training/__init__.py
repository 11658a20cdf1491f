"""Training: a folder of MIDI files becomes a model, and no work is lost."""

from musicgen.training.events import (
    CheckpointSaved,
    Finished,
    MemoryStepDown,
    ParentMeasured,
    Planned,
    SamplesMade,
    Scanned,
    StepDone,
    Stopped,
    StoppedEarly,
    TrainingEvent,
    Validated,
)
from musicgen.training.fine_tuning import fine_tuning_recipe, fine_tuning_settings
from musicgen.training.gain import Gain
from musicgen.training.outlook import Outlook, look_ahead
from musicgen.training.preparing import resumed_recipe
from musicgen.training.recipe import TrainingRecipe
from musicgen.training.train import train

__all__ = [
    "CheckpointSaved",
    "Finished",
    "Gain",
    "MemoryStepDown",
    "Outlook",
    "ParentMeasured",
    "Planned",
    "SamplesMade",
    "Scanned",
    "StepDone",
    "Stopped",
    "StoppedEarly",
    "TrainingEvent",
    "TrainingRecipe",
    "Validated",
    "fine_tuning_recipe",
    "fine_tuning_settings",
    "look_ahead",
    "resumed_recipe",
    "train",
]
