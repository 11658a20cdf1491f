"""What a visitor's file says of how it was made, and whether that can be done again here.

Nothing of what stands in a file is trusted: it was validated when it was read (`pipeline.recipe`),
its model is found by a hash and not by its name, and how much it may cost is limited.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from musicgen.pipeline import is_prompt_of
from musicgen.studio.remaking import model_of
from musicgen.ui.order import Order
from musicgen.ui.pieces import Piece, from_upload

if TYPE_CHECKING:
    from musicgen.pipeline import Recipe
    from musicgen.ui.resources import Studio
    from musicgen.ui.state import Desk

LONGEST_S: Final = 120.0
"""So long a piece the studio makes at a time, as its slider does."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Remaking:
    """What making a file's take again needs.

    Attributes:
        recipe: The file's.
        model: What to load; None where the model is not here.
        prompt: The file that it goes on from, if it is among the visitor's takes.
    """

    recipe: Recipe
    model: str | None
    prompt: Piece | None

    @property
    def is_too_long(self) -> bool:
        """Whether it is longer than what the studio makes."""
        seconds = self.recipe.seconds
        return seconds is None or seconds > LONGEST_S

    @property
    def lacks_prompt(self) -> bool:
        """Whether the visitor has to add the file that it goes on from."""
        return self.recipe.prompt_sha256 is not None and self.prompt is None


def remaking(studio: Studio, desk: Desk, recipe: Recipe) -> Remaking:
    """Look for what a recipe needs: its model here, its prompt among the visitor's takes."""
    trained = [model.folder for model in studio.training.models()]
    return Remaking(
        recipe=recipe,
        model=model_of(recipe.model_sha256, own=studio.model, trained=trained),
        prompt=None if recipe.prompt_sha256 is None else desk.drawer.holding(recipe.prompt_sha256),
    )


def given_prompt(recipe: Recipe, data: bytes, *, name: str) -> Piece | None:
    """Read the file that a recipe's music is said to go on from; None if it is another one.

    Raises:
        MidiReadError: It is no MIDI file.
    """
    piece = from_upload(data, name=name)
    return piece if is_prompt_of(recipe, data) else None


def order_of(studio: Studio, found: Remaking, prompt: Piece | None = None) -> Order:
    """Return the order that makes a recipe's take again.

    Args:
        studio: What all visitors share.
        found: What it needs.
        prompt: The file that it goes on from, if it is none of the visitor's takes.

    Raises:
        MidiReadError: The prompt cannot be read.
        PromptError: No note of it is left before the recipe's cut.
    """
    recipe = found.recipe
    whole = prompt or found.prompt
    part = whole
    if whole is not None and recipe.prompt_seconds is not None:
        part = from_upload(whole.midi, name=whole.title, seconds=recipe.prompt_seconds)
    is_take = whole is not None and whole.kind == "take"
    return Order(
        seconds=LONGEST_S if recipe.seconds is None else recipe.seconds,
        temperature=recipe.temperature,
        top_p=recipe.top_p,
        top_k=recipe.top_k,
        min_p=recipe.min_p,
        seed=recipe.seed,
        upload=whole,
        prompt=None if recipe.only_new else part,
        prompt_seconds=recipe.prompt_seconds,
        parent=whole.id if whole is not None and is_take else None,
        model=None if found.model == studio.model else found.model,
        recipe=recipe,
    )


def twin(desk: Desk, piece: Piece) -> Piece | None:
    """Return the take of a visitor that is a file, byte for byte."""
    return desk.drawer.holding(hashlib.sha256(piece.midi).hexdigest())
