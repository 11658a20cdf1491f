"""Events of the piano scheme back to notes, whatever the integers are.

What cannot be played is skipped or mended, and counted by code:

    after-end        events after the end (padding is not counted)
    after-last-day   events later than a day
    start-inside     a start event that is not the first
    padding-inside   a padding event between others
    bad-gap          no time since the previous onset: taken as none
    bad-pitch        neither a pitch nor a rest: skipped, its time passes
    bad-velocity     no velocity: taken as 66
    bad-length       no length: taken as 0.2 s
    odd-rest         a rest that takes no time, or with a velocity or length
    odd-end          an end event that holds other things
    struck-again     a length that reaches well beyond the next stroke of its key: cut there

Arrays: T events, K = 4 attributes, N notes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musicgen.tokens.base import DecodedEvents, Event, PlayedEvent, checked_ids
from musicgen.tokens.grid import (
    MAX_STEPS,
    STEPS_PER_S,
    GridNotes,
    from_grid,
    rows_of_events,
    steps_to_next_stroke,
)
from musicgen.tokens.piano_vocabulary import (
    END,
    FIRST_GAP,
    FIRST_LENGTH,
    FIRST_PITCH,
    FIRST_VELOCITY,
    LENGTH_STEPS,
    LENGTHS,
    NONE,
    PAD,
    REST,
    START,
    VOCAB_SIZES,
    length_ids,
    velocity_of,
)

_MENDED_VELOCITY = FIRST_VELOCITY + 16
_MENDED_LENGTH = FIRST_LENGTH + 19


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifiedEvents:
    """What each event is, after mending: arrays of shape (T,), and the repairs' counts."""

    steps: np.ndarray
    is_note: np.ndarray
    is_end: np.ndarray
    pitch: np.ndarray
    velocity: np.ndarray
    length_steps: np.ndarray
    repairs: dict[str, int]


def classify(ids: np.ndarray) -> ClassifiedEvents:
    """Read events (T, 4) one by one, without regard to what their notes do to each other.

    Raises:
        ValueError: `ids` is not an integer array of shape (T, 4).
    """
    ids = checked_ids(ids, len(VOCAB_SIZES))
    gap, pitch, velocity, length = ids.T
    row = np.arange(len(ids))

    padding = (ids == PAD).all(axis=1)
    ends = np.flatnonzero(gap == END)
    last = int(ends[0]) if len(ends) else len(ids)
    alive = row < last
    filled = np.flatnonzero(~padding)
    within = (row > filled[0]) & (row < filled[-1]) if len(filled) else np.zeros(len(ids), bool)

    starts = alive & (gap == START)
    plays = alive & ~padding & ~starts
    gap_known = (gap >= FIRST_GAP) & (gap < VOCAB_SIZES[0])
    gap_steps = np.where(plays & gap_known, gap - FIRST_GAP, 0)
    steps = np.cumsum(gap_steps)
    plays &= steps <= MAX_STEPS

    is_note = plays & (pitch >= FIRST_PITCH) & (pitch < VOCAB_SIZES[1])
    is_rest = plays & (pitch == REST)
    velocity_known = (velocity >= FIRST_VELOCITY) & (velocity < VOCAB_SIZES[2])
    length_known = (length >= FIRST_LENGTH) & (length < VOCAB_SIZES[3])
    odd_rest = is_rest & ((velocity != NONE) | (length != NONE) | (gap_steps == 0))
    is_end = row == last

    found = {
        "after-end": (row > last) & ~padding,
        "after-last-day": alive & (steps > MAX_STEPS),
        "start-inside": starts & (row > (filled[0] if len(filled) else 0)),
        "padding-inside": padding & within & alive,
        "bad-gap": plays & ~gap_known,
        "bad-pitch": plays & ~is_note & ~is_rest,
        "bad-velocity": is_note & ~velocity_known,
        "bad-length": is_note & ~length_known,
        "odd-rest": odd_rest & gap_known,
        "odd-end": is_end & (ids != END).any(axis=1),
    }
    return ClassifiedEvents(
        steps=np.minimum(steps, MAX_STEPS),
        is_note=is_note,
        is_end=is_end,
        pitch=pitch - FIRST_PITCH,
        velocity=np.asarray(velocity_of(np.where(velocity_known, velocity, _MENDED_VELOCITY))),
        length_steps=LENGTHS[np.where(length_known, length, _MENDED_LENGTH) - FIRST_LENGTH],
        repairs={code: int(where.sum()) for code, where in found.items()},
    )


