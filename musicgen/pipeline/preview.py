"""A MIDI file as a face shows it, before any model is asked.

Shapes: P presses of the pedal.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from musicgen.errors import RecipeError
from musicgen.midi import (
    Meter,
    MidiDocument,
    NoteTable,
    TrackFacts,
    cut_prompt,
    find_meter,
    note_table,
    pedal_spans,
    read_midi,
)
from musicgen.pipeline.recipe import Recipe, recipe_of


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Preview:
    """The notes of a file, and what is to be known of it.

    Attributes:
        data: The file as every reader takes it.
        notes: Its notes as the keys were held, drums too, in seconds.
        tracks: Its instruments; `notes.track` counts in them.
        pedals: When the sustain pedal of any track is down, (P, 2) seconds, ascending.
        end_s: End of the last note; of a part, the cut.
        meter: Its beats and bars, if it tells of any.
        is_drums_only: Whether it holds nothing that a model hears.
        warnings: What was repaired, and what the piano model will not take in, in sentences.
        n_repairs: How many of them are of the first kind; they stand first.
        recipe: What musicgen made it of, where a whole file says so.
        recipe_error: Why what stands there is no recipe.
    """

    data: bytes = field(repr=False)
    notes: NoteTable = field(repr=False)
    tracks: tuple[TrackFacts, ...]
    pedals: np.ndarray = field(repr=False)
    end_s: float
    warnings: tuple[str, ...]
    n_repairs: int = 0
    meter: Meter | None = None
    is_drums_only: bool = False
    recipe: Recipe | None = None
    recipe_error: RecipeError | None = None


def preview(
    source: str | Path | bytes | MidiDocument,
    *,
    name: str | None = None,
    seconds: float | None = None,
    written_until_s: float | None = None,
) -> Preview:
    """Read a file, or its first seconds, to show it.

    Args:
        source: A path, the bytes of a file, or a file that was read.
        name: What messages call it.
        seconds: How much of it; all of it without.
        written_until_s: Where a visitor's part ends: it alone decides whether bars are kept to.

    Raises:
        MidiReadError: It cannot be read, or holds no note.
        PromptError: The first `seconds` hold no note.
    """
    document = source if isinstance(source, MidiDocument) else read_midi(source, name=name)
    prompt = cut_prompt(document, seconds)
    recipe, recipe_error = (None, None) if seconds is not None else _recipe(document)
    shown = document if seconds is None else prompt
    spans = list(pedal_spans(shown.score).values())
    pedals = np.concatenate(spans) if spans else np.zeros((0, 2))
    notes = note_table(shown.score, include_drums=True)
    used = np.unique(notes.track)  # `tracks` holds those with notes alone
    return Preview(
        data=shown.data,
        notes=replace(notes, track=np.searchsorted(used, notes.track)),
        tracks=prompt.tracks,
        pedals=pedals[np.argsort(pedals[:, 0], kind="stable")],
        end_s=prompt.cut_s,
        warnings=tuple(warning.message for warning in prompt.warnings),
        n_repairs=len(document.warnings),
        meter=find_meter(shown.score, until_s=written_until_s),
        is_drums_only=prompt.drums_only,
        recipe=recipe,
        recipe_error=recipe_error,
    )


def _recipe(document: MidiDocument) -> tuple[Recipe | None, RecipeError | None]:
    """Return a file's recipe, or why what stands there is none: the music is whole either way."""
    try:
        return recipe_of(document), None
    except RecipeError as error:
        return None, error
