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
    nothing-shared   the release of a note that there is not, or that is over: taken as 0.2 s
    odd-rest         a rest that takes no time, or with a velocity or length
    odd-end          an end event that holds other things

A note sounds until its release or the next stroke of its key, whichever is first, as on a piano:
that is what its length means, and nothing that was mended.

Arrays: T events, K = 4 attributes, N notes.
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass

import numpy as np

from musicgen.midi.names import note_name
from musicgen.tokens.base import DecodedEvents, Event, PlayedEvent, checked_ids
from musicgen.tokens.grid import (
    MAX_STEPS,
    STEPS_PER_S,
    GridNotes,
    from_grid,
    rows_of_events,
    steps_to_next_stroke,
)
from musicgen.tokens.piano_releases import find_releases
from musicgen.tokens.piano_vocabulary import (
    END,
    FIRST_GAP,
    FIRST_LENGTH,
    FIRST_PITCH,
    FIRST_SHARED,
    FIRST_VELOCITY,
    LENGTH_STEPS,
    LENGTHS,
    MENDED_LENGTH,
    MOST_SHARED,
    NONE,
    PAD,
    REST,
    START,
    VOCAB_SIZES,
    velocity_of,
)

_MENDED_VELOCITY = FIRST_VELOCITY + 16


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifiedEvents:
    """What each event is, after mending: arrays of shape (T,), and the repairs' counts.

    `release` is where a note was told to end, and `is_shared` whether by another note's release.
    """

    steps: np.ndarray
    is_note: np.ndarray
    is_end: np.ndarray
    pitch: np.ndarray
    velocity: np.ndarray
    release: np.ndarray
    is_shared: np.ndarray
    repairs: dict[str, int]


NO_RELEASES = np.zeros(0, dtype=np.int64)


def classify(ids: np.ndarray, earlier: np.ndarray = NO_RELEASES) -> ClassifiedEvents:
    """Read events (T, 4) one by one, without regard to what their strokes do to each other.

    Args:
        ids: The events.
        earlier: Releases in steps of the last notes before them; see `last_releases`.

    Raises:
        ValueError: `ids` is not an integer array of shape (T, 4).
    """
    ids = checked_ids(ids, len(VOCAB_SIZES))
    gap, pitch, velocity, length = ids.T
    row = np.arange(len(ids))

    padding = (gap == PAD) & (pitch == PAD) & (velocity == PAD) & (length == PAD)
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
    too_late = steps > MAX_STEPS
    plays &= ~too_late

    is_note = plays & (pitch >= FIRST_PITCH) & (pitch < VOCAB_SIZES[1])
    is_rest = plays & (pitch == REST)
    velocity_known = (velocity >= FIRST_VELOCITY) & (velocity < VOCAB_SIZES[2])
    length_known = (length >= FIRST_LENGTH) & (length < VOCAB_SIZES[3])
    odd_rest = is_rest & ((velocity != NONE) | (length != NONE) | (gap_steps == 0))
    is_end = row == last
    steps = np.minimum(steps, MAX_STEPS)
    told = np.where(length_known, length, MENDED_LENGTH)
    release = steps.copy()
    mended = np.zeros(len(ids), dtype=bool)
    release[is_note], mended[is_note] = find_releases(steps[is_note], told[is_note], earlier)

    found = {
        "after-end": (row > last) & ~padding,
        "after-last-day": alive & too_late,
        "start-inside": starts & (row > (filled[0] if len(filled) else 0)),
        "padding-inside": padding & within & alive,
        "bad-gap": plays & ~gap_known,
        "bad-pitch": plays & ~is_note & ~is_rest,
        "bad-velocity": is_note & ~velocity_known,
        "bad-length": is_note & ~length_known,
        "nothing-shared": mended,
        "odd-rest": odd_rest & gap_known,
        "odd-end": is_end & ((pitch != END) | (velocity != END) | (length != END)),
    }
    return ClassifiedEvents(
        steps=steps,
        is_note=is_note,
        is_end=is_end,
        pitch=pitch - FIRST_PITCH,
        velocity=np.asarray(velocity_of(np.where(velocity_known, velocity, _MENDED_VELOCITY))),
        release=release,
        is_shared=is_note & (told >= FIRST_SHARED) & ~mended,
        repairs={code: int(np.count_nonzero(where)) for code, where in found.items()},
    )


def decode_events(ids: np.ndarray, earlier: np.ndarray = NO_RELEASES) -> DecodedEvents:
    """See `Tokenizer.decode_events`; `earlier` as for `classify`."""
    events = classify(ids, earlier)
    at = np.flatnonzero(events.is_note)
    onset, pitch = events.steps[at], events.pitch[at]
    length = events.release[at] - onset
    room = steps_to_next_stroke(onset, pitch)
    grid = GridNotes(
        onset=onset,
        length=np.minimum(length, room),
        pitch=pitch,
        velocity=events.velocity[at],
    )
    notes, order = from_grid(grid)
    return DecodedEvents(
        notes=notes,
        note_index=rows_of_events(at[order], len(events.steps)),
        onset_s=events.steps / STEPS_PER_S,
        repairs=tuple(sorted((code, count) for code, count in events.repairs.items() if count)),
    )


def last_releases(ids: np.ndarray | None) -> np.ndarray:
    """Return the releases (at most MOST_SHARED) of the last notes of events (T, 4).

    In steps from the last event's onset, so negative where a note is over; the latest note last.
    """
    if ids is None or not len(ids):
        return NO_RELEASES
    events = classify(ids)
    return events.release[events.is_note][-MOST_SHARED:] - events.steps[-1]


