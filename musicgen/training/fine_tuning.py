"""The settings that suit a model which knows music already; `docs/lab_log.md` tells the trials."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Final

from musicgen import configio
from musicgen.checkpoint import read_manifest, resolve_checkpoint
from musicgen.errors import CheckpointError
from musicgen.training.recipe import TrainingRecipe

WHOLE_OPTIMIZER: Final = "muon"
LORA_OPTIMIZER: Final = "adamw"
_ALL_WEIGHTS: Mapping[str, Any] = {"learning_rate": 5e-4, "optimizer": WHOLE_OPTIMIZER}
_LORA: Mapping[str, Any] = {"learning_rate": 3e-3, "optimizer": LORA_OPTIMIZER}
_BOTH: Mapping[str, Any] = {
    # A model that knows nothing needs a slow start and short windows; this one needs neither. Its
    # weights are not drawn towards zero either.
    "warmup_steps": 10,
    "early_seq_len": None,
    "weight_decay": 0.0,
}

_OFFERED: Final = "piano"
LITTLE_NOTES = 300_000
"""With fewer notes a model of random weights knows them by heart before it knows music."""


def fine_tuning_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings for fine-tuning: what is given, and what suits where nothing is."""
    is_lora = given.get("lora_rank") is not None
    return {**_BOTH, **(_LORA if is_lora else _ALL_WEIGHTS), **given}


def fine_tuning_recipe(**given: Any) -> TrainingRecipe:
    """Return a recipe for fine-tuning.

    Args:
        given: Settings that go before those that suit.

    Raises:
        ConfigError: There is no such setting, or its value does not fit.
    """
    return configio.from_mapping(TrainingRecipe, fine_tuning_settings(given))


def offer(recipe: TrainingRecipe, n_notes: int) -> str:
    """Return a sentence that offers fine-tuning to a run with random weights, or nothing.

    What to give the command line stands in brackets: the app leaves it out.

    Args:
        recipe: Of the run.
        n_notes: Notes to train on.
    """
    if recipe.scheme != "piano" or n_notes >= LITTLE_NOTES:
        return ""
    licence = _licence_of(_OFFERED)
    named = f", {licence}," if licence else ""
    return (
        f"The {n_notes:,} notes to train on are little to learn music from: a run that begins with "
        f"the piano model (--from {_OFFERED}) knows music already. Its licence{named} would then "
        "hold for the new one."
    )


@functools.cache
def _licence_of(model: str) -> str:
    """Return a model's licence as its checkpoint states it; "" where there is none."""
    try:
        return read_manifest(resolve_checkpoint(model)).licence
    except CheckpointError:
        return ""
