"""Playing in a process of its own, so that whoever waits for something else does not wait for it.

The synthesizer holds Python's lock for as long as it plays: a second or two for half a minute of
music. In a server's own process every page and every piece that is being made would stand still.
The process hears calls at its standard input, one after another, and ends where that is closed: it
never outlives who began it, however that ended. What passes between the two is pickled by
musicgen itself; nothing of it comes from outside.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, BinaryIO, Final, Literal, ParamSpec, TypeVar

from musicgen.audio.mp3 import mp3_bytes
from musicgen.audio.rendering import render
from musicgen.audio.sound import wav_bytes
from musicgen.errors import AudioError, MusicgenError

P = ParamSpec("P")
ResultT = TypeVar("ResultT")

SoundKind = Literal["wav", "mp3"]
_TRIES: Final = 2  # a process that was ended from outside is begun anew once
_GONE: Final = (EOFError, OSError, pickle.UnpicklingError)


@dataclass(frozen=True, slots=True, kw_only=True)
class SoundFile:
    """A piece's sound as a file.

    Attributes:
        data: Its bytes.
        gain: What the synthesizer's own samples were multiplied with.
        warnings: What was replaced, cut off or had to be made otherwise, in sentences.
    """

    data: bytes
    gain: float
    warnings: tuple[str, ...]


def sound_file(
    midi: bytes,
    kind: SoundKind,
    *,
    muted: Collection[int] = (),
    most_gain: float | None = None,
) -> SoundFile:
    """Play a MIDI file into a sound file.

    Args:
        midi: The MIDI file.
        kind: Of file.
        muted: As for `render`, like `most_gain`.
        most_gain: The loudest that it may be made.

    Raises:
        MidiReadError: The bytes are no music.
        AudioError: Every synthesizer failed, or the encoder did.
    """
    sound = render(midi, muted=muted, most_gain=most_gain)
    data = wav_bytes(sound) if kind == "wav" else mp3_bytes(sound)
    return SoundFile(data=data, gain=sound.gain, warnings=sound.warnings)


class Aside:
    """A process beside this one that does calls for it, one at a time; for use by many threads.

    It is begun at the first call.

    Args:
        niceness: By how much it is less urgent than this process, where the system knows that.
    """

    def __init__(self, *, niceness: int = 0) -> None:
        self._niceness = niceness
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._end_process: weakref.finalize[..., Aside] | None = None  # also if nobody closes us
        self._closed = False

    def call(self, work: Callable[P, ResultT], /, *args: P.args, **options: P.kwargs) -> ResultT:
        """Return what a function returns there.

        Args:
            work: A function of an importable module.
            args: Its arguments, which pickle can carry, as its result.
            options: Its keyword arguments.

        Raises:
            MusicgenError, ValueError, TypeError: As the function says.
            AudioError: The process cannot be begun, was ended twice, or the function broke.
        """
        request = pickle.dumps((work, args, options))
        with self._lock:
            for _ in range(_TRIES):
                answer = self._ask(request)
                if answer is not None:
                    break
            else:
                raise AudioError(
                    "The process that plays music was ended from outside.",
                    hint="Perhaps the memory was full: close other programs, then try again.",
                )
        is_done, result = answer
        if not is_done:
            raise result
        return result

    def close(self) -> None:
        """End the process; later calls fail."""
        self._closed = True
        process = self._process
        if process is not None:
            process.kill()  # a call under way learns of it, and lets go of the lock
        with self._lock:
            self._end()

    def _ask(self, request: bytes) -> tuple[bool, Any] | None:
        """Return whether it was done and what came of it; None where the process is gone."""
        if self._closed:
            raise AudioError("The studio is closing; nothing is played any more.")
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = _begin(self._niceness)
            self._end_process = weakref.finalize(self, _end, self._process)
        hears, tells = self._process.stdin, self._process.stdout
        if hears is None or tells is None:
            raise AudioError("The process that plays music cannot be spoken with.")
        try:
            hears.write(request)
            hears.flush()
            return pickle.load(tells)  # noqa: S301  said by our own process
        except _GONE:
            self._end()
            return None

    def _end(self) -> None:
        self._process = None
        if self._end_process is not None:
            self._end_process()


def _begin(niceness: int) -> subprocess.Popen[bytes]:
    program = f"from musicgen.audio.aside import main; main(niceness={int(niceness)})"
    try:
        return subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
    except OSError as error:
        raise AudioError(
            f"The process that plays music could not be begun: {error.strerror}.",
            hint="Close other programs, then try again.",
        ) from error


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):  # what is left to say concerns nobody any more
                pipe.close()
    process.wait()


def main(*, niceness: int) -> None:
    """Do what is asked at the standard input until that is closed."""
    if niceness and hasattr(os, "nice"):
        os.nice(niceness)
    # A terminal sends Ctrl-C to all its processes; this one ends with the one that began it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tells = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library that prints must not speak in between
    with suppress(BrokenPipeError):  # who asked is gone, and so nobody hears the answer
        serve(sys.stdin.buffer, tells)
    os._exit(0)  # what could not be said must not be tried again while Python ends


def serve(hears: BinaryIO, tells: BinaryIO) -> None:
    """Answer calls until there are no more.

    Args:
        hears: Pickled calls.
        tells: For each whether it was done, and its result or error.
    """
    while True:
        try:
            work, args, options = pickle.load(hears)  # noqa: S301  said by who began us
        except EOFError:
            return
        try:
            answer = (True, work(*args, **options))
        except (MusicgenError, ValueError, TypeError) as error:  # to whom it may concern
            answer = (False, error)
        except Exception as error:  # noqa: BLE001  whatever broke is told to who asked
            answer = (False, AudioError(f"Playing broke: {type(error).__name__}: {error}."))
        pickle.dump(answer, tells)
        tells.flush()
