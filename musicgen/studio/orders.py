"""What somebody asked to be trained, written down before it begins."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from musicgen.training import TrainingRecipe, fine_tuning_recipe
from musicgen.training.length import FEW_STEPS

PIANO = "piano"
"""The shipped model."""

_LISTENS = 5
"""So often, about, a run makes a piece to listen to."""
_PATIENCE = 5
"""Of some twenty validations: after so many without a lower held-out loss a run may end early."""


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
        after: What the run is called whose model it goes on with, or empty.
    """

    version: Literal[1] = 1
    title: str
    music: str
    recipe: TrainingRecipe
    start_from: str | None = None
    begun_s: float
    after: str = ""


def training_order(
    music: str,
    *,
    title: str,
    preset: str | None,
    minutes: float,
    begun_s: float,
    ends_early: bool = False,
) -> TrainingOrder:
    """Return an order with the settings that suit the page's choices.

    Args:
        music: The folder of MIDI files.
        title: What the run is called.
        preset: Size of the model; None to begin with the shipped one.
        minutes: How long it is planned for.
        begun_s: When it was asked for, in seconds since 1970.
        ends_early: Whether it ends before, where the held-out loss does not fall any more.
    """
    settings: dict[str, Any] = {
        "minutes": minutes,
        "sample_minutes": minutes / _LISTENS,
        "n_samples": 1,
    }
    if ends_early:
        settings["patience"] = _PATIENCE
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


def further_order(
    ended: TrainingOrder,
    model: str,
    *,
    steps: int,
    title: str,
    minutes: float,
    begun_s: float,
) -> TrainingOrder:
    """Return an order that goes on with the model of a run that has ended, on the same music.

    The run's own settings hold, but for short windows. A model that knows music already does not
    need the whole rate again: as in the shipped model's recipe it rises to half of it.

    Args:
        ended: What was asked for then.
        model: Folder of the model.
        steps: That the run took.
        title: What the new one is called.
        minutes: How long it is planned for.
        begun_s: When it was asked for, in seconds since 1970.
    """
    knows_little = steps < FEW_STEPS
    recipe = ended.recipe
    was_fresh = ended.start_from is None
    return TrainingOrder(
        title=title,
        music=ended.music,
        recipe=replace(
            recipe,
            steps=None,
            epochs=None,
            minutes=minutes,
            early_seq_len=None,
            learning_rate=recipe.learning_rate * (0.5 if was_fresh and not knows_little else 1.0),
            sample_minutes=minutes / _LISTENS,
        ),
        start_from=model,
        begun_s=begun_s,
        after=ended.title,
    )
