"""How many cores there are to compute with."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""Where Linux says how much of the processor a container may use: "max 100000", "50000 100000"."""


def usable_cores() -> int:
    """Return how many cores this process may use at once, 1 or more."""
    if hasattr(os, "sched_getaffinity"):
        n_cores = len(os.sched_getaffinity(0))
    else:
        n_cores = os.cpu_count() or 1
    with contextlib.suppress(OSError, ValueError):  # no Linux, no container, or no limit
        allowed_us, period_us = map(int, QUOTA.read_text(encoding="ascii").split())
        n_cores = min(n_cores, allowed_us // period_us)
    return max(1, n_cores)
