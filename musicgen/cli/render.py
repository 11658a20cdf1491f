"""`musicgen render`: a MIDI file as sound, or as a picture of its piano roll."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from musicgen.cli import options
from musicgen.cli.console import Console, duration, session, visible
from musicgen.cli.paths import save, suffix_among, try_out

if TYPE_CHECKING:
    from musicgen.midi import MidiDocument


def render(
    source: Annotated[Path, typer.Argument(metavar="IN.mid", help="The MIDI file.")],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="OUT", help="OUT.wav, OUT.mp3 or OUT.png."),
    ],
    as_json: options.AsJson = False,
) -> None:
    """Turn a MIDI file into sound or into a picture.

    The ending of OUT chooses: .wav or .mp3, or .png for its piano roll.
    """
    with session(as_json=as_json) as console:
        suffix = suffix_among(output, (".wav", ".mp3", ".png"))
        try_out([output], inputs=[source])

        from musicgen.midi import read_midi

        document = read_midi(source)
        if suffix == ".png":
            data, facts, warnings = _picture(document)
        else:
            data, facts, warnings = _sound(console, document, suffix)
        save(output, data)
        warnings = [*(warning.message for warning in document.warnings), *warnings]
        console.result(
            {"file": str(output), "bytes": len(data), **facts, "warnings": warnings},
            f"{output}: {duration(facts['seconds'])} of music, {len(data):,} bytes",
            *(f"  note: {warning}" for warning in warnings),
        )


def _picture(document: MidiDocument) -> tuple[bytes, dict[str, Any], list[str]]:
    from musicgen.figures import roll_png
    from musicgen.midi import PART_NAME, note_table, pedal_spans

    score = document.score
    notes = note_table(score, include_drums=True)
    # What `musicgen continue` wrote is told apart from the music that it goes on from.
    is_new = [score.tracks[track].name == PART_NAME for track in notes.track.tolist()]
    goes_on = any(is_new) and not all(is_new)
    if not any(is_new) and _is_from_nothing(document):
        is_new = [True] * len(notes)
    facts = {"notes": len(notes), "seconds": round(float(notes.end_s.max(initial=0.0)), 3)}
    picture = roll_png(
        notes,
        is_new=is_new,
        prompt_end_s=float(notes.onset_s[is_new].min()) if goes_on else None,
        pedals=pedal_spans(score),
        track_names={index: visible(track.name) for index, track in enumerate(score.tracks)},
        title=visible(document.name),
    )
    return picture, facts, []


def _is_from_nothing(document: MidiDocument) -> bool:
    """Say whether a model made all of a file, as the file itself says."""
    from musicgen.errors import RecipeError
    from musicgen.pipeline import recipe_of

    try:
        recipe = recipe_of(document)
    except RecipeError:
        return False
    return recipe is not None and recipe.prompt_sha256 is None


def _sound(
    console: Console, document: MidiDocument, suffix: str
) -> tuple[bytes, dict[str, Any], list[str]]:
    from musicgen import audio

    console.progress("Playing the music ...")
    sound = audio.render(document.data)
    data = audio.mp3_bytes(sound) if suffix == ".mp3" else audio.wav_bytes(sound)
    facts = {
        "seconds": round(sound.seconds, 3),
        "sample_rate": sound.sample_rate,
        "engine": sound.engine,
    }
    return data, facts, list(sound.warnings)
