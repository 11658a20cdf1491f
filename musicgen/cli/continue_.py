"""`musicgen continue`: a MIDI file goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from musicgen.cli import options
from musicgen.cli.console import session
from musicgen.cli.takes import TakeOptions, make_takes


def continue_(
    source: Annotated[Path, typer.Argument(metavar="IN.mid", help="The music to go on from.")],
    output: options.Out,
    prompt_seconds: Annotated[
        float | None,
        typer.Option(
            parser=options.number(0, 1_000_000, above_low=True),
            help="Keep the first S seconds of the file only; without it: all of it.",
            metavar="S",
        ),
    ] = None,
    only_new: Annotated[
        bool, typer.Option("--only-new", help="Leave the given music out of the result.")
    ] = False,
    model: options.Model = "piano",
    seconds: options.Seconds = 30.0,
    temperature: options.Temperature = 1.0,
    top_p: options.TopP = None,
    top_k: options.TopK = 0,
    min_p: options.MinP = 0.0,
    seed: options.Seed = None,
    takes: options.Takes = None,
    device: options.Device = "auto",
    engine: options.Engine = "auto",
    wav: options.Wav = False,
    as_json: options.AsJson = False,
) -> None:
    """Let a MIDI file go on: its notes stay, new ones follow."""
    with session(as_json=as_json) as console:
        make_takes(
            console,
            TakeOptions(
                output=output,
                model=model,
                device=device,
                engine=engine,
                takes=takes,
                seed=seed,
                wav=wav,
                source=source,
                sampling={
                    "prompt_seconds": prompt_seconds,
                    "only_new": only_new,
                    "seconds": seconds,
                    "temperature": temperature,
                    "top_p": top_p,
                    "top_k": top_k,
                    "min_p": min_p,
                },
            ),
        )
