"""Names from outside, looked at in one place: what lies there, and why it could not be written.

A user may give any text as a name. Where it is too long, holds a NUL or leads through a folder that
may not be entered, `Path.exists` and its kin raise; but nothing is there, and that is the answer.
"""

from __future__ import annotations

import errno
import os
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
