"""`musicgen generate`: new music from nothing."""

from __future__ import annotations

from musicgen.cli import options
from musicgen.cli.console import session
from musicgen.cli.takes import TakeOptions, make_takes


def generate(
    output: options.Out,
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
    """Compose new music from nothing and write it as a MIDI file."""
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
                sampling={
                    "seconds": seconds,
                    "temperature": temperature,
                    "top_p": top_p,
                    "top_k": top_k,
                    "min_p": min_p,
                },
            ),
        )
