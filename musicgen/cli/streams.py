"""stdin, stdout and stderr made fit for work: closed ones, full disks, narrow encodings."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any, TextIO


class LostOutputError(OSError):
    """What was to go to stdout cannot get there: the disk behind it is full, mostly."""


class _Output(io.FileIO):
    """A file whose errors say that it was stdout: an OSError may come from any other file."""

    def write(self, data: Any, /) -> int | None:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise LostOutputError(error.errno, error.strerror) from error


class _Closed(io.TextIOWrapper):
    """In the place of a stream that was closed: what is written goes nowhere."""


def check_open(stream: TextIO) -> None:
    """Refuse a stream that was closed before the program began.

    Raises:
        LostOutputError: It was.
    """
    if isinstance(stream, _Closed):
        raise LostOutputError(errno.EBADF, "it is closed")


def prepare_streams() -> None:
    """Let the program's three streams be written to whatever they are."""
    for name, mode in (("stdin", "rb"), ("stdout", "wb"), ("stderr", "wb")):
        if getattr(sys, name) is None:
            # It was closed, as in some cron jobs. That is no reason not to work, unless nothing
            # but its output comes of a command; and a file that is written must not get its
            # number, to which libraries in C write their remarks.
            setattr(sys, name, _Closed(open(os.devnull, mode), encoding="utf-8"))  # noqa: SIM115
    if sys.stdout is sys.__stdout__ and not sys.stdout.isatty():
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(_Output(sys.stdout.fileno(), "w", closefd=False)),
            encoding=sys.stdout.encoding,
        )
    for stream in (sys.stdout, sys.stderr):
        # A name that the terminal's encoding lacks must not end the command.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def discard(stream: TextIO) -> None:
    """Let what a stream still holds, and all that follows, go nowhere; Python writes at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
