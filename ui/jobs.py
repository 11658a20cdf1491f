"""Making music away from the page: jobs that any page may look at.

The worker (`workshop.py`) never calls Streamlit. A page that is closed, drawn anew or whose sliders
are moved does not touch a job. It looks at it over an address of our own and not by a Streamlit
fragment that runs again and again: on a busy machine such runs cross the page's own, whose end
Streamlit then drops (its issue 9921), and the page stands still for good.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from musicgen.errors import MusicgenError
from musicgen.ui import strings
from musicgen.ui.order import Order
from musicgen.ui.parts import part_names
from musicgen.ui.pieces import EMPTY, Piece, columns, new_id

if TYPE_CHECKING:
    from musicgen.pipeline import Progress, Take

State = Literal["queued", "loading", "preparing", "reading", "running", "done", "failed"]
"""Preparing: the engine's code is loaded, or compiled. Reading: the model reads the prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What can be heard of a piece by now.

    Attributes:
        until_s: So far it sounds as it will in the end.
        midi: Returns a file that holds all that is heard.
        is_whole: Whether there is no more to come.
    """

    until_s: float
    midi: Callable[[], bytes]
    is_whole: bool


class Job:
    """One order under way.

    Args:
        order: What was asked for.
        keep: Lays a finished take on its visitor's desk, under the job's name, with its model.
        visitor: Who waits for it: the queue serves them by turns.
    """

    def __init__(
        self,
        order: Order,
        *,
        keep: Callable[[Take, str, str | None], Piece],
        visitor: Hashable = None,
    ) -> None:
        self.id = new_id()
        self.order = order
        self.keep = keep
        self.visitor = visitor
        self._state: State = "queued"
        self._since_s = time.monotonic()
        self.piece: Piece | None = None
        self.error: MusicgenError | None = None
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._progress: Progress | None = None
        self._shown: tuple[int, dict[str, list[int]]] = (0, EMPTY)

    @property
    def state(self) -> State:
        """What is being done for it."""
        return self._state

    @state.setter
    def state(self, state: State) -> None:
        self._state, self._since_s = state, time.monotonic()

    @property
    def active(self) -> bool:
        """Whether there is still something to wait for."""
        return self.state not in ("done", "failed")

    @property
    def stopping(self) -> bool:
        """Whether the visitor asked to stop and keep what is there."""
        return self._stop.is_set()

    @property
    def left_s(self) -> float:
        """How much of the music is still to be made, in seconds of music."""
        with self._lock:
            progress = self._progress
        made_s = 0.0 if progress is None else progress.seconds_made
        return max(0.0, self.order.seconds - made_s)

    def stop(self) -> None:
        """Ask the worker to stop at the next event and keep what was made."""
        self._stop.set()

    def advance(self, progress: Progress) -> None:
        """Take in what the pipeline has just made."""
        with self._lock:
            if self.state != "running":
                self.state = "running"
            # The file of a take without its prompt begins at the cut; what is on its way does not.
            if not (self.order.recipe and self.order.recipe.only_new):
                self._progress = progress

    def finish(self, take: Take | None) -> None:
        """The music is there; or nothing, if it was stopped before its first note."""
        self.piece = None if take is None else self.keep(take, self.id, self.order.model)
        self.state = "done"
        with self._lock:
            self._progress = None

    def fail(self, error: MusicgenError) -> None:
        """There is no music, and this is why."""
        self.error = error
        self.state = "failed"

    def on_roll(
        self, place: int = 0, wait_s: float | None = None, before: str | None = None
    ) -> dict[str, Any]:
        """Return what the roll shows at first: the visitor's part, and where to ask for more.

        Args:
            place: Its place in the queue; 0 if it waits no more.
            wait_s: How long it will wait yet, if that is known.
            before: What the take is called that the music began with, where that was no file.
        """
        prompt, start_s = self.order.prompt, self._start_s
        base = {"notes": EMPTY, "pedals": []} if prompt is None else prompt.on_roll()
        new_track = 1 + max(base["notes"]["track"], default=-1)
        tracks = () if prompt is None else prompt.preview.tracks
        return {
            **base,
            "tracks": part_names(tracks, new_track=new_track, before=before),
            "id": self.id,
            "kind": "take",
            "title": strings.ROLL["composing"],
            "seconds": round(start_s + self.order.seconds, 3),
            "promptEnd": round(start_s, 3),
            "newTrack": new_track,
            "audio": None,
            "maps": None,
            "live": {
                **self.so_far(place, wait_s),
                "ask": f"making/{self.id}",
                "sound": f"making/{self.id}/sound",
            },
        }

    def so_far(self, place: int = 0, wait_s: float | None = None) -> dict[str, Any]:
        """Return how far it has come, with all new notes that will stay: they only become more.

        Args:
            place: Its place in the queue; 0 if it waits no more.
            wait_s: How long it will wait yet, if that is known.
        """
        with self._lock:
            progress = self._progress
        piece, until_s = self.piece, self._start_s
        if piece is not None:
            until_s = piece.preview.end_s
        elif progress is not None:
            until_s = progress.settled_s
        return {
            "state": self.state,
            "since": int(time.monotonic() - self._since_s),
            "place": place,
            "wait": None if wait_s is None else max(1, round(wait_s)),
            "made": round(until_s - self._start_s, 1),
            "wanted": round(self.order.seconds, 1),
            "ending": progress is not None and progress.tries_endings,
            "notes": self._notes(progress),
        }

    def heard(self) -> Heard | None:
        """Return what of it can be heard by now; None before the model is at work."""
        with self._lock:
            progress = self._progress
        prompt, piece = self.order.prompt, self.piece
        if piece is not None:
            return Heard(until_s=piece.preview.end_s, midi=lambda: piece.midi, is_whole=True)
        if progress is not None:
            return Heard(until_s=progress.settled_s, midi=progress.settled_midi, is_whole=False)
        if self.state == "reading" and prompt is not None:
            return Heard(until_s=self._start_s, midi=lambda: prompt.midi, is_whole=False)
        return None

    @property
    def _start_s(self) -> float:
        prompt = self.order.prompt
        return 0.0 if prompt is None else prompt.preview.end_s

    def _notes(self, progress: Progress | None) -> dict[str, list[int]]:
        if progress is None:
            piece = self.piece
            if piece is None or piece.take is None:
                return EMPTY
            return columns(piece.take.new_notes if piece.prompt_end_s else piece.preview.notes)
        count, shown = self._shown
        if len(progress.settled_events) > count:
            shown = columns(progress.settled())
            self._shown = (len(progress.settled_events), shown)
        return shown
