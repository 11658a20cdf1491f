"""`musicgen train`: a model of one's own from a folder of MIDI files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from musicgen.cli import options
from musicgen.cli.console import (
    Console,
    Interrupts,
    counted,
    duration,
    session,
    stopping_between_steps,
)
from musicgen.cli.paths import music_folder

# The rooms that own these import torch, which help must not wait for; a test compares them.
PRESETS = ("tiny", "small", "medium")
SCHEMES = ("piano", "tsd", "remi", "midilike")
LENGTHS = ("steps", "minutes", "epochs")


def train(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            help="MIDI files, at any depth below it; `starter`: the pieces that ship.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="RUN", help="The folder of the run: models, metrics, state."
        ),
    ],
    preset: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(PRESETS),
            callback=options.one_of(PRESETS),
            help="Size of the model, about 1, 6 and 20 million parameters; without it: small.",
        ),
    ] = None,
    scheme: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(SCHEMES),
            callback=options.one_of(SCHEMES),
            help="How music becomes events; without it: piano, one event a note.",
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE.toml", help="All settings; options given here go before it."),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            parser=options.number(1, 100_000_000, whole=True),
            help="Train this many steps.",
        ),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(
            metavar="M",
            parser=options.number(0.05, 1_000_000),
            help="Train about this long: a short trial turns it into steps. Without a length: 20.",
        ),
    ] = None,
    epochs: Annotated[
        float | None,
        typer.Option(
            metavar="E",
            parser=options.number(0.001, 1_000_000),
            help="Go through the music this many times.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            parser=options.number(0, options.MAX_SEED, whole=True),
            help="First weights and order of the music; without it: 0.",
        ),
    ] = None,
    device: options.Device = "auto",
    scratch: Annotated[
        bool, typer.Option("--scratch", help="Begin with random weights (as without --from).")
    ] = False,
    start_from: Annotated[
        str | None,
        typer.Option("--from", metavar="MODEL", help="Begin with the weights of this model."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in RUN where it stopped.")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Train a model on a folder of MIDI files.

    Ctrl-C keeps what was learned; --resume goes on.
    """
    given = {"preset": preset, "scheme": scheme, "seed": seed}
    lengths = {"steps": steps, "minutes": minutes, "epochs": epochs}
    given = {name: value for name, value in {**given, **lengths}.items() if value is not None}
    if sum(name in given for name in LENGTHS) > 1:
        raise typer.BadParameter("give one of --steps, --minutes and --epochs.")
    if start_from is not None and (scratch or resume):
        other = "--scratch" if scratch else "--resume"
        raise typer.BadParameter(f"--from and {other} exclude each other.")
    with session(as_json=as_json) as console:
        if start_from is not None:
            from musicgen.checkpoint import resolve_checkpoint

            resolve_checkpoint(start_from)  # a name that is wrong is said before torch is imported
        from musicgen.checkpoint import find_device

        find_device(device)  # one that is missing is said before all else is imported
        music = music_folder(console, folder)

        from musicgen import training
        from musicgen.configio import from_mapping

        settings = _settings(config, given)
        where = "the command line" if config is None else str(config)
        if resume:
            recipe = training.resumed_recipe(output, settings, where=where)
        else:
            recipe = from_mapping(training.TrainingRecipe, settings, where=where)
        console.how_to_go_on = "Nothing was trained yet."
        run = training.train(
            music, output, recipe, device=device, start_from=start_from, resume=resume
        )
        # Closing is what makes the run keep its state when Ctrl-C was pressed.
        with stopping_between_steps() as interrupts, closing(run):
            _follow(console, _checked(run, interrupts), folder, output, is_new=not resume)


def _settings(config: Path | None, given: dict[str, Any]) -> dict[str, Any]:
    from musicgen.configio import read_toml

    settings = {} if config is None else read_toml(config)
    if any(name in given for name in LENGTHS):
        settings = {name: value for name, value in settings.items() if name not in LENGTHS}
    return {**settings, **given}


def _checked(run: Iterable[Any], interrupts: Interrupts) -> Iterator[Any]:
    from musicgen.training import Planned

    for event in run:
        if isinstance(event, Planned):
            # Until now there was nothing to lose: not while files are read, nor in the trial.
            interrupts.wait_for_steps()
        yield event
        interrupts.check()


def _follow(console: Console, run: Any, folder: Path, output: Path, *, is_new: bool) -> None:
    """Say what happens until the run is finished."""
    from musicgen import training

    report: dict[str, Any] = {"run": str(output)}
    for event in run:
        if isinstance(event, training.StepDone):
            console.progress(
                f"step {event.step:,} of {event.steps:,}, loss {event.loss:.3f}, "
                f"{event.events_per_s:,.0f} events a second, {duration(event.seconds_left)} left",
                last=event.step == event.steps,
            )
        elif isinstance(event, training.Validated):
            best = ", the best so far" if event.is_best else ""
            console.note(f"step {event.step:,}: {event.bits_per_note:.3f} bits a note{best}")
        elif isinstance(event, training.Scanned):
            report |= {"pieces": event.n_pieces, "refused": event.n_refused}
            console.note(event.summary)
            if is_new:
                console.progress("Finding out how long a step takes ...")
        elif isinstance(event, training.Planned):
            report |= {"parameters": event.parameters, "steps": event.steps}
            console.how_to_go_on = f"Go on with: musicgen train {folder} -o {output} --resume"
            _say_plan(console, event)
        elif isinstance(event, training.CheckpointSaved):
            console.progress(f"step {event.step:,}: kept in {event.folder}")
        elif isinstance(event, training.Finished):
            _say_end(console, event, report, output)
        else:
            line = f"{event.done:,} of {event.total:,} files read"
            console.progress(line, last=event.done == event.total)


def _say_plan(console: Console, plan: Any) -> None:
    begun = f", {plan.first_step:,} of them done" if plan.first_step else ""
    console.note(f"{plan.parameters:,} parameters, {counted(plan.steps, 'step')}{begun}")
    if plan.seconds_per_step is not None:
        left_s = (plan.steps - plan.first_step) * plan.seconds_per_step
        pace = f"{plan.seconds_per_step:.2f} s a step in a trial"
        console.note(f"about {duration(left_s)} of training ({pace})")
    if plan.notice:
        console.note(plan.notice)


def _say_end(console: Console, end: Any, report: dict[str, Any], output: Path) -> None:
    bits = end.bits_per_note if math.isfinite(end.bits_per_note) else None
    quality = "no held-out music to measure" if bits is None else f"{bits:.3f} bits a note"
    console.result(
        {**report, "model": str(end.best), "bits_per_note": bits},
        f"{output}: {counted(end.step, 'step')}, {quality}; the best model is in {end.best}",
        f"Make music with it: musicgen generate -o OUT.mid --model {output}",
    )
