"""Making a take again: the model, the engine and the prompt must be those of its recipe."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from musicgen.checkpoint import find_checkpoint
from musicgen.errors import MusicgenError, RecipeError
from musicgen.midi import MidiDocument, read_midi
from musicgen.pipeline.recipe import recipe_of

if TYPE_CHECKING:
    from musicgen.pipeline.music import MusicPipeline
    from musicgen.pipeline.recipe import Recipe

_SHOWN = 12  # digits of a hash in a sentence


def needed_recipe(document: MidiDocument) -> Recipe:
    """Return the recipe of a file that is to be made again.

    Raises:
        RecipeError: It holds none, or a damaged one.
    """
    recipe = recipe_of(document)
    if recipe is None:
        raise RecipeError(
            f"{document.name} holds no recipe, so its music cannot be made again.",
            hint="musicgen writes one into every file it makes; some programs leave it out when "
            "they save a file.",
            code="recipe-missing",
        )
    return recipe


def load_for(
    recipe: Recipe, model: str | Path | None = None, *, threads: int | None = None
) -> MusicPipeline:
    """Load the model of a recipe, with its engine, where it computed.

    Args:
        recipe: What is to be made again.
        model: The model's name or folder; None looks among those that ship, by the hash.
        threads: See `MusicPipeline.load`.

    Raises:
        RecipeError: The model is not there, or another one, or the engine does not run here.
        CheckpointError: There is no checkpoint at `model`, or it is damaged.
    """
    from musicgen.pipeline.music import MusicPipeline

    folder = find_checkpoint(recipe.model_sha256) if model is None else model
    if folder is None:
        raise _other_model(recipe, "which is none of the models that ship with musicgen")
    wanted = wanted_engine(recipe)
    try:
        pipeline = MusicPipeline.load(folder, recipe.device, threads=threads, engine=wanted)
    except MusicgenError as error:
        if error.code != "config":
            raise
        raise engine_lacks(recipe) from error
    check_model(recipe, pipeline.sha256)
    return pipeline


def wanted_engine(recipe: Recipe) -> str:
    """Return what engine to ask for.

    Raises:
        RecipeError: This version has none of the recipe's name.
    """
    from musicgen.engine import engine_to_ask_for  # torch comes with it

    wanted = engine_to_ask_for(recipe.engine)
    if wanted is None:
        raise engine_lacks(recipe)
    return wanted


def engine_lacks(recipe: Recipe) -> RecipeError:
    """Return the error for an engine that does not run here."""
    return RecipeError(
        f"The music was made with the engine {recipe.engine} on {recipe.device}, which does not "
        "run here; another one makes other music.",
        hint="Make it again where that engine runs.",
        code="recipe-engine",
    )


def check_model(recipe: Recipe, sha256: str) -> None:
    """Make sure that a model is the one that made the music.

    Raises:
        RecipeError: It is another one, or was never saved.
    """
    if not recipe.model_sha256:
        raise RecipeError(
            "The music was made with a model that had never been saved, so nobody can say which.",
            hint="Save a model before it makes music that is to be made again.",
            code="recipe-model",
        )
    if sha256 != recipe.model_sha256:
        here = (
            f"and this one's begins with {sha256[:_SHOWN]}" if sha256 else "and this one has none"
        )
        raise _other_model(recipe, here)


def check_prompt(recipe: Recipe, prompt: MidiDocument | None) -> None:
    """Make sure that the music to go on from is the one that was gone on from.

    A file that had to be repaired may be given as it was, or repaired.

    Raises:
        RecipeError: It is missing, or another one, or there was none.
    """
    if recipe.prompt_sha256 is None:
        if prompt is not None:
            raise RecipeError(
                "The music was made from nothing, so there is no file that it went on from.",
                hint="Leave the prompt out.",
                code="recipe-prompt",
            )
        return
    named = f"whose SHA-256 begins with {recipe.prompt_sha256[:_SHOWN]}"
    if prompt is None:
        raise RecipeError(
            f"The music goes on from a file {named}, and that file was not given.",
            hint="Give the file that it went on from, too.",
            code="recipe-prompt",
        )
    if not is_prompt_of(recipe, prompt):
        raise RecipeError(
            f"{prompt.name} is not the file that the music goes on from, {named}.",
            hint="Give that file as it was: saved by another program it has other bytes.",
            code="recipe-prompt",
        )


def is_prompt_of(recipe: Recipe, source: bytes | MidiDocument) -> bool:
    """Say whether a file is the one that a recipe's music goes on from.

    Raises:
        MidiReadError: It is no MIDI file.
    """
    if isinstance(source, bytes) and hashlib.sha256(source).hexdigest() == recipe.prompt_sha256:
        return True
    document = read_midi(source) if isinstance(source, bytes) else source
    hashes = (document.source_sha256, hashlib.sha256(document.data).hexdigest())
    return recipe.prompt_sha256 in hashes


def difference(recipe: Recipe, made: bytes, file: bytes) -> str | None:
    """Say in a sentence that a take that was made again is not the file; None where it is.

    Args:
        recipe: The file's.
        made: What was made of it.
        file: The file, or the `data` of its document.
    """
    import musicgen

    if made == file:
        return None
    if recipe.musicgen != musicgen.__version__:
        return (
            f"The file was made by musicgen {recipe.musicgen}, and this is {musicgen.__version__}: "
            "what was made now has other bytes."
        )
    return (
        "What was made now is not the file, byte for byte: the file was changed since, or was made "
        "on a computer that rounds otherwise."
    )


def _other_model(recipe: Recipe, why: str) -> RecipeError:
    return RecipeError(
        f"The music was made with the model {recipe.model!r}, whose SHA-256 begins with "
        f"{recipe.model_sha256[:_SHOWN]}, {why}.",
        hint="Name the model that made it, or its folder.",
        code="recipe-model",
    )