def decode_events(ids: np.ndarray) -> DecodedEvents:
    """See `Tokenizer.decode_events`."""
    events = classify(ids)
    at = np.flatnonzero(events.is_note)
    onset, pitch, length = events.steps[at], events.pitch[at], events.length_steps[at]
    room = steps_to_next_stroke(onset, pitch)
    # A stored length may overshoot by its rounding: then nothing is odd, and nothing is counted.
    odd = (length > room) & (length_ids(room) != length_ids(length))
    grid = GridNotes(
        onset=onset,
        length=np.minimum(length, room),
        pitch=pitch,
        velocity=events.velocity[at],
    )
    notes, order = from_grid(grid)
    repairs = {**events.repairs, "struck-again": int(odd.sum())}
    return DecodedEvents(
        notes=notes,
        note_index=rows_of_events(at[order], len(events.steps)),
        onset_s=events.steps / STEPS_PER_S,
        repairs=tuple(sorted((code, count) for code, count in repairs.items() if count)),
    )


class PianoClock:
    """The time of events one by one, as `decode_events` tells it.

    It does not look back: that a key struck again ends its earlier note is left to the listener.
    """

    __slots__ = ("_start_s", "_steps")

    def __init__(self, start_s: float = 0.0) -> None:
        self._start_s = start_s
        self._steps = 0

    @property
    def now_s(self) -> float:
        """The onset of the last event, in seconds."""
        return self._start_s + self._steps / STEPS_PER_S

    def push(self, event: Event) -> PlayedEvent:
        """Take the next event, and tell when it sounds."""
        gap, pitch, velocity, length = event
        if (
            FIRST_GAP <= gap < VOCAB_SIZES[0]
            and FIRST_PITCH <= pitch < VOCAB_SIZES[1]
            and FIRST_VELOCITY <= velocity < VOCAB_SIZES[2]
            and FIRST_LENGTH <= length < VOCAB_SIZES[3]
        ):
            self._steps += gap - FIRST_GAP
            return self._note(
                pitch - FIRST_PITCH,
                int(velocity_of(velocity)),
                LENGTH_STEPS[length - FIRST_LENGTH],
            )
        events = classify(np.array([event], dtype=np.int64))
        self._steps += int(events.steps[0])
        if events.is_note[0]:
            return self._note(
                int(events.pitch[0]), int(events.velocity[0]), int(events.length_steps[0])
            )
        return PlayedEvent(onset_s=self.now_s, is_end=bool(events.is_end[0]))

    def _note(self, pitch: int, velocity: int, length_steps: int) -> PlayedEvent:
        return PlayedEvent(
            onset_s=self.now_s,
            end_s=self._start_s + (self._steps + length_steps) / STEPS_PER_S,
            pitch=pitch,
            velocity=velocity,
        )


_NAMES = ("C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B")
_DYNAMICS = ((16, "ppp"), (33, "pp"), (49, "p"), (64, "mp"), (80, "mf"), (96, "f"), (112, "ff"))


def describe(event: Event) -> str:
    """Say an event in words: `after 0.12 s: E4, mf (66), for 0.50 s`."""
    if tuple(event) == (PAD,) * 4:
        return "padding"
    if event[0] == START:
        return "start"
    events = classify(np.array([event], dtype=np.int64))
    if events.is_end[0]:
        return "end"
    wait = f"after {events.steps[0] / STEPS_PER_S:.2f} s"
    if not events.is_note[0]:
        return f"{wait}: {'rest' if event[1] == REST else 'nothing that can be played'}"
    pitch, velocity = int(events.pitch[0]), int(events.velocity[0])
    dynamic = next((name for top, name in _DYNAMICS if velocity < top), "fff")
    length = events.length_steps[0] / STEPS_PER_S
    name = f"{_NAMES[pitch % 12]}{pitch // 12 - 1}"
    return f"{wait}: {name}, {dynamic} ({velocity}), for {length:.2f} s"
