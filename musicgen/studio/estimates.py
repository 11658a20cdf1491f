"""How long each size of a model would train on this computer, and in how much memory.

That is tried out in a process of its own (`trial`): one that runs out of memory takes nothing with
it, the app stays quick meanwhile, and it can be ended as soon as nobody waits for it any more.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import IO, Any, Final

from musicgen.errors import MusicgenError, TrainingError
from musicgen.studio.surroundings import beside_others

LIMIT_S: Final = 45.0
"""So long steps are tried; what is not found until then would take long to train, too."""
READING_LIMIT_S: Final = 300.0
"""So long the music may take to be read before."""
_EVERY_S: Final = 0.5  # so often it is told how long it has taken


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a run of one size would take.

    Attributes:
        size: The preset's name.
        parameters: Trainable numbers of the model.
        verdict: Whether it suits this computer and the time, in a few words.
        seconds_per_step: Of a step with whole windows; None where it does not fit.
        steps: Of the whole run.
        epochs: How often it reads the music.
        memory_bytes: What it takes.
    """

    size: str
    parameters: int
    verdict: str
    seconds_per_step: float | None
    steps: int | None
    epochs: float | None
    memory_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trying:
    """How a trial stands.

    Attributes:
        seconds: Since it began to read, or since its first step.
        is_reading: Whether it still reads the music.
        files_done: Files read.
        files: Files in all; 0 before that is known.
        found: What it has found so far.
        is_over: Whether all was tried.
        is_late: Whether it was ended, as its time was up.
    """

    seconds: float = 0.0
    is_reading: bool = True
    files_done: int = 0
    files: int = 0
    found: tuple[Estimate, ...] = ()
    is_over: bool = False
    is_late: bool = False


def try_sizes(
    folder: str,
    minutes: float,
    *,
    start_from: str | None = None,
    limit_s: float = LIMIT_S,
) -> Iterator[Trying]:
    """Try a few steps of each size on some music, or of fine-tuning; yield how that stands.

    Closing the iterator ends the trial's process at once.

    Args:
        folder: The music.
        minutes: How long the run is to be.
        start_from: A model to fine-tune, all of its weights; None for new ones.
        limit_s: So long steps are tried.

    Raises:
        MusicgenError: The folder cannot be used, or the trial broke.
    """
    begins = [] if start_from is None else [start_from]
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "musicgen.studio.trial", folder, str(minutes), *begins],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            env=beside_others(os.environ),
        )
    except OSError as error:
        raise _broken() from error
    try:
        yield from _follow(process, limit_s)
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()


def _follow(process: subprocess.Popen[str], limit_s: float) -> Iterator[Trying]:
    lines: queue.Queue[str | None] = queue.Queue()
    if process.stdout is not None:
        threading.Thread(target=_listen, args=(process.stdout, lines), daemon=True).start()
    now, began = Trying(), time.monotonic()
    while not (now.is_over or now.is_late):
        try:
            line = lines.get(timeout=_EVERY_S)
        except queue.Empty:
            pass
        else:
            if line is None:
                raise _broken()
            told = json.loads(line)
            if "read" in told:
                began = time.monotonic()
            now = _heard(now, told)
        seconds = time.monotonic() - began
        most_s = READING_LIMIT_S if now.is_reading else limit_s
        now = replace(now, seconds=seconds, is_late=not now.is_over and seconds > most_s)
        yield now


def _listen(stdout: IO[str], lines: queue.Queue[str | None]) -> None:
    try:
        for line in stdout:
            lines.put(line)
    except ValueError:
        return  # it was closed: nobody waits any more
    lines.put(None)


def _heard(now: Trying, told: dict[str, Any]) -> Trying:
    """Take in a line.

    Raises:
        MusicgenError: It tells why the music cannot be used.
    """
    if "error" in told:
        error = told["error"]
        raise MusicgenError(error["message"], hint=error["hint"], code=error["code"])
    if "files" in told:
        done, total = told["files"]
        return replace(now, files_done=done, files=total)
    if "size" in told:
        return replace(now, found=(*now.found, Estimate(**told["size"])))
    return replace(now, is_reading=False, is_over="over" in told)


def _broken() -> TrainingError:
    return TrainingError(
        "The sizes could not be tried out on this computer.",
        hint="Choose a small one, or less music.",
    )
