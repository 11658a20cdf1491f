"""Memory that a training step frees is kept for the next step."""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3  # glibc's, see its `mallopt`
_SETTINGS = {
    _MMAP_THRESHOLD: 1 << 25,  # blocks below 32 MB, the most it takes, come from the heap
    _TRIM_THRESHOLD: (1 << 31) - 1,  # whose end is not given back
    _TOP_PAD: 1 << 26,  # and which grows 64 MB at a time
}


def keep_freed_blocks() -> None:
    """Have the C library keep what is freed, where it lets itself be told.

    Every step asks for the same hundreds of megabytes as the one before. What goes back to the
    system between them comes again page by page, each filled with zeros first: a twentieth of a
    small model's step (docs/lab_log.md).
    """
    if sys.platform.startswith("linux"):
        with suppress(OSError, AttributeError):  # another C library knows no such thing
            library = ctypes.CDLL(None)
            for setting, value in _SETTINGS.items():
                library.mallopt(setting, value)
