"""Compiled code shared out to threads: torch's own, those of OpenMP, wherever they can be had.

Between two of torch's products they are awake on their cores and take a share within 0.05 ms; a
thread of ours has to push them away first, which takes half a millisecond, and a training step asks
for some twenty (docs/lab_log.md).
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import TypeVar

import torch

Part = TypeVar("Part")
_Work = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_IMPORTED_BY = os.getpid()


def on_all_cores(do: Callable[[Part], None], parts: Sequence[Part]) -> None:
    """Do all parts of some work, each when one of as many threads as torch has is free.

    Args:
        do: Does a part; its compiled code lets other threads run.
        parts: What there is to do, in the order in which it is begun.
    """
    n_threads = min(torch.get_num_threads(), len(parts))
    # OpenMP's threads are not copied with a process, which would wait for them for ever.
    share_out = _openmp() if os.getpid() == _IMPORTED_BY else None
    if n_threads < 2 or share_out is None:
        _on_own_threads(do, iter(parts), n_threads)
        return
    waiting, failures = iter(parts), []

    def work(_: object) -> None:
        try:
            for part in waiting:
                do(part)
        # It is raised again below; here it would fall into code that is not Python's.
        except BaseException as failure:  # noqa: BLE001
            failures.append(failure)

    share_out(_Work(work), None, n_threads, 0)
    if failures:
        raise failures[0]


@functools.cache
def _openmp() -> Callable[..., None] | None:
    """Return what runs a function on OpenMP's threads, or None where that is not known.

    GNU's library has it, torch's on Linux, and LLVM's and Intel's have it for its sake.
    """
    if sys.platform != "linux":
        return None
    try:  # looked for in torch's library and in those that it needs
        library = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"))
        share_out = library.GOMP_parallel
    except (OSError, AttributeError):
        return None
    share_out.argtypes = [_Work, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint]
    share_out.restype = None
    return share_out


def _on_own_threads(do: Callable[[Part], None], waiting: Iterator[Part], n_threads: int) -> None:
    """Do the same with threads that are kept."""

    def work() -> None:
        for part in waiting:
            do(part)

    others = [_worker(n).submit(work) for n in range(n_threads - 1)]
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
