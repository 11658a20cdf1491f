"""What all visitors share: one model, one queue, one shelf. Nothing here calls Streamlit.

The server's routes and the worker run outside any visitor's script, so this is a plain cached
object of the process and not `st.cache_resource`.
"""

from __future__ import annotations

import functools
import gc
import os
import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from musicgen.assets import asset_dir
from musicgen.audio import BLOCK, Aside, Passage, render_passage, sound_file
from musicgen.errors import MusicgenError
from musicgen.studio.places import takes_folder
from musicgen.studio.take_store import TakeStore
from musicgen.ui import urgency
from musicgen.ui.cards import Cards
from musicgen.ui.jobs import Job
from musicgen.ui.looking import Looking
from musicgen.ui.one_each import OneEach
from musicgen.ui.order import Order
from musicgen.ui.pieces import examples
from musicgen.ui.shelf import Shelf
from musicgen.ui.sound_folder import SoundFolder
from musicgen.ui.state import Desk, Desks
from musicgen.ui.training import TrainingRoom
from musicgen.ui.workshop import Workshop

if TYPE_CHECKING:
    from musicgen.pipeline import MusicPipeline, TakeStream

MODEL_VARIABLE = "MUSICGEN_MODEL"
_JOBS = 32  # so many that are done are remembered, for the pages that watched them
_REHEARSAL_S = 1.0
_BREATH_S = 1.0
_MODELS = 3  # so many stay in memory: tens of megabytes each


class Studio:
    """The one model, the queue in front of it, and everything that was made.

    Args:
        model: Name or folder of the model.
    """

    def __init__(self, model: str = "piano") -> None:
        self.model = model
        self._folder = SoundFolder()
        self._plays = Aside(niceness=urgency.MAKING)
        self._plays_live = Aside()  # who listens to a piece being made waits for no whole one
        # So many requests at once may wait for sound, of the forty that the server works on.
        self.for_sound, self.for_passages = OneEach(6), OneEach(12)
        self.for_looks = OneEach(64)  # these take no thread of the server's
        self.shelf = Shelf(self._folder.path, functools.partial(self._plays.call, sound_file))
        self.takes = TakeStore(takes_folder())
        self.desks = Desks(self.shelf, self.takes)
        self.workshop = Workshop(self._begin)
        self.examples = tuple(
            self.shelf.put(piece) for piece in examples(asset_dir("ui") / "examples")
        )
        self.cards = Cards(self.pipeline)
        self.looking = Looking(self.pipeline)
        self.training = TrainingRoom(self.shelf)
        self._pipelines: OrderedDict[tuple[str, float], MusicPipeline] = OrderedDict()
        self._loading = threading.Lock()
        self._counting = threading.Lock()
        self._warming = False
        self.closing = False  # the server was asked to end: nothing is to be waited for any more
        self._jobs: OrderedDict[str, Job] = OrderedDict()

    def pipeline(self, model: str | None = None) -> MusicPipeline:
        """Return a model, loaded once however many ask at the same time; the last ones stay.

        Args:
            model: Folder of one that was trained here; None for the studio's own.

        Raises:
            CheckpointError: There is no such model, or it is damaged.
        """
        written_s = 0.0 if model is None else self.training.written_s(model)
        key = (model or self.model, written_s)
        with self._loading:
            found = self._pipelines.get(key)
            if found is None:
                from musicgen.pipeline import MusicPipeline

                found = self._pipelines[key] = MusicPipeline.load(key[0], threads=1)
                while len(self._pipelines) > _MODELS:
                    self._pipelines.popitem(last=False)
            self._pipelines.move_to_end(key)
            return found

    def warm_up(self) -> None:
        """Begin to load the model, in the background and once however often it is asked for."""
        with self._counting:
            begun, self._warming = self._warming, True
        if not begun:
            threading.Thread(
                target=self._load_quietly, name="musicgen-loading", daemon=True
            ).start()

    def _load_quietly(self) -> None:
        try:
            pipeline = self.pipeline()
            pipeline.prepare()  # the engine's code is loaded or compiled
            self._rehearse(pipeline)
            _keep_for_good()
            self._render_examples()
        except MusicgenError:
            return  # said when the model is used

    def _rehearse(self, pipeline: MusicPipeline) -> None:
        """Make and play a moment of music: what is needed for that is read from the disk once."""
        take = pipeline.generate(seconds=_REHEARSAL_S, seed=0)
        self.play_passage(take.midi, begin=0, length=BLOCK, is_whole=True)

    def play_passage(self, midi: bytes, *, begin: int, length: int, is_whole: bool) -> Passage:
        """Play a passage, as `render_passage` does, while nothing else stands still."""
        return self._plays_live.call(
            render_passage, midi, begin=begin, length=length, is_whole=is_whole
        )

    def _render_examples(self) -> None:
        """Make the examples' sound while nothing else is wanted, so that a click is heard at once.

        Raises:
            AudioError: The synthesizers failed.
        """
        for piece in self.examples:
            time.sleep(_BREATH_S)  # whoever comes meanwhile is served first
            with self._counting:
                is_wanted = self.closing or any(job.active for job in self._jobs.values())
            if is_wanted:
                return
            self.shelf.sound(piece.id, "wav")

    def close(self) -> None:
        """End the processes that play, and remove what lies on the disk."""
        self._plays.close()
        self._plays_live.close()
        self._folder.close()

    def submit(self, desk: Desk, *orders: Order) -> Job:
        """Begin to make music for a visitor, and return the first job of it."""
        jobs = [
            Job(order, keep=functools.partial(desk.keep, order=order), visitor=desk)
            for order in orders
        ]
        with self._counting:
            self._jobs.update({job.id: job for job in jobs})
            done = [name for name, job in self._jobs.items() if not job.active]
            for name in done[: max(0, len(done) - _JOBS)]:
                del self._jobs[name]
        for job in jobs:
            desk.begin(self.workshop.submit(job))
        return jobs[0]

    def stop(self, desk: Desk) -> None:
        """Stop all that is being made for a visitor, and keep what there is."""
        for job in desk.jobs:
            job.stop()
            if self.workshop.withdraw(job):
                job.finish(None)

    def standing(self, job: Job) -> tuple[int, float | None]:
        """Return a job's place in the queue, and how long it will wait if that is known."""
        return self.workshop.place(job), self.workshop.wait_s(job)

    def making(self, name: str) -> Job | None:
        """Return the job of that name, also when it is done."""
        with self._counting:
            return self._jobs.get(name)

    def _begin(self, job: Job) -> TakeStream:
        """Return the music in making, with its model and its engine ready."""
        order = job.order
        job.state = "loading"
        pipeline = self.pipeline(order.model)
        if order.recipe is not None or order.seed is not None:
            job.state = "preparing"
            pipeline.prepare()
        job.state = "reading"
        source = None if order.upload is None else order.upload.document()
        if order.recipe is not None:
            return pipeline.stream_again(order.recipe, source)
        return pipeline.stream(
            source, prompt_seconds=order.prompt_seconds, at_once=True, **order.sampling()
        )


def _keep_for_good() -> None:
    """Let Python's collector pass by all that there is now: it stays as long as the process.

    Streamlit collects at the end of every run of a page, and with a model, torch and compiled code
    in memory that took a third of a second in which nothing else went on: of twenty visitors' time
    nine tenths (a sampling profile of who holds Python's lock).
    """
    gc.collect()
    gc.freeze()


@functools.cache
def studio() -> Studio:
    """Return this process's studio; its model is named by the variable MUSICGEN_MODEL."""
    return Studio(os.environ.get(MODEL_VARIABLE) or "piano")
