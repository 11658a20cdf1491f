"""Large blocks of memory go back to the system as soon as they are freed."""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress
from typing import Final

_MMAP_THRESHOLD: Final = -3  # glibc's M_MMAP_THRESHOLD, see its `mallopt`
_LARGE_BYTES: Final = 1 << 20


def return_large_blocks() -> None:
    """Have the C library keep blocks of a megabyte and more apart, where it lets itself be told.

    glibc raises that size by itself, up to 32 MB, with every large block that is freed. From then
    on maps of attention lie in the heaps of the threads that computed them, and stay there: a
    server of twenty visitors grew by 400 MB that nobody held.
    """
    if sys.platform.startswith("linux"):
        with suppress(OSError, AttributeError):  # another C library knows no such thing
            ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE_BYTES)
