"""Work on many files over the machine's cores, in order, with bounded memory."""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from types import ModuleType
from typing import TypeVar

from musicgen.errors import CorpusError

_AHEAD = 4
"""Tasks a process that are handed out before the first result is taken: results wait in memory."""

TaskT = TypeVar("TaskT")
ResultT = TypeVar("ResultT")


def cores() -> int:
    """Return the number of processes that work at once."""
    return os.cpu_count() or 1


def in_processes(
    work: Callable[[TaskT], list[ResultT]], tasks: Iterable[TaskT], n_workers: int
) -> Iterator[ResultT]:
    """Yield the results of tasks in their order, made by several processes.

    Args:
        work: Makes results of a task. A function of an importable module, as processes never run
            the caller's script; it and the tasks must be picklable.
        tasks: What there is to do.
        n_workers: Processes.

    Raises:
        CorpusError: A process ended before its work was done.
    """
    done = 0
    waiting: deque[Future[list[ResultT]]] = deque()
    remaining = iter(tasks)
    pool = _workers(n_workers)
    try:
        while True:
            with _ctrl_c_held_back(), _no_script():  # handing out tasks starts the processes
                for task in remaining:
                    waiting.append(pool.submit(work, task))
                    if len(waiting) >= _AHEAD * n_workers:
                        break
            if not waiting:
                return
            for result in waiting.popleft().result():
                done += 1
                yield result
    except BrokenProcessPool as error:
        raise _broken(done) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _workers(n_workers: int) -> ProcessPoolExecutor:
    # "spawn" works alike on every platform and never forks a process that runs threads.
    return ProcessPoolExecutor(
        n_workers, mp_context=get_context("spawn"), initializer=_ignore_ctrl_c
    )


@contextmanager
def _no_script() -> Iterator[None]:
    """Start processes that do not run the caller's script anew.

    A process that is spawned first runs the file of `__main__`: a script of one's own without a
    guard would begin again in each, and where Streamlit runs, that file is a page of the app.
    Nothing here needs it. Whoever names another `__main__` meanwhile is left alone.
    """
    before, none = sys.modules["__main__"], ModuleType("__main__")
    sys.modules["__main__"] = none
    try:
        yield
    finally:
        if sys.modules["__main__"] is none:
            sys.modules["__main__"] = before


@contextmanager
def _ctrl_c_held_back() -> Iterator[None]:
    """Start processes that never hear of Ctrl-C: who started them ends them.

    A terminal sends it to all of them, also to one that is still importing, and each would print a
    traceback. A process keeps the signal mask it was born with; here Ctrl-C only waits. Windows
    has no masks: there `_ignore_ctrl_c` serves from the end of the imports on.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _ignore_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _broken(done: int) -> CorpusError:
    return CorpusError(
        f"A process that reads files was ended from outside, after {done:,} files.",
        hint="Perhaps the memory was full: close other programs, then try again.",
    )
