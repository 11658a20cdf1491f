"""The `musicgen` program: its commands and its entry point."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from typing import Annotated, NoReturn

import typer

import musicgen
from musicgen.cli import (
    again,
    attention,
    continue_,
    copies,
    corpus,
    data,
    evaluate,
    generate,
    info,
    quality,
    render,
    statistics,
    train,
    ui,
)
from musicgen.cli.console import EXIT_ERROR, EXIT_INTERRUPTED, Console
from musicgen.cli.streams import LostOutputError, discard, prepare_streams
from musicgen.cli.usage import JSON, Commands
from musicgen.errors import MusicgenError
from musicgen.files import reason, way_out

app = typer.Typer(
    name="musicgen",
    cls=Commands,
    help="A studio for symbolic music: generate, continue, see and train. Notes, not audio.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    # Plain help needs no further import: `musicgen --help` answers at once.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command("generate")(generate.generate)
app.command("continue")(continue_.continue_)
app.command("again")(again.again)
app.command("render")(render.render)
app.command("attention")(attention.attention)
app.command("info")(info.info)
app.command("train")(train.train)
app.add_typer(data.app, name="data")
app.command("corpus")(corpus.corpus)
app.command("evaluate")(evaluate.evaluate)
app.command("copies")(copies.copies)
app.command("quality")(quality.quality)
app.command("statistics")(statistics.statistics)
app.command("ui")(ui.ui)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"musicgen {musicgen.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; the console script's entry point."""
    prepare_streams()
    _collect_seldom()
    try:
        _check_folder()
        app()
    except KeyboardInterrupt:
        _leave_interrupted()
    except SystemExit as leaving:
        if leaving.code == EXIT_INTERRUPTED:
            _leave_interrupted()
        raise
    except BrokenPipeError:
        # The reader of our output went away (`| head`).
        discard(sys.stdout)
        sys.exit(EXIT_ERROR)
    except LostOutputError as error:
        discard(sys.stdout)
        sentence = f"The output cannot be written: {reason(error)}."
        hint = way_out(error, "Let stdout go to a place that can be written.")
        Console(as_json=False).error(MusicgenError(sentence, hint=hint))
        sys.exit(EXIT_ERROR)


def _check_folder() -> None:
    """End where the current folder was deleted: libraries end there by sentences of their own."""
    try:
        os.getcwd()
    except FileNotFoundError:
        Console(as_json=JSON in sys.argv).error(
            MusicgenError(
                "The folder you are in is gone: it was deleted or replaced.",
                hint="Change to another folder (or to the new one of that name) and try again.",
                code="folder-gone",
            )
        )
        sys.exit(EXIT_ERROR)


def _collect_seldom() -> None:
    # Torch's import makes half a million objects that live to the end. To search them for cycles
    # again and again as they come, and once more as all goes, is a tenth of a short command's time.
    gc.set_threshold(20_000, 20, 20)
    atexit.register(gc.freeze)


def _leave_interrupted() -> NoReturn:
    # Ctrl-C pressed twice: the second one must not break off the interpreter's own end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(EXIT_INTERRUPTED)


if __name__ == "__main__":
    main()