_OWN_LENGTHS_S = np.full(VOCAB_SIZES[3], np.nan)
_OWN_LENGTHS_S[FIRST_LENGTH:FIRST_SHARED] = LENGTHS / STEPS_PER_S


class PianoClock:
    """The time of events one by one, as `decode_events` tells it.

    It does not look ahead: that a key struck again ends its earlier note is left to the listener.
    """

    __slots__ = ("_lengths_at", "_lengths_s", "_releases", "_start_s", "_steps")

    def __init__(self, start_s: float = 0.0, earlier: np.ndarray = NO_RELEASES) -> None:
        self._start_s = start_s
        self._steps = 0
        self._releases: list[int] = earlier[-MOST_SHARED:].tolist()
        self._lengths_s, self._lengths_at = _OWN_LENGTHS_S, -1  # as told last, and for which onset

    @property
    def now_s(self) -> float:
        """The onset of the last event, in seconds."""
        return self._start_s + self._steps / STEPS_PER_S

    def copy(self) -> PianoClock:
        """Return a clock that tells the same time, and goes on by itself."""
        return copy(self)  # its lists are replaced, and never changed

    def push(self, event: Event) -> PlayedEvent:
        """Take the next event, and tell when it sounds."""
        gap, pitch, velocity, length = event
        if (
            FIRST_GAP <= gap < VOCAB_SIZES[0]
            and FIRST_PITCH <= pitch < VOCAB_SIZES[1]
            and FIRST_VELOCITY <= velocity < VOCAB_SIZES[2]
            and (release := self._release(self._steps + gap - FIRST_GAP, length)) is not None
        ):
            # As below, without arrays for a single event.
            self._steps += gap - FIRST_GAP
            return self._note(release, pitch - FIRST_PITCH, int(velocity_of(velocity)))
        if event[1:] == (REST, NONE, NONE) and FIRST_GAP < gap < VOCAB_SIZES[0]:
            self._steps += gap - FIRST_GAP
            return PlayedEvent(onset_s=self.now_s)
        earlier = np.array(self._releases, dtype=np.int64) - self._steps
        events = classify(np.array([event], dtype=np.int64), earlier)
        release = self._steps + int(events.release[0])
        self._steps += int(events.steps[0])
        if events.is_note[0]:
            return self._note(release, int(events.pitch[0]), int(events.velocity[0]))
        return PlayedEvent(onset_s=self.now_s, is_end=bool(events.is_end[0]))

    def _release(self, onset: int, length: int) -> int | None:
        """Return the release that a length id tells at an onset, or None where it tells none."""
        if FIRST_LENGTH <= length < FIRST_SHARED:
            return onset + LENGTH_STEPS[length - FIRST_LENGTH]
        n = length - FIRST_SHARED + 1
        if 1 <= n <= len(self._releases) and self._releases[-n] > onset:
            return self._releases[-n]
        return None

    def _note(self, release: int, pitch: int, velocity: int) -> PlayedEvent:
        self._releases = [*self._releases, release][-MOST_SHARED:]
        self._lengths_at = -1
        return PlayedEvent(
            onset_s=self.now_s,
            end_s=self._start_s + release / STEPS_PER_S,
            pitch=pitch,
            velocity=velocity,
        )

    def lengths_s(self, previous: Event) -> np.ndarray:
        """Return how long a note sounds with each length id (V,); see `EventClock`."""
        onset = self._steps + max(previous[0] - FIRST_GAP, 0)
        if onset != self._lengths_at:
            left = [release - onset for release in reversed(self._releases)]
            shared = [steps / STEPS_PER_S if steps > 0 else math.nan for steps in left]
            self._lengths_s, self._lengths_at = _OWN_LENGTHS_S.copy(), onset
            self._lengths_s[FIRST_SHARED : FIRST_SHARED + len(left)] = shared
        return self._lengths_s


_DYNAMICS = ((16, "ppp"), (33, "pp"), (49, "p"), (64, "mp"), (80, "mf"), (96, "f"), (112, "ff"))


def describe(event: Event) -> str:
    """Say an event in words: `after 0.12 s: E4, mf (66), for 0.50 s`.

    Raises:
        ValueError: It has another number of ids than an event.
    """
    if len(event) != len(VOCAB_SIZES):
        raise ValueError(f"an event has {len(VOCAB_SIZES)} ids, not {len(event)}")
    if tuple(event) == (PAD,) * 4:
        return "padding"
    if event[0] == START:
        return "start"
    # Something that still rings, so that what is shared can be told from what is not there.
    events = classify(np.array([event], dtype=np.int64), np.full(MOST_SHARED, MAX_STEPS * 2))
    if events.is_end[0]:
        return "end"
    wait = f"after {events.steps[0] / STEPS_PER_S:.2f} s"
    if not events.is_note[0]:
        return f"{wait}: {'rest' if event[1] == REST else 'nothing that can be played'}"
    pitch, velocity = int(events.pitch[0]), int(events.velocity[0])
    dynamic = next((name for top, name in _DYNAMICS if velocity < top), "fff")
    until = f"for {(events.release[0] - events.steps[0]) / STEPS_PER_S:.2f} s"
    if events.is_shared[0]:
        n = event[3] - FIRST_SHARED + 1
        until = "until the note before ends" if n == 1 else f"until the note {n} before ends"
    return f"{wait}: {note_name(pitch)}, {dynamic} ({velocity}), {until}"
