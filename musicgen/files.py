"""Names from outside, looked at in one place: what lies there, how it is written, and why not.

A user may give any text as a name. Where it is too long, holds a NUL or leads through a folder that
may not be entered, `Path.exists` and its kin raise; but nothing is there, and that is the answer.
"""

from __future__ import annotations

import errno
import os
import secrets
from pathlib import Path

_FULL = (errno.ENOSPC, errno.EDQUOT)


def is_there(path: str | Path) -> bool:
    """Whether a file, a folder or anything else lies there."""
    return os.path.exists(path)


def is_file(path: str | Path) -> bool:
    """Whether an ordinary file lies there."""
    return os.path.isfile(path)


def is_folder(path: str | Path) -> bool:
    """Whether a folder lies there."""
    return os.path.isdir(path)


def destination(path: str | Path) -> Path:
    """Return the file that writing to `path` writes: where a link leads, or `path` itself.

    Raises:
        OSError: A folder lies there, or what is no ordinary file (a pipe, a device): put a file
            in its place, and whatever reads from it waits for ever.
        ValueError: There is a NUL in the path.
    """
    if is_folder(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if is_there(path) and not is_file(path):
        raise OSError(errno.EINVAL, "it is no ordinary file")
    there = Path(os.path.realpath(path))
    if there.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))  # a link that leads to itself
    return there


def write_whole(path: str | Path, data: bytes) -> None:
    """Write so that `path`, or where it leads, holds either all of `data` or what it held before.

    Every file that somebody named is written here: beside its place, synced, then renamed.

    Raises:
        OSError: It cannot be written, or is no ordinary file; see `destination`.
        ValueError: There is a NUL in the path.
    """
    target = destination(path)
    # A name of its own: two may write the same file, and a long name has no room for an ending.
    beside = target.parent / f".musicgen-{secrets.token_hex(8)}.part"
    try:
        with open(beside, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)


def reason(error: OSError | ValueError) -> str:
    """Return why a file could not be used, as the end of a sentence, without its full stop."""
    told = error.strerror if isinstance(error, OSError) else None
    return (told or str(error)).rstrip(".")


def way_out(error: OSError | ValueError, otherwise: str) -> str:
    """Return the hint for a file that could not be written.

    Args:
        error: What the system said.
        otherwise: The hint where the disk has room.
    """
    is_full = isinstance(error, OSError) and error.errno in _FULL
    return "Free some space on that disk, or choose another one." if is_full else otherwise
