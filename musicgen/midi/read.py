"""Reading MIDI files: bytes in, a checked document out."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from symusic.core import ScoreTick

from musicgen import files
from musicgen.errors import MidiReadError
from musicgen.midi.document import MidiDocument, ReadLimits
from musicgen.midi.precheck import precheck
from musicgen.midi.refusals import refuse, too_much
from musicgen.midi.text import printable


def read_midi(
    source: str | Path | bytes, *, name: str | None = None, limits: ReadLimits = ReadLimits()
) -> MidiDocument:
    """Read one MIDI file.

    What can be repaired without guessing is repaired and said in the document's warnings.

    Args:
        source: A path, or the file's bytes.
        name: What to call it in messages; by default the path's last part.
        limits: What it may cost.

    Raises:
        MidiReadError: It cannot be opened, is no MIDI file, is damaged or goes past a limit.
        EmptyScoreError: It holds no note.
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        data = bytes(source)
    else:
        data = file_bytes(source, limits.max_bytes)
        name = name or os.path.basename(os.fspath(source))
    checked = precheck(data, limits)
    try:
        score = ScoreTick.from_midi(checked.view)
    except (RuntimeError, ValueError, OverflowError, IndexError) as error:
        raise refuse(
            "midi-corrupt", f"The MIDI file is corrupt: {printable(str(error))}."
        ) from error
    return MidiDocument(
        name=_plain_name(name or ""),
        score=score,
        data=checked.data,
        warnings=checked.warnings,
        source_sha256=hashlib.sha256(data).hexdigest(),
    )


def file_bytes(path: str | Path, max_bytes: int = ReadLimits().max_bytes) -> bytes:
    """Return a regular file's bytes; never more than one past the limit enters memory.

    Raises:
        MidiReadError: It cannot be read, is no ordinary file, or is larger.
        TypeError: It is no path. A number would be taken for an open file's.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(
            "a MIDI file is given as its path, as its bytes or as what read_midi returned, "
            f"not as {type(path).__name__}"
        )
    try:
        status = os.stat(path)  # before opening: a pipe would wait for a writer
        if stat.S_ISDIR(status.st_mode):
            raise _unreadable(path, "it is a folder", "Choose a .mid file in it.")
        if not stat.S_ISREG(status.st_mode):
            raise _unreadable(path, "it is no ordinary file", "Choose a .mid file.")
        if status.st_size > max_bytes:
            raise too_much("bytes", status.st_size, max_bytes)
        with open(path, "rb") as file:
            return file.read(max_bytes + 1)
    except FileNotFoundError as error:
        raise _unreadable(path, "there is no such file", "Check the path.") from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        hint = "Check the path and its permissions."
        raise _unreadable(path, files.reason(error), hint) from error


def _plain_name(name: str) -> str:
    """Return the last part of a name that may be a path of any system, fit to show."""
    last = name.replace("\\", "/").replace(":", "/").rsplit("/", 1)[-1]
    return printable(last) or "music.mid"


def _unreadable(path: str | Path, reason: str, hint: str) -> MidiReadError:
    return refuse(
        "midi-unreadable", f"The MIDI file {printable(str(path))!r} cannot be read: {reason}.", hint
    )
