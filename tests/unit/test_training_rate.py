"""The learning rate, step by step."""

from __future__ import annotations

import pytest

from musicgen.errors import ConfigError
from musicgen.training import TrainingRecipe
from musicgen.training.optim import learning_rate


def rates(recipe: TrainingRecipe, steps: int) -> list[float]:
    return [learning_rate(recipe, step, steps) for step in range(steps)]


def test_it_rises_once_and_falls_to_zero():
    found = rates(TrainingRecipe(learning_rate=1.0, warmup_steps=2), 12)
    assert found[:3] == [0.5, 1.0, 1.0]
    assert found[2:] == pytest.approx([1 - step / 10 for step in range(10)])


def test_a_restart_is_a_second_rise_to_its_own_peak():
    """Guards the steps before a restart: they are those of a run that ends there, to the bit."""
    once = TrainingRecipe(learning_rate=1.0, warmup_steps=2)
    twice = TrainingRecipe(
        learning_rate=1.0, warmup_steps=2, restart_steps=(12,), restart_learning_rates=(0.3,)
    )
    assert rates(twice, 22)[:12] == rates(once, 12)
    assert rates(twice, 22)[12:] == pytest.approx(
        [0.15, 0.3, *(0.3 * (1 - step / 8) for step in range(8))]
    )


def test_a_run_that_ends_before_its_restart_falls_to_zero_at_its_end():
    recipe = TrainingRecipe(
        warmup_steps=2, restart_steps=(100, 200), restart_learning_rates=(0.1, 0.1)
    )
    assert rates(recipe, 10) == rates(TrainingRecipe(warmup_steps=2), 10)


def test_each_restart_has_its_own_peak():
    recipe = TrainingRecipe(
        warmup_steps=1, restart_steps=(10, 20), restart_learning_rates=(0.5, 0.25)
    )
    found = rates(recipe, 30)
    assert [max(found[i : i + 10]) for i in (0, 10, 20)] == [recipe.learning_rate, 0.5, 0.25]
    assert found[10:20] == pytest.approx([2 * rate for rate in found[20:]])


@pytest.mark.parametrize(
    "settings",
    [
        {"restart_steps": (5,)},
        {"restart_steps": (5, 5), "restart_learning_rates": (0.1, 0.1)},
        {"restart_steps": (0,), "restart_learning_rates": (0.1,)},
        {"restart_steps": (5,), "restart_learning_rates": (2.0,)},
    ],
)
def test_restarts_that_make_no_sense_are_refused(settings):
    with pytest.raises(ConfigError, match="restart_"):
        TrainingRecipe(**settings)
