"""What the commands say and where: results on stdout, progress and errors on stderr.

The one place that writes to the terminal, and the one that turns errors into exit codes:
0 done, 1 a MusicgenError, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from types import FrameType, MappingProxyType
from typing import Any

import typer

from musicgen.cli.streams import check_open, discard
from musicgen.errors import ElsewhereError, MusicgenError

EXIT_ERROR = 1
EXIT_INTERRUPTED = 130
# Seconds between two progress lines: a terminal's line is redrawn, a log's is added to.
TERMINAL_PAUSE_S = 0.1
LOG_PAUSE_S = 10.0
_LATER_S = 0.05  # a Ctrl-C that came where it would come amiss is raised again so long after


def visible(text: str) -> str:
    r"""Return `text` as one line that no terminal can be misled by.

    File and track names are foreign: line breaks, escape sequences, right-to-left marks and
    bytes that are no characters come out as `\n`, `\x1b`, `\u202e`, `\udcff`.
    """
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in text
    )


class Console:
    """Writes the lines of one command.

    Args:
        as_json: Results are JSON lines for programs instead of text for people.

    Attributes:
        how_to_go_on: What to tell whoever breaks the command off.
        kept: What is done already and stays if the rest fails, as `--json` tells it.
    """

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self.how_to_go_on = ""
        self.kept: Mapping[str, Any] = {}
        self._last_progress_s = float("-inf")
        self._open_line = False

    def result(self, data: Mapping[str, Any], *lines: str) -> None:
        """Write one result: `data` as a JSON line, or `lines` for people."""
        self.end_progress()
        if self.as_json:
            # ASCII only: valid everywhere, whatever the terminal's encoding or the file's name.
            typer.echo(json.dumps(data, allow_nan=False))
        else:
            for line in lines:
                typer.echo(visible(line))
        sys.stdout.flush()

    def note(self, line: str) -> None:
        """Write a remark for people to stderr."""
        self.end_progress()
        _remark(visible(line) + "\n")

    def progress(self, line: str, *, last: bool = False) -> None:
        """Write where a long command stands, at most ten times a second (in a log: every 10 s).

        Args:
            line: What to write.
            last: It is the stage's last, which is always written: a log must not end at 1 of 2.
        """
        terminal = sys.stderr.isatty()
        now_s = time.monotonic()
        pause_s = TERMINAL_PAUSE_S if terminal else LOG_PAUSE_S
        if not last and now_s - self._last_progress_s < pause_s:
            return
        self._last_progress_s = now_s
        if terminal:
            _remark("\r\x1b[K" + visible(line))
            self._open_line = True
        else:
            _remark(visible(line) + "\n")

    def end_progress(self) -> None:
        """Leave the line that `progress` redraws."""
        if self._open_line:
            _remark("\n")
            self._open_line = False

    def error(self, error: MusicgenError) -> None:
        """Say what went wrong, what to do and what is kept: to people, by JSON to programs too."""
        self.note(f"Error: {error.message}")
        if error.hint:
            self.note(error.hint)
        if self.kept:
            self.note(self.how_to_go_on)
        if self.as_json:
            print_error(error, self.kept)


def print_error(error: MusicgenError, kept: Mapping[str, Any] = MappingProxyType({})) -> None:
    """Write an error to stdout, for programs.

    Args:
        error: What went wrong.
        kept: What is done already and stays.
    """
    typer.echo(json.dumps({"ok": False, "error": error.as_dict(), **kept}))


class SilentConsole(Console):
    """The console of a process that leaves it to another one of its run to speak.

    Only what goes wrong in this process alone is told, since nobody else knows it.
    """

    def result(self, data: Mapping[str, Any], *lines: str) -> None:
        """Leave it to the other one."""

    def note(self, line: str) -> None:
        """Leave it to the other one."""

    def progress(self, line: str, *, last: bool = False) -> None:
        """Leave it to the other one."""

    def error(self, error: MusicgenError) -> None:
        """Say what went wrong here; what went wrong elsewhere is said there."""
        if not isinstance(error, ElsewhereError):
            _remark(visible(f"Error: {error}") + "\n")


def _remark(text: str) -> None:
    """Write to stderr. Where that cannot be written the work goes on all the same, in silence."""
    try:
        typer.echo(text, err=True, nl=False)
    except BrokenPipeError:
        raise
    except OSError:
        discard(sys.stderr)


@contextmanager
def session(*, as_json: bool, silent: bool = False, only_tells: bool = False) -> Iterator[Console]:
    """Run a command's body: the one place where errors and Ctrl-C become exit codes.

    Args:
        as_json: See `Console`.
        silent: It is left to another process to speak.
        only_tells: All that comes of the command goes to stdout: with that closed it is in vain.
    """
    if only_tells:
        check_open(sys.stdout)
    console = SilentConsole(as_json=as_json) if silent else Console(as_json=as_json)
    try:
        yield console
    except MusicgenError as error:
        console.error(error)
        raise typer.Exit(EXIT_ERROR) from error
    except KeyboardInterrupt as error:
        console.note(f"Interrupted. {console.how_to_go_on}".rstrip())
        raise typer.Exit(EXIT_INTERRUPTED) from error


class Interrupts:
    """What Ctrl-C does: stop at once, or from `wait_for_steps` on wait for the end of a step."""

    def __init__(self, *, silent: bool = False) -> None:
        """Begin where there is nothing to lose; `silent` leaves it to others to say so."""
        self.pressed = False
        self._silent = silent
        self._waits = False

    def wait_for_steps(self) -> None:
        """Let the first Ctrl-C wait for `check` from now on; the second stops at once."""
        self._waits = True

    def check(self) -> None:
        """Raise KeyboardInterrupt if Ctrl-C was pressed: to be called between steps."""
        if self.pressed:
            raise KeyboardInterrupt

    def take(self, number: int, frame: FrameType | None) -> None:
        """Take in a Ctrl-C; a signal handler."""
        if _comes_amiss_in(frame):
            threading.Timer(_LATER_S, _send_again, (number,)).start()
            return
        stops = self.pressed or not self._waits
        self.pressed = True
        if stops:
            raise KeyboardInterrupt
        if self._silent:
            return
        # Not through sys.stderr, which may be in the middle of a line of its own.
        with suppress(OSError):
            os.write(2, b"\nStopping after this step. Ctrl-C again stops at once.\n")


def _send_again(number: int) -> None:
    """Send a signal to the main thread, so that what it waits for is broken off, too."""
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, number)
    else:
        signal.raise_signal(number)


def _comes_amiss_in(frame: FrameType | None) -> bool:
    """Whether nothing should be raised there.

    In a callback in which an import lets go of its lock it would be lost. In text that is
    executed, as for each dataclass of a library, `python -m` would remember it as unhandled:
    whoever catches it, the process ends by the signal and not by its exit code.
    """
    if frame is None:
        return False
    file, name = frame.f_code.co_filename, frame.f_code.co_name
    is_executed = name == "<module>" and file == "<string>" and frame.f_back is not None
    return is_executed or (name == "cb" and "importlib" in file)


@contextmanager
def stopping_between_steps(*, silent: bool = False) -> Iterator[Interrupts]:
    """Let Ctrl-C wait for the end of a step, once there are steps.

    Raised in the middle of a step, the step would be lost and with it everything since the last
    save.
    """
    interrupts = Interrupts(silent=silent)
    before = signal.signal(signal.SIGINT, interrupts.take)
    try:
        yield interrupts
    finally:
        # On the way out a further Ctrl-C has nothing left to stop, and must not break off the end.
        signal.signal(signal.SIGINT, signal.SIG_IGN if interrupts.pressed else before)


def counted(number: int, what: str) -> str:
    """Return a number of things: `1 step`, `1,200 steps`."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def duration(seconds: float) -> str:
    """Return a length of time for people: `45 s`, `3 min 05 s`, `2 h 10 min`."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
