"""Threads for compiled code, which are kept: a training step asks for them some twenty times.

A thread that is begun waits behind those that run, OpenMP's that look for work among them, a third
of a millisecond here; one that is woken comes after half of that (docs/lab_log.md).
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

import torch

Part = TypeVar("Part")


def on_all_cores(do: Callable[[Part], None], parts: Sequence[Part]) -> None:
    """Do all parts of some work, each when one of as many threads as torch has is free.

    Args:
        do: Does a part; its compiled code lets other threads run.
        parts: What there is to do, in the order in which it is begun.
    """
    waiting = iter(parts)

    def work() -> None:
        for part in waiting:
            do(part)

    n_others = min(torch.get_num_threads(), len(parts)) - 1
    others = [_worker(n).submit(work) for n in range(n_others)]
    try:
        work()
    finally:  # whatever happened here, nobody writes any longer to what the caller frees
        wait(others)
    for other in others:
        other.result()


@functools.cache
def _worker(n: int) -> ThreadPoolExecutor:
    """Return thread number `n` of this process, which others may ask at the same time."""
    return ThreadPoolExecutor(1, thread_name_prefix=f"musicgen-engine-{n}")


if hasattr(os, "register_at_fork"):  # a process that is copied has no thread but one
    os.register_at_fork(after_in_child=_worker.cache_clear)
