"""How far a take has come, and what of it is sure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from musicgen.generation import EventMade
from musicgen.midi import NoteTable
from musicgen.pipeline.ingredients import Ingredients


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Progress:
    """How far a take has come.

    Where the model begins to repeat itself it steps back, and the last part is made several times.
    What is called settled will be in the take as it is now: it may be played and shown.

    Attributes:
        seconds_made: Seconds of new music so far, at the furthest: it does not fall when the model
            steps back.
        seconds_wanted: Seconds that were asked for.
        notes: New notes so far; they may become fewer.
        settled_s: Until when all is settled, in the piece's time: every note that begins before is
            there, and none of them changes before. It does not fall.
        tries_endings: Whether the last part has begun, which is made several times.
    """

    seconds_made: float
    seconds_wanted: float
    notes: int
    settled_s: float
    tries_endings: bool
    ingredients: Ingredients = field(repr=False)
    settled_events: tuple[EventMade, ...] = field(repr=False)

    def settled(self) -> NoteTable:
        """Return the new notes that begin before `settled_s`."""
        notes = self.ingredients.decode(self.settled_events)[1]
        return notes.select(notes.onset_s < self.settled_s - _HAIR_S)

    def settled_midi(self) -> bytes:
        """Return the file as far as `settled_s`; with the prompt, if there is one."""
        return self.ingredients.file(self.settled())


_HAIR_S = 1e-6


def settled_until(events: Sequence[EventMade], start_s: float) -> float:
    """Return until when nothing changes any more if these events stay: the last note's onset.

    Further notes may come at that instant; and were it the last one, its end may still be moved.
    """
    for made in reversed(events):
        if made.played.pitch is not None:
            return max(start_s, made.played.onset_s)
    return start_s
