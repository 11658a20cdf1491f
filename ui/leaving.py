"""How the app ends: with a word at once, soon, and without tearing down what still computes.

An interpreter that ends takes the floor from under its threads. Python ends a daemon thread where
it next wants to run, inside foreign code too, and that calls `terminate`: torch and the synthesizer
do (seen as SIGABRT in the moment after Ctrl-C). A thread that is no daemon it waits for, however
long that takes. So the process is ended here, when all that must not be left behind is away.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Final, NoReturn

from musicgen.ui import strings

if TYPE_CHECKING:
    from musicgen.ui.resources import Studio

_PATIENCE_S: Final = 1.5  # so long open pages and answers under way are waited for
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def promptly(studio: Studio) -> Iterator[None]:
    """Let the process end soon after it was asked to, from now on and beyond this block.

    To be entered where the server's own signal handlers are set; they are called behind ours.

    Args:
        studio: What to close.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are the main thread's
        return
    asked = threading.Event()
    number: int = signal.SIGINT
    before = {each: signal.getsignal(each) for each in _SIGNALS}

    def take(given: int, frame: FrameType | None) -> None:
        nonlocal number
        if not asked.is_set():
            number = given
            studio.closing = True
            # Not through sys.stderr, which may be in the middle of a line of its own.
            os.write(2, f"\n{strings.CLOSING}\n".encode())
            asked.set()
        then = before[signal.Signals(given)]
        if callable(then):
            then(given, frame)

    def watch() -> None:
        asked.wait()
        time.sleep(_PATIENCE_S)
        _leave(studio, number)

    def last() -> None:
        if asked.is_set():
            _leave(studio, number)

    # Ready beforehand: a signal may come where no thread can be begun.
    threading.Thread(target=watch, name="musicgen-leaving", daemon=True).start()
    atexit.register(last)
    for each in _SIGNALS:
        signal.signal(each, take)
    try:
        yield
    finally:
        for each, then in before.items():
            signal.signal(each, then)


def _leave(studio: Studio, number: int) -> NoReturn:
    """End the process as one that was ended by a signal, but for its threads."""
    studio.close()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(128 + number)
