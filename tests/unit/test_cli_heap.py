"""A training step must not fetch its memory from the system each time anew."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

_FAULTS = """
import resource, sys
if sys.argv[1] == "kept":
    from musicgen.cli.heap import keep_freed_blocks
    keep_freed_blocks()
def use():
    blocks = [bytearray(8 << 20) for _ in range(8)]
    for block in blocks:
        block[::4096] = b"x" * len(block[::4096])
use()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    use()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def _faults(way: str) -> int:
    """Return how often pages came from the system while memory was freed and asked for again."""
    done = subprocess.run(
        [sys.executable, "-c", _FAULTS, way], capture_output=True, text=True, check=True
    )
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc's settings")
def test_freed_blocks_are_kept_for_the_next_step() -> None:
    """Guards a step whose hundreds of megabytes come from the system page by page."""
    assert _faults("kept") < 0.1 * _faults("as it is")
