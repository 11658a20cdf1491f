"""The training music in other keys, tempi and touches: another one each time it is read.

A function of seed, step and window, so that a resumed run hears what the unbroken one heard.
Held-out music is never varied.

Legend: B windows a step, T events a window predicts, K attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from musicgen.tokens import Tokenizer, Variation
from musicgen.training.recipe import TrainingRecipe

_STREAM = 1
"""Tells this use of a run's seed from the order of the windows."""
_READ_OFTEN = 4.0
_FOR_LITTLE_MUSIC: Mapping[str, float] = MappingProxyType(
    {"augment_semitones": 5, "augment_tempo": 0.1, "augment_velocity": 8}
)
"""What suits music that is read more often than that; docs/lab_log.md has what it brings."""


def settle_augmentation(recipe: TrainingRecipe, readings: float) -> tuple[TrainingRecipe, str]:
    """Decide what a recipe leaves open, by how often the music will be read.

    Args:
        recipe: The settings.
        readings: Times that the run goes through its music.

    Returns:
        The recipe with nothing left open, and a sentence where it varies the music.
    """
    is_open = [name for name in _FOR_LITTLE_MUSIC if getattr(recipe, name) is None]
    varies = readings > _READ_OFTEN and recipe.scheme == "piano"
    chosen = {name: _FOR_LITTLE_MUSIC[name] if varies else 0 for name in is_open}
    return replace(recipe, **chosen), told_readings(readings) if varies and is_open else ""


def is_varied_for_little(recipe: TrainingRecipe, readings: float) -> bool:
    """Return whether a settled recipe varies its music as it does where that is read often."""
    varies = all(getattr(recipe, name) == value for name, value in _FOR_LITTLE_MUSIC.items())
    return varies and readings > _READ_OFTEN and recipe.scheme == "piano"


def told_readings(readings: float, *, is_over: bool = False) -> str:
    """Say how often varied music will be read, or was.

    Args:
        readings: Times that the run goes, or went, through its music.
        is_over: Whether it did so already; a run that is stopped early has read it less often.
    """
    number = round(readings)
    if is_over and number < 2:
        return f"The music was read {'once' if number else 'in part'}, in other keys and tempi."
    when = "was" if is_over else "will be"
    return f"The music {when} read {number:,} times, each time in another key and tempo."


@dataclass(frozen=True, slots=True, kw_only=True)
class Augmentation:
    """How far the music may be moved.

    Attributes:
        semitones: At most, up or down.
        tempo: At most, slower or faster, as a share.
        velocity_bins: At most, louder or softer.
        from_step: The first step whose music is moved.
        until_step: The first one after it whose music is not; None for none.
        seed: Of the run.
        tokenizer: Of the events.
    """

    semitones: int
    tempo: float
    velocity_bins: int
    from_step: int
    until_step: int | None
    seed: int
    tokenizer: Tokenizer

    @classmethod
    def of(cls, recipe: TrainingRecipe, tokenizer: Tokenizer) -> Augmentation:
        """Return the augmentation that a recipe asks for; what it leaves open is none."""
        return cls(
            semitones=recipe.augment_semitones or 0,
            tempo=recipe.augment_tempo or 0.0,
            velocity_bins=(recipe.augment_velocity or 0) * tokenizer.velocity_bins // 128,
            from_step=recipe.augment_from_step,
            until_step=recipe.augment_until_step,
            seed=recipe.seed,
            tokenizer=tokenizer,
        )

    def variation(self, step: int, window: int) -> Variation:
        """Return how a window of a step is varied."""
        random = np.random.default_rng((self.seed, _STREAM, step, window))
        return Variation(
            semitones=int(random.integers(-self.semitones, self.semitones + 1)),
            # As often twice as slow as twice as fast, not as often 1.5 as 0.5.
            stretch=float((1 + self.tempo) ** random.uniform(-1, 1)),
            velocity_bins=int(random.integers(-self.velocity_bins, self.velocity_bins + 1)),
        )

    def vary(self, ids: np.ndarray, step: int, first: int = 0) -> np.ndarray:
        """Return the events (B, T + 1, K) of a step, each window varied.

        Args:
            ids: The events, or some of the step's windows.
            step: Which step.
            first: Which of the step's windows is the first of these.

        Raises:
            TokenizerError: The scheme's ids cannot be varied one by one.
        """
        is_over = self.until_step is not None and step >= self.until_step
        if (
            step < self.from_step
            or is_over
            or not (self.semitones or self.tempo or self.velocity_bins)
        ):
            return ids
        return np.stack(
            [
                self.tokenizer.vary(window, self.variation(step, index))
                for index, window in enumerate(ids, start=first)
            ]
        )
