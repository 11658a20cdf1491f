"""Tokens of the flat schemes back to notes, whatever the integers are.

What cannot be played is skipped or mended, and counted by code:

    after-end, after-last-day, start-inside, padding-inside, struck-again   as in piano_decode.py
    bad-id              no such id: skipped
    unfinished-note     a note without its velocity or length: skipped
    stray-token         a velocity, length or release that belongs to no note: skipped
    time-reversed       a position before the last one: taken as now
    never-released      a key that is down at the end: let go there, at most 10 s after

Arrays: T events, K = 1 attribute.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from copy import copy

import numpy as np

from musicgen.tokens.base import DecodedEvents, Event, PlayedEvent, checked_ids
from musicgen.tokens.flat_vocabulary import STEPS_PER_BAR, Expansion, Symbol
from musicgen.tokens.grid import (
    MAX_STEPS,
    STEPS_PER_S,
    GridNotes,
    from_grid,
    rows_of_events,
    steps_to_next_stroke,
)

PAD, START, END = 0, 1, 2
_LONGEST_UNRELEASED_STEPS = 10 * STEPS_PER_S

# A note in the making, and when it is done: onset, length, pitch, velocity, event.
Note = tuple[int, int, int, int, int]


class FlatReader:
    """Reads ids one by one; keeps the time, and the notes that are not yet whole."""

    def __init__(self, vocabulary: Sequence[Expansion]) -> None:
        self.now = 0
        self.ended = False
        self._begun = False
        self._padding = 0  # since the last other id: it counts if another follows
        self.repairs: Counter[str] = Counter()
        self._vocabulary = vocabulary
        self._event = -1
        self._bar = -1
        self._pitch: tuple[int, int] | None = None  # pitch and event of the note being told
        self._velocity: int | None = None
        self._down: dict[int, deque[tuple[int, int, int]]] = {}  # pitch: onset, velocity, event

    def copy(self) -> FlatReader:
        """Return a reader that has read the same, and goes on by itself."""
        twin = copy(self)
        twin.repairs = self.repairs.copy()
        twin._down = {pitch: strokes.copy() for pitch, strokes in self._down.items()}
        return twin

    def push(self, token_id: int) -> list[Note]:
        """Read one id; return the notes that are whole with it."""
        self._event += 1
        if self.ended:
            self.repairs["after-end"] += token_id != PAD
            return []
        if token_id == PAD:
            self._padding += self._begun
            return []
        self.repairs["padding-inside"] += self._padding
        self.repairs["start-inside"] += token_id == START and self._begun
        self._begun, self._padding = True, 0
        if token_id == END:
            self.ended = True
            return self.finish()
        if not 0 <= token_id < len(self._vocabulary):
            self.repairs["bad-id"] += 1
            return []
        done = [self._read(symbol) for symbol in self._vocabulary[token_id]]
        return [note for note in done if note is not None]

    def finish(self) -> list[Note]:
        """Let go of the keys that are down."""
        self._abandon()
        done = []
        for pitch, strokes in self._down.items():
            for onset, velocity, event in strokes:
                length = min(max(self.now - onset, 1), _LONGEST_UNRELEASED_STEPS)
                done.append((onset, length, pitch, velocity, event))
        self.repairs["never-released"] += len(done)
        self._down = {}
        return done

    def _read(self, symbol: Symbol) -> Note | None:
        kind, value = symbol.kind, symbol.value
        if kind in ("Bar", "Position", "TimeShift"):
            self._abandon()
            self._move(kind, value)
        elif kind in ("Pitch", "NoteOn"):
            self._abandon()
            self._pitch = (value, self._event)
        elif kind == "Velocity":
            return self._hear_velocity(value)
        elif kind == "Duration":
            return self._end_told_note(value)
        elif kind == "NoteOff":
            self._abandon()
            return self._release(value)
        return None

    def _move(self, kind: str, value: int) -> None:
        self._bar += kind == "Bar"
        if kind == "TimeShift":
            goal = self.now + value
        else:
            goal = max(self._bar, 0) * STEPS_PER_BAR + (value if kind == "Position" else 0)
        self.repairs["time-reversed"] += goal < self.now
        self.repairs["after-last-day"] += goal > MAX_STEPS
        self.now = min(max(goal, self.now), MAX_STEPS)

    def _hear_velocity(self, velocity: int) -> None:
        if self._pitch is None or self._velocity is not None:
            self.repairs["stray-token"] += 1
            return
        self._velocity = velocity

    def _end_told_note(self, length: int) -> Note | None:
        if self._pitch is None or self._velocity is None:
            self.repairs["stray-token"] += 1
            return None
        (pitch, event), velocity = self._pitch, self._velocity
        self._pitch = self._velocity = None
        return (self.now, length, pitch, velocity, event)

    def _release(self, pitch: int) -> Note | None:
        if not self._down.get(pitch):
            self.repairs["stray-token"] += 1
            return None
        onset, velocity, event = self._down[pitch].popleft()
        return (onset, max(self.now - onset, 1), pitch, velocity, event)

    def _abandon(self) -> None:
        """A note told by halves is none."""
        self.repairs["unfinished-note"] += self._pitch is not None
        self._pitch = self._velocity = None


class OnOffReader(FlatReader):
    """The MIDI-like way: a note begins with its velocity, and ends when its key is let go."""

    def _hear_velocity(self, velocity: int) -> None:
        if self._pitch is None:
            self.repairs["stray-token"] += 1
            return
        pitch, event = self._pitch
        self._down.setdefault(pitch, deque()).append((self.now, velocity, event))
        self._pitch = None


def reader(scheme: str, vocabulary: Sequence[Expansion]) -> FlatReader:
    """A reader for the tokens of a scheme."""
    return (OnOffReader if scheme == "midilike" else FlatReader)(vocabulary)


def decode_events(ids: np.ndarray, scheme: str, vocabulary: Sequence[Expansion]) -> DecodedEvents:
    """See `Tokenizer.decode_events`."""
    column = checked_ids(ids, 1)[:, 0].tolist()
    tokens = reader(scheme, vocabulary)
    notes: list[Note] = []
    now: list[int] = []
    for token_id in column:
        notes += tokens.push(token_id)
        now.append(tokens.now)
    notes += tokens.finish()
    onset, length, pitch, velocity, event = np.array(notes, dtype=np.int64).reshape(-1, 5).T
    room = steps_to_next_stroke(onset, pitch)
    odd = length > room + np.maximum(room * 3 // 100, 1)  # beyond what rounding explains
    tokens.repairs["struck-again"] += int(odd.sum())
    grid = GridNotes(onset=onset, length=np.minimum(length, room), pitch=pitch, velocity=velocity)
    table, order = from_grid(grid)
    return DecodedEvents(
        notes=table,
        note_index=rows_of_events(event[order], len(column)),
        onset_s=np.array(now, dtype=np.float64) / STEPS_PER_S,
        repairs=tuple(sorted((code, int(n)) for code, n in tokens.repairs.items() if n)),
    )


class FlatClock:
    """The time of ids one by one; tells the last note that is whole with each."""

    __slots__ = ("_reader", "_start_s")

    def __init__(self, tokens: FlatReader, start_s: float) -> None:
        self._reader = tokens
        self._start_s = start_s

    @property
    def now_s(self) -> float:
        """The time reached, in seconds."""
        return self._start_s + self._reader.now / STEPS_PER_S

    def copy(self) -> FlatClock:
        """Return a clock that tells the same time, and goes on by itself."""
        return FlatClock(self._reader.copy(), self._start_s)

    def push(self, event: Event) -> PlayedEvent:
        """Take the next id, and tell what sounds with it."""
        notes = self._reader.push(event[0])
        if not notes or self._reader.ended:
            return PlayedEvent(onset_s=self.now_s, is_end=self._reader.ended)
        onset, length, pitch, velocity, _ = notes[-1]
        return PlayedEvent(
            onset_s=self._start_s + onset / STEPS_PER_S,
            end_s=self._start_s + (onset + length) / STEPS_PER_S,
            pitch=pitch,
            velocity=velocity,
        )

    def lengths_s(self, previous: Event) -> None:
        """There is no attribute that says a length."""
