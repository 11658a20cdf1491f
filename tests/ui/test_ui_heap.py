"""Memory that nobody holds goes back to the system."""

from __future__ import annotations

import subprocess
import sys

import pytest

LIES_APART = """
import ctypes, sys
import numpy as np
from musicgen.ui.heap import return_large_blocks

class Told(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
        "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]

tell = getattr(ctypes.CDLL(None), "mallinfo2", None)
if tell is None:
    sys.exit(77)
tell.restype = Told
if "told" in sys.argv:
    return_large_blocks()
large = np.ones(30 << 20, np.uint8)
del large  # from now on the library would keep blocks of that size in its heap
before = tell().hblkhd
block = np.ones(8 << 20, np.uint8)
print(tell().hblkhd - before >= block.nbytes)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="another C library")
def test_a_large_block_lies_apart_even_after_a_larger_one():
    """Guards a server that grew by 400 MB of attention that nobody looked at any more."""
    answers = []
    for argument in ("told", "as it comes"):
        process = subprocess.run(
            [sys.executable, "-c", LIES_APART, argument], capture_output=True, text=True
        )
        if process.returncode == 77:
            pytest.skip("a C library that does not tell of its blocks")
        answers.append(process.stdout.strip())
    assert answers == ["True", "False"], "the second shows that the first is not so by itself"
