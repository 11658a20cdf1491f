"""Compiled just now or kept from before: the same numbers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CHILD = """
import hashlib
from musicgen.checkpoint import load_checkpoint
from musicgen.engine import make_engine

steps = make_engine(load_checkpoint("piano").decoder, "numba-float32").begin()
seen = hashlib.sha256()
for i in range(80):
    steps.append((3 + i % 7, 50 + i % 9, 20, 20 + i % 5))
    seen.update(steps.logits(0, ()).tobytes())
print(seen.hexdigest())
"""


def test_what_was_just_compiled_computes_what_the_cache_gives(tmp_path: Path) -> None:
    """Guards the first run after an install, whose take no later run could make again.

    Functions that were called and not put inline rounded differently from 32 positions on.
    """
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    seen = [
        subprocess.run(
            [sys.executable, "-c", CHILD],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        ).stdout
        for _ in range(2)
    ]
    assert list(tmp_path.rglob("*.nbc"))
    assert seen[0] == seen[1]
