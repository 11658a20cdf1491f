"""`musicgen again`: a take of musicgen once more, from the recipe in its own file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from musicgen.cli import options
from musicgen.cli.console import Console, counted, session
from musicgen.cli.paths import make_folder_of, midi_path, try_out


def again(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A MIDI file that musicgen made.")],
    prompt: Annotated[
        Path | None,
        typer.Option("--prompt", metavar="FILE", help="The file that it goes on from, if it does."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="OUT", help="The file to write; without it: FILE-again.mid."
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|DIR",
            help="The model that made it; without it: the one of those that ship whose weights "
            "have the recipe's hash.",
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Make a take again from the recipe in its file: the same bytes.

    Where that is not possible (another model, another prompt, another kind of engine), a sentence
    says why and nothing is written.
    """
    with session(as_json=as_json) as console:
        out = midi_path(output or Path(f"{source.stem}-again.mid"))
        try_out([out], inputs=[source, *([prompt] if prompt else [])])

        from musicgen.midi import read_midi
        from musicgen.pipeline import check_prompt, difference, load_for, needed_recipe

        document = read_midi(source)
        recipe = needed_recipe(document)
        given = None if prompt is None else read_midi(prompt)
        check_prompt(recipe, given)  # said before a model is loaded
        console.progress(f"Loading the model {recipe.model} ...")
        pipeline = load_for(recipe, model, threads=1)
        console.how_to_go_on = "Nothing was written."
        take = _make(console, pipeline.stream_again(recipe, given))
        unlike = difference(recipe, take.midi, document.data)
        make_folder_of(out)
        take.save(out)
        report = {"file": str(out), **take.as_dict(), "same": unlike is None}
        console.result(
            report,
            f"{out}: {counted(take.notes, 'note')}, {take.seconds:.1f} s, seed {take.seed}, "
            f"model {take.model}",
            f"  {unlike}" if unlike else f"  the same bytes as {source}",
        )


def _make(console: Console, stream: Any) -> Any:
    """Return the take that a stream ends with, and tell how far it has come on the way."""
    from musicgen.pipeline import Take

    for made in stream:
        if isinstance(made, Take):
            console.end_progress()
            return made
        console.progress(
            f"{made.seconds_made:.0f} of {made.seconds_wanted:.0f} s, {counted(made.notes, 'note')}"
        )
    raise RuntimeError("the stream ended without a take")
