"""What somebody asked to be trained, written down before it begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from musicgen.training import TrainingRecipe, fine_tuning_recipe

PIANO = "piano"
"""The shipped model."""

_LISTENS = 5
"""So often, about, a run makes a piece to listen to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingOrder:
    """A training run that somebody asked for.

    Attributes:
        version: Of this format.
        title: What it is called on the page.
        music: The folder of MIDI files.
        recipe: The settings.
        start_from: A model to begin with, by name or folder; None for random weights.
        begun_s: When it was asked for, in seconds since 1970.
    """

    version: Literal[1] = 1
    title: str
    music: str
    recipe: TrainingRecipe
    start_from: str | None = None
    begun_s: float


def training_order(
    music: str, *, title: str, preset: str | None, minutes: float, begun_s: float
) -> TrainingOrder:
    """Return an order with the settings that suit the page's choices.

    Args:
        music: The folder of MIDI files.
        title: What the run is called.
        preset: Size of the model; None to begin with the shipped one.
        minutes: How long it is planned for.
        begun_s: When it was asked for, in seconds since 1970.
    """
    settings = {"minutes": minutes, "sample_minutes": minutes / _LISTENS, "n_samples": 1}
    if preset is None:
        recipe = fine_tuning_recipe(**settings)
    else:
        recipe = TrainingRecipe(preset=preset, **settings)
    return TrainingOrder(
        title=title,
        music=music,
        recipe=recipe,
        start_from=PIANO if preset is None else None,
        begun_s=begun_s,
    )
