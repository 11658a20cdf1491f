"""`musicgen info`: what MIDI files and checkpoints hold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from musicgen.cli import options
from musicgen.cli.console import EXIT_ERROR, Console, counted, session
from musicgen.errors import CheckpointNotFoundError, MusicgenError, RecipeError
from musicgen.files import is_folder, is_there

if TYPE_CHECKING:
    from musicgen.midi import MidiDocument


def info(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="MIDI files or checkpoints' folders.")
    ],
    as_json: options.AsJson = False,
) -> None:
    """Tell what MIDI files and checkpoints hold.

    One after another; a bad one stops nothing.
    """
    with session(as_json=as_json, only_tells=True) as console:
        bad = sum(not _tell(console, file) for file in files)
        if bad:
            raise typer.Exit(EXIT_ERROR)


def _tell(console: Console, file: Path) -> bool:
    name = str(file)
    try:
        facts = _facts(file)
    except MusicgenError as error:
        lines = [f"{name}: {error.message}"] + [f"  {error.hint}"] * bool(error.hint)
        console.result({"file": name, "ok": False, "error": error.as_dict()}, *lines)
        return False
    lines = _checkpoint_lines(facts) if "config" in facts else _midi_lines(facts)
    console.result({"file": name, "ok": True, **facts}, f"{name}:", *lines)
    return True


def _facts(file: Path) -> dict[str, Any]:
    if is_folder(file):
        try:
            return _model_facts(file)
        except CheckpointNotFoundError as error:
            raise _no_checkpoint(file) from error
    if not is_there(file) and file.name == str(file):
        # Perhaps the name of a model that ships; otherwise the sentence is about the file.
        try:
            return _model_facts(str(file))
        except CheckpointNotFoundError:
            return _midi_facts(file)
    return _midi_facts(file)


def _model_facts(name: str | Path) -> dict[str, Any]:
    from musicgen.checkpoint import describe_checkpoint  # torch comes with it

    return describe_checkpoint(name)


def _no_checkpoint(folder: Path) -> CheckpointNotFoundError:
    from musicgen.midi.folder import MIDI_SUFFIXES

    try:
        names = sorted(p.name for p in folder.iterdir() if p.suffix.lower() in MIDI_SUFFIXES)
    except OSError:
        names = []  # it may not be listed; that it holds no model is true all the same
    if names:
        music = f"a folder of {counted(len(names), 'MIDI file')}, not one of them"
        hint = f"Name the files themselves, as in {folder / names[0]}."
    else:
        music = "a folder, but not that of a model"
        hint = "Give MIDI files, a model's folder (it holds manifest.json) or a training run's."
    return CheckpointNotFoundError(f"This is {music}.", hint=hint)


def _midi_facts(file: Path) -> dict[str, Any]:
    from musicgen.midi import describe, read_midi

    document = read_midi(file)
    facts = describe(document)
    return {
        **_recipe_facts(document),
        "notes": facts.notes,
        "first_s": facts.first_s,
        "end_s": facts.end_s,
        "tracks": [
            {
                "name": track.name,
                "program": track.program,
                "is_drum": track.is_drum,
                "notes": track.notes,
            }
            for track in facts.tracks
        ],
        "warnings": list(facts.warnings),
    }


def _recipe_facts(document: MidiDocument) -> dict[str, Any]:
    """Return the recipe of a file that musicgen made, if it holds one."""
    from musicgen.pipeline import recipe_of

    try:
        recipe = recipe_of(document)
    except RecipeError as error:  # the music is whole
        return {"recipe": None, "recipe_error": error.as_dict()}
    return {} if recipe is None else {"recipe": recipe.as_dict()}


def _recipe_lines(facts: dict[str, Any]) -> Iterator[str]:
    if "recipe_error" in facts:
        yield f"  recipe: {facts['recipe_error']['message']}"
    elif "recipe" in facts:
        recipe = facts["recipe"]
        goes_on = "" if recipe["prompt_sha256"] is None else "; it goes on from another file"
        yield (
            f"  musicgen {recipe['musicgen']} made it: model {recipe['model']}, seed "
            f"{recipe['seed']}, engine {recipe['engine']}{goes_on}"
        )


def _midi_lines(facts: dict[str, Any]) -> Iterator[str]:
    notes = counted(facts["notes"], "note")
    yield f"  {notes} from {facts['first_s']:.2f} s to {facts['end_s']:.2f} s"
    for number, track in enumerate(facts["tracks"], start=1):
        sound = "drums" if track["is_drum"] else f"program {track['program']}"
        notes = counted(track["notes"], "note")
        name = f": {track['name']}" if track["name"] else ""
        yield f"  track {number}: {notes}, {sound}{name}"
    yield from _recipe_lines(facts)
    if facts["warnings"]:
        yield f"  warnings: {', '.join(facts['warnings'])}"


def _checkpoint_lines(facts: dict[str, Any], indent: str = "  ") -> Iterator[str]:
    for key, value in facts.items():
        if value is None:
            continue  # a recipe's other ways to give a length, mostly
        if isinstance(value, dict):
            yield f"{indent}{key}:"
            yield from _checkpoint_lines(value, indent + "  ")
        else:
            yield f"{indent}{key}: {value}"
