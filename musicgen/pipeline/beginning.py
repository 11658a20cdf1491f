"""The beginning of a take: from its recipe, an engine and a prompt to a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from musicgen.generation import LengthPlan, SamplingSettings, stream_events
from musicgen.midi import printable
from musicgen.pipeline.arguments import checked_seed
from musicgen.pipeline.ingredients import Ingredients
from musicgen.pipeline.making import TakeStream
from musicgen.pipeline.recipe import MAX_NAME, Recipe

if TYPE_CHECKING:
    from musicgen.engine import Engine
    from musicgen.pipeline.prompt import ReadyPrompt
    from musicgen.tokens import Tokenizer


def wanted_recipe(
    *,
    model: str,
    model_sha256: str,
    device: str,
    settings: SamplingSettings,
    seed: int | None,
    seconds: float | None,
    may_end_early: bool,
) -> Recipe:
    """Return the recipe of what a caller asks for, its engine still unknown.

    Numbers become of one kind: 30 and 30.0 seconds are the same music, and the same bytes.

    Raises:
        ConfigError: The seed or the length is out of its range.
    """
    seed = checked_seed(seed)
    LengthPlan(seconds=seconds)
    return Recipe(
        model=printable(model, limit=MAX_NAME),
        model_sha256=model_sha256,
        engine="unknown",
        device=device,
        seed=seed,
        seconds=None if seconds is None else float(seconds),
        temperature=float(settings.temperature),
        top_p=None if settings.top_p is None else float(settings.top_p),
        top_k=int(settings.top_k),
        min_p=float(settings.min_p),
        per_attribute={
            attribute: {
                name: int(value) if name == "top_k" else float(value)
                for name, value in sorted(overrides.items())
            }
            for attribute, overrides in sorted(settings.per_attribute.items())
        },
        may_end_early=bool(may_end_early),
    )


def plan_of(recipe: Recipe, prompt: ReadyPrompt | None) -> LengthPlan:
    """Return where the new music lies in time.

    Raises:
        PromptError: It would begin too late.
    """
    return LengthPlan(
        start_s=prompt.prompt.cut_s if prompt else 0.0,
        seconds=recipe.seconds,
        may_end_early=recipe.may_end_early,
    )


def begin_take(
    recipe: Recipe, *, engine: Engine, tokenizer: Tokenizer, prompt: ReadyPrompt | None
) -> TakeStream:
    """Return the stream of a take; nothing is computed before it is asked for more.

    Args:
        recipe: What the take depends on; the same one gives the same bytes.
        engine: The one that the recipe names.
        tokenizer: The model's.
        prompt: The one that the recipe names.

    Raises:
        ConfigError: The recipe has settings for an attribute that an event does not have.
        PromptError: The music would begin too late.
    """
    plan = plan_of(recipe, prompt)
    ingredients = Ingredients(
        recipe=recipe,
        engine_warnings=engine.warnings,
        tokenizer=tokenizer,
        plan=plan,
        prompt=prompt,
    )
    events = stream_events(
        engine,
        tokenizer,
        prompt.ids if prompt else None,
        plan=plan,
        generator=torch.Generator().manual_seed(recipe.seed),
        settings=recipe.settings(),
        held_keys=prompt.held_keys if prompt else None,
    )
    return TakeStream(ingredients, events, engine=engine)
