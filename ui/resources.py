"""What all visitors share: one model, one queue, one shelf. Nothing here calls Streamlit.

The server's routes and the worker run outside any visitor's script, so this is a plain cached
object of the process and not `st.cache_resource`.
"""

from __future__ import annotations

import functools
import os
import tempfile
import threading
import time
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from musicgen.assets import asset_dir
from musicgen.errors import MusicgenError
from musicgen.ui.gaze import Gaze
from musicgen.ui.jobs import Job, Order
from musicgen.ui.pieces import Piece, examples
from musicgen.ui.shelf import Shelf
from musicgen.ui.state import Desk, Desks
from musicgen.ui.workshop import Workshop

if TYPE_CHECKING:
    from musicgen.pipeline import MusicPipeline

MODEL_VARIABLE = "MUSICGEN_MODEL"
_JOBS = 256
_REHEARSAL_S = 1.0
_BREATH_S = 1.0
_GAZES = 3  # attention of this many pieces stays in memory: tens of megabytes each


class Studio:
    """The one model, the queue in front of it, and everything that was made.

    Args:
        model: Name or folder of the model.
    """

    def __init__(self, model: str = "piano") -> None:
        self.model = model
        self._folder = tempfile.TemporaryDirectory(prefix="musicgen-", ignore_cleanup_errors=True)
        self.shelf = Shelf(Path(self._folder.name))
        self.desks = Desks(self.shelf)
        self.workshop = Workshop(self._compose)
        self.examples = tuple(
            self.shelf.put(piece) for piece in examples(asset_dir("ui") / "examples")
        )
        self._pipeline: MusicPipeline | None = None
        self._loading = threading.Lock()
        self._looking = threading.Lock()
        self._counting = threading.Lock()
        self._warming = False
        self.closing = False  # the server was asked to end: nothing is to be waited for any more
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._gazes: OrderedDict[tuple[str, int], Gaze] = OrderedDict()

    def pipeline(self) -> MusicPipeline:
        """Return the model, loaded once however many ask at the same time.

        Raises:
            CheckpointError: There is no such model, or it is damaged.
        """
        with self._loading:
            if self._pipeline is None:
                from musicgen.pipeline import MusicPipeline

                self._pipeline = MusicPipeline.load(self.model, threads=1)
            return self._pipeline

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
            _rehearse(pipeline)
            self._render_examples()
        except MusicgenError:
            return  # said when the model is used

    def _render_examples(self) -> None:
        """Make the examples' sound while nothing else is wanted, so that a click is heard at once.

        Raises:
            AudioError: The synthesizers failed.
        """
        for piece in self.examples:
            time.sleep(_BREATH_S)  # the synthesizer lets nothing else of the process run
            with self._counting:
                is_wanted = self.closing or any(job.active for job in self._jobs.values())
            if is_wanted:
                return
            self.shelf.sound(piece.id, "wav")

    def look(self, piece: Piece, note: int) -> dict[str, Any] | None:
        """Return where the heads look about a note, and where their maps are; None if unseen.

        Raises:
            MusicgenError: The model cannot be loaded, or cannot read the piece.
        """
        page = self.gaze(piece).page_of(note)
        found = self.gaze(piece, page).look(note)
        return None if found is None else {**found, "maps": f"attention/{piece.id}/{page}"}

    def gaze(self, piece: Piece, page: int = 0) -> Gaze:
        """Return a piece's attention, or of a page of a long one; the last few stay in memory.

        Raises:
            MusicgenError: The model cannot be loaded, or cannot read the piece.
        """
        end = self.gaze(piece).page_end(page) if page else None
        key = (piece.id, page if end is not None else 0)
        with self._looking:
            found = self._gazes.get(key)
            if found is None:
                source = piece.midi if piece.take is None else piece.take
                until_s = None if end is None else float(piece.preview.notes.onset_s[end])
                found = Gaze.of(self.pipeline().attention(source, until_s), piece)
                self._gazes[key] = found
                while len(self._gazes) > _GAZES:
                    self._gazes.popitem(last=False)
            self._gazes.move_to_end(key)
            return found

    def close(self) -> None:
        """Remove what lies on the disk."""
        self._folder.cleanup()

    def submit(self, desk: Desk, order: Order) -> Job:
        """Begin to make music for a visitor."""
        job = Job(order, keep=desk.keep)
        with self._counting:
            self._jobs[job.id] = job
            while len(self._jobs) > _JOBS:
                self._jobs.popitem(last=False)
        desk.job = self.workshop.submit(job)
        return job

    def making(self, name: str) -> Job | None:
        """Return the job of that name, also when it is done."""
        with self._counting:
            return self._jobs.get(name)

    def _compose(self, job: Job) -> None:
        from musicgen.pipeline import Take

        job.state = "loading"
        pipeline = self.pipeline()
        job.state = "preparing"
        pipeline.prepare()
        job.state = "reading"
        order = job.order
        stream = pipeline.stream(
            None if order.upload is None else order.upload.midi,
            prompt_seconds=order.prompt_seconds,
            **order.sampling(),
        )
        take = None
        for made in stream:
            if isinstance(made, Take):
                take = made
            else:
                job.advance(made)
                if job.stopping:
                    take = stream.finish()
                    break
        job.finish(take)


def _rehearse(pipeline: MusicPipeline) -> None:
    """Make and play a moment of music: what is needed for that is read from the disk once."""
    from musicgen.audio import BLOCK, render_passage

    take = pipeline.generate(seconds=_REHEARSAL_S, seed=0)
    render_passage(take.midi, begin=0, length=BLOCK, is_whole=True)


@functools.cache
def studio() -> Studio:
    """Return this process's studio; its model is named by the variable MUSICGEN_MODEL."""
    return Studio(os.environ.get(MODEL_VARIABLE) or "piano")
