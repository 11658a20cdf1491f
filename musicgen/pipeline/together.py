"""Several takes at once: a thread a core makes its takes by turns, and reads their events together.

On a GPU each take has a thread of its own, and the engine brings them together. The engines let go
of Python's lock while they compute, so threads suffice. A take depends on its seed alone: those
that are made together are those that are made one by one.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress

from musicgen.engine.cores import usable_cores
from musicgen.pipeline.making import Progress, TakeStream
from musicgen.pipeline.take import Take
from musicgen.pipeline.turns import Turns

Told = tuple[int, "Progress | Take"]


def make_together(
    streams: Sequence[TakeStream], *, workers: int | None = None
) -> Generator[Told, None, None]:
    """Run takes of one engine side by side.

    Closing the generator ends all that are not done, each at its next step.

    Args:
        streams: The takes; each begins when there is room for it, in this order.
        workers: How many threads make them; None for as many as suit their engine.

    Yields:
        The number of a take in `streams`, and its progress, or, once, the take itself. A reader
        who is slow is told of progress less often.

    Raises:
        ValueError: There is less than one worker.
        MusicgenError: What one of them raised; the others end.
    """
    engine = next((stream.engine for stream in streams), None)
    if workers is None:
        workers = (engine.takes_at_once if engine else None) or usable_cores()
    n_threads = max(1, min(workers, len(streams)))
    most = min(engine.takes_a_thread if engine else 1, -(-len(streams) // n_threads))
    told: queue.SimpleQueue[Told | Future[None]] = queue.SimpleQueue()
    stopped = threading.Event()
    waiting = deque(enumerate(streams))

    def work() -> None:
        with closing(Turns[int]()) as turns:
            while not stopped.is_set():
                with suppress(IndexError):  # another thread may have taken the last one
                    while len(turns) < most:
                        turns.add(*waiting.popleft())
                if not len(turns):
                    return
                for number, made in turns.play():
                    if isinstance(made, Exception):
                        raise made
                    if isinstance(made, Take) or told.qsize() < 2 * n_threads * most:
                        told.put((number, made))

    with ThreadPoolExecutor(workers, thread_name_prefix="take") as pool:
        try:
            for _ in range(n_threads):
                pool.submit(work).add_done_callback(told.put)
            n_ended = 0
            while n_ended < n_threads:
                what = told.get()
                if isinstance(what, Future):
                    what.result()
                    n_ended += 1
                else:
                    yield what
        finally:
            stopped.set()
            pool.shutdown(cancel_futures=True)
