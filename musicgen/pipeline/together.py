"""Several takes at once: one a core, or on a GPU as many as share a step.

The engines let go of Python's lock while they compute, so threads suffice. A take depends on its
seed alone: those that are made together are those that are made one by one.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from musicgen.pipeline.making import Progress, TakeStream
from musicgen.pipeline.take import Take


def usable_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def make_together(
    streams: Sequence[TakeStream], *, workers: int | None = None
) -> Generator[tuple[int, Progress | Take], None, None]:
    """Run takes side by side.

    Closing the generator ends all that are not done, each at its next step.

    Args:
        streams: The takes; each begins when a worker is free, in this order.
        workers: How many are made at a time; None for as many as suits their engine.

    Yields:
        The number of a take in `streams`, and its progress, or, once, the take itself. A reader
        who is slow is told of progress less often.

    Raises:
        ValueError: There is less than one worker.
        MusicgenError: What one of them raised; the others end.
    """
    if workers is None:
        workers = next((stream.at_once for stream in streams), None) or usable_cores()
    told: queue.SimpleQueue[tuple[int, Progress | Take] | Future[None]] = queue.SimpleQueue()
    stopped = threading.Event()

    def make(number: int, stream: TakeStream) -> None:
        for made in stream:
            if stopped.is_set():
                stream.close()
                return
            if isinstance(made, Take) or told.qsize() < 2 * workers:
                told.put((number, made))

    with ThreadPoolExecutor(workers, thread_name_prefix="take") as pool:
        try:
            for number, stream in enumerate(streams):
                pool.submit(make, number, stream).add_done_callback(told.put)
            n_ended = 0
            while n_ended < len(streams):
                what = told.get()
                if isinstance(what, Future):
                    what.result()
                    n_ended += 1
                else:
                    yield what
        finally:
            stopped.set()
            pool.shutdown(cancel_futures=True)
