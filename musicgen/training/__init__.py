"""Training: a folder of MIDI files becomes a model, and no work is lost."""

from musicgen.training.events import (
    CheckpointSaved,
    Finished,
    Planned,
    Scanned,
    StepDone,
    TrainingEvent,
    Validated,
)
from musicgen.training.preparing import resumed_recipe
from musicgen.training.recipe import TrainingRecipe
from musicgen.training.train import train

__all__ = [
    "CheckpointSaved",
    "Finished",
    "Planned",
    "Scanned",
    "StepDone",
    "TrainingEvent",
    "TrainingRecipe",
    "Validated",
    "resumed_recipe",
    "train",
]
