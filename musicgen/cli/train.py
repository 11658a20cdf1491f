"""`musicgen train`: a model of one's own from a folder of MIDI files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from musicgen.cli import options
from musicgen.cli.console import Interrupts, session, stopping_between_steps
from musicgen.cli.heap import keep_freed_blocks
from musicgen.cli.paths import music_folder
from musicgen.cli.train_follow import follow_run
from musicgen.cli.train_plan import tell_plan
from musicgen.cli.waiting import short_waits
from musicgen.files import is_file

# The rooms that own these import torch, which help must not wait for; a test compares them.
PRESETS = ("tiny", "small", "medium")
SCHEMES = ("piano", "tsd", "remi", "midilike")
LENGTHS = ("steps", "minutes", "epochs")
ALLOWABLE = ("settings", "music")


def train(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            help="MIDI files, at any depth below it; `starter`: the pieces that ship.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="RUN",
            help="The folder of the run: models, metrics, state. Needed but for --plan.",
        ),
    ] = None,
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
        typer.Option(
            "--from",
            metavar="MODEL",
            help="Fine-tune: begin with this model's weights, with settings that suit that.",
        ),
    ] = None,
    lora: Annotated[
        int | None,
        typer.Option(
            "--lora",
            metavar="RANK",
            parser=options.number(1, 1024, whole=True),
            help="With --from: learn matrices of this rank beside the model's own (8, say).",
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in RUN where it stopped.")
    ] = False,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            metavar="|".join(ALLOWABLE),
            help="Let a resumed run change its settings, or its music; may be given twice.",
        ),
    ] = None,
    plan: Annotated[
        bool,
        typer.Option(
            "--plan",
            help="Train nothing: try each size, and tell its pace, time and memory; with "
            "--from, all weights and LoRA.",
        ),
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Train a model on a folder of MIDI files.

    Ctrl-C keeps what was learned; --resume goes on.
    """
    given = {"preset": preset, "scheme": scheme, "seed": seed, "lora_rank": lora}
    lengths = {"steps": steps, "minutes": minutes, "epochs": epochs}
    given = {name: value for name, value in {**given, **lengths}.items() if value is not None}
    if sum(name in given for name in LENGTHS) > 1:
        raise typer.BadParameter("give one of --steps, --minutes and --epochs.")
    for each in allow or ():
        options.one_of(ALLOWABLE)(each)
    if allow and not resume:
        raise typer.BadParameter("--allow goes with --resume.")
    if plan and resume:
        raise typer.BadParameter("--plan does not go with --resume.")
    if output is None and not plan:
        raise typer.BadParameter("give the run's folder: --output RUN (-o RUN).")
    if start_from is not None and (scratch or resume):
        other = "--scratch" if scratch else "--resume"
        raise typer.BadParameter(f"--from and {other} exclude each other.")
    if lora is not None and start_from is None and not resume:
        raise typer.BadParameter("--lora fine-tunes a model: give it with --from.")
    resume = resume or _is_restarted(os.environ, output)
    silent = not _is_writer(os.environ)
    os.environ.update(short_waits(os.environ))  # read once, when torch is imported
    keep_freed_blocks()
    with session(as_json=as_json, silent=silent, only_tells=plan) as console:
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
        if start_from is not None:
            settings = training.fine_tuning_settings(settings)
        if plan or output is None:
            recipe = from_mapping(training.TrainingRecipe, settings, where=where)
            tell_plan(console, music, recipe, output, device, start_from)
            return
        if resume:
            recipe = training.resumed_recipe(output, settings, where=where)
        else:
            recipe = from_mapping(training.TrainingRecipe, settings, where=where)
        console.how_to_go_on = "Nothing was trained yet."
        run = training.train(
            music,
            output,
            recipe,
            device=device,
            start_from=start_from,
            resume=resume,
            allow=allow or (),
        )
        # Closing is what makes the run keep its state when Ctrl-C was pressed.
        with stopping_between_steps(silent=silent) as interrupts, closing(run):
            follow_run(console, _checked(run, interrupts), folder, output, is_new=not resume)


def _is_writer(environment: Mapping[str, str]) -> bool:
    """Whether this process speaks: of those that torchrun starts the first one alone does.

    Asked before torch is imported; a test holds it against the room that trains.
    """
    return "MASTER_ADDR" not in environment or environment.get("RANK", "0") == "0"


def _is_restarted(environment: Mapping[str, str], output: Path | None) -> bool:
    """Whether torchrun starts this again after a failure (--max-restarts): the run goes on then."""
    again = environment.get("TORCHELASTIC_RESTART_COUNT", "0") != "0"
    return again and output is not None and is_file(output / "run.json")


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
