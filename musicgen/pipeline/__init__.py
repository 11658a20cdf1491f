"""The one door for both faces: music in, music out, and a look inside.

Torch takes two seconds to import, so it waits until a model is asked for; a face that only shows a
file (`preview`) never pays for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from musicgen.midi import PART_NAME, read_midi
from musicgen.pipeline.preview import Preview, preview
from musicgen.pipeline.recipe import Recipe, recipe_of
from musicgen.pipeline.take import Take

if TYPE_CHECKING:
    from musicgen.evaluation.copies import CopyReport
    from musicgen.inspection import AttentionView
    from musicgen.pipeline.again import (
        check_prompt,
        difference,
        is_prompt_of,
        load_for,
        needed_recipe,
    )
    from musicgen.pipeline.making import Progress, TakeStream
    from musicgen.pipeline.music import MusicPipeline
    from musicgen.pipeline.together import make_together

__all__ = [
    "PART_NAME",
    "AttentionView",
    "CopyReport",
    "MusicPipeline",
    "Preview",
    "Progress",
    "Recipe",
    "Take",
    "TakeStream",
    "check_prompt",
    "difference",
    "is_prompt_of",
    "load_for",
    "make_together",
    "needed_recipe",
    "preview",
    "read_midi",
    "recipe_of",
]


def __getattr__(name: str) -> object:
    if name == "MusicPipeline":
        from musicgen.pipeline.music import MusicPipeline

        return MusicPipeline
    if name in ("Progress", "TakeStream"):
        from musicgen.pipeline import making

        return getattr(making, name)
    if name in ("check_prompt", "difference", "is_prompt_of", "load_for", "needed_recipe"):
        from musicgen.pipeline import again

        return getattr(again, name)
    if name == "make_together":
        from musicgen.pipeline.together import make_together

        return make_together
    if name == "CopyReport":
        from musicgen.evaluation.copies import CopyReport

        return CopyReport
    if name == "AttentionView":
        from musicgen.inspection import AttentionView

        return AttentionView
    raise AttributeError(f"module 'musicgen.pipeline' has no attribute {name!r}")
