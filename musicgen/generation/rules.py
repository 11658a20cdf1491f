"""What the next event may be, given the time and the keys that are down.

Two kinds of rule. What cannot be is masked before the draw: a note before the cut, an end before
the wanted length, a release long after it, and, where an event is a note, a key struck again faster
than a piano repeats, and a long silence: what follows that is another piece. What should not be is
noticed after the draw and drawn once more without it, and counted: a stuck note, more notes than
hands can play, a long silence in a flat scheme. If nothing else is left, the first draw stands, so
a draw always succeeds.

Shapes: V the vocabulary of one attribute.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from copy import copy
from typing import TypeVar

import numpy as np

from musicgen.generation.length import RELEASE_S, LengthPlan
from musicgen.generation.values import EventValues
from musicgen.tokens import EventClock, PlayedEvent, Tokenizer

Event = tuple[int, ...]
Objections = list[tuple[str, np.ndarray]]
OwnKind = TypeVar("OwnKind", bound="Rules")

LONGEST_SILENCE_S = 4.0
LAST_REST_S = 3.0  # no rest ends later in a silence, or the note after it would come by force
LONGEST_NOTE_S = 20.0
MOST_NOTES_A_SECOND = 120  # 300 pieces of real music, orchestral ones too, hold at most 79,
MOST_NOTES_AT_ONCE = 32  # and at most 19 at one instant

N_KEYS = 128

RESTRIKE_S = 0.05
"""So long after a key is struck again at the earliest: a grand piano repeats 15 times a second,
and 3 of 10,000 notes in 270 minutes of maestro/validation come sooner (`docs/lab_log.md`)."""

_TINY_S = 1e-6


class Rules:
    """The rules that hold for any tokenizer, and the time they look at."""

    def __init__(self, tokenizer: Tokenizer, plan: LengthPlan, *, now_s: float) -> None:
        """Begin at the end of the prompt.

        Args:
            tokenizer: Whose events they are.
            plan: The wanted length.
            now_s: The prompt's last onset, or the start.
        """
        self._tokenizer, self._plan = tokenizer, plan
        self._start_s, self._target_s = plan.start_s, plan.target_s
        self._reached_s = plan.reached_s
        self._may_begin = tokenizer.legal(0, ())
        not_end = np.arange(len(self._may_begin)) != tokenizer.end_event[0]
        self._may_begin_but_not_end = _unless_empty(self._may_begin, not_end)
        self._now_s = now_s
        self._latest_end_s = plan.start_s
        self._onsets: deque[float] = deque(maxlen=MOST_NOTES_A_SECOND)  # of the last notes
        self._struck: set[int] = set()

    def copy(self: OwnKind) -> OwnKind:
        """Return rules that have seen the same, and go on by themselves."""
        twin = copy(self)
        twin._onsets, twin._struck = self._onsets.copy(), self._struck.copy()
        return twin

    def play(self, event: PlayedEvent) -> None:
        """Take a new event into account."""
        if event.onset_s > self._now_s + _TINY_S:
            self._struck = set()
        self._now_s = event.onset_s
        if event.pitch is not None and event.end_s is not None:
            self._struck.add(event.pitch)
            self._latest_end_s = max(self._latest_end_s, event.end_s)
            self._onsets.append(event.onset_s)

    @property
    def reached(self) -> bool:
        """Whether the notes so far meet the length."""
        return self._latest_end_s >= self._reached_s

    @property
    def rings_s(self) -> float:
        """How long the music sounds beyond its last onset."""
        return self._latest_end_s - self._now_s

    def waiting(self) -> Event | None:
        """Return an event that must come whatever the model says, or None."""
        return None

    def allowed(self, k: int, previous: Event, clock: EventClock) -> np.ndarray:
        """Return what attribute `k` can be at the clock's time: (V,) bool, never all False."""
        del clock
        if k > 0:
            return self._tokenizer.legal(k, previous)
        may_end = self._plan.may_end(self._latest_end_s, len(self._onsets))
        return self._may_begin if may_end else self._may_begin_but_not_end

    def objections(self, k: int, previous: Event, clock: EventClock) -> Objections:
        """Return what attribute `k` should not be, as (why, (V,) bool of what is fine)."""
        del k, previous, clock
        return []

    def complaint(self, event: PlayedEvent) -> str | None:
        """Say what is wrong with a whole event that was not yet played, or None."""
        if event.is_end:
            return None
        if event.onset_s > max(self._latest_end_s, self._start_s) + LONGEST_SILENCE_S:
            return "silence"
        if event.onset_s >= self._target_s and not self.reached:
            return "ending"
        if event.pitch is None or event.end_s is None:
            return None
        if event.end_s - event.onset_s > LONGEST_NOTE_S:
            return "stuck-note"
        if event.onset_s < self._room_from_s():
            return "crowd"
        return None

    def _room_from_s(self) -> float:
        """The first instant at which one more note is not one too many."""
        room_from_s = self._start_s
        if len(self._onsets) == MOST_NOTES_A_SECOND:
            room_from_s = self._onsets[0] + 1.0
        if len(self._struck) >= MOST_NOTES_AT_ONCE:
            room_from_s = max(room_from_s, self._now_s + 2 * _TINY_S)
        return room_from_s


class NoteRules(Rules):
    """The rules where an event is a note: each binds at its own attribute.

    A rule makes a mask only when some id breaks it: most can bind near the end alone.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        plan: LengthPlan,
        values: EventValues,
        *,
        now_s: float,
        held_keys: Mapping[int, float],
    ) -> None:
        """Begin at the end of the prompt.

        Args:
            tokenizer: Whose events they are.
            plan: The wanted length.
            values: What the tokenizer's ids mean.
            now_s: The prompt's last onset, or the start.
            held_keys: Until when the prompt's own notes hold keys beyond the cut, in seconds.
        """
        super().__init__(tokenizer, plan, now_s=now_s)
        self._values, self._held_keys = values, held_keys
        self._gap_s: list[float] = values.gap_s.tolist()
        self._longest_gap_s = self._gap_s[values.longest_rest[0]]
        self._key: list[int] = values.key.tolist()
        self._end_id = tokenizer.end_event[0]
        self._latest_release_s = plan.latest_release_s + _TINY_S
        self._last_start_s = plan.latest_release_s - tokenizer.grid_ms / 1000 + _TINY_S
        self._ring_from_s = plan.ring_from_s
        self._rings_until_s: dict[int, float] = {}
        self._struck_at_s: dict[int, float] = {}  # the key struck last is the last

    def copy(self) -> NoteRules:
        """Return rules that have seen the same, and go on by themselves."""
        twin = super().copy()
        twin._rings_until_s = self._rings_until_s.copy()
        twin._struck_at_s = self._struck_at_s.copy()
        return twin

    def play(self, event: PlayedEvent) -> None:
        """Take a new event into account: a key struck again ends its earlier note."""
        super().play(event)
        if event.pitch is None or event.end_s is None:
            return
        ended_s = self._rings_until_s.get(event.pitch, self._start_s)
        self._rings_until_s[event.pitch] = event.end_s
        self._struck_at_s.pop(event.pitch, None)
        self._struck_at_s[event.pitch] = event.onset_s
        if ended_s == self._latest_end_s > event.end_s:  # else no other is the latest now
            self._latest_end_s = max(self._start_s, *self._rings_until_s.values())

    def waiting(self) -> Event | None:
        """Return a rest while the cut lies further off than any gap reaches."""
        is_far = self._reach_s < self._start_s - _TINY_S
        return self._values.longest_rest if is_far else None

    def allowed(self, k: int, previous: Event, clock: EventClock) -> np.ndarray:
        """Return what attribute `k` can be at the clock's time: (V,) bool, never all False."""
        allowed = super().allowed(k, previous, clock)
        if k == self._values.gap:
            return self._gaps_in_time(allowed)
        if k == self._values.pitch and previous[0] != self._end_id:
            return self._keys_that_are_up(allowed, self._now_s + self._gap_s[previous[0]])
        if k == self._values.length and self._key[previous[self._values.pitch]] >= 0:
            return self._lengths_in_time(allowed, previous, clock)
        return allowed

    def _gaps_in_time(self, allowed: np.ndarray) -> np.ndarray:
        """Return which allowed gaps lead to where a note may be, or behind the end: (V,) bool."""
        # In very short music the grid may leave no room between an onset and the latest release.
        is_before = self._now_s < self._start_s - _TINY_S
        if is_before or self._reach_s > self._last_start_s:
            onset_s = self._now_s + self._values.gap_s
            in_time = ~((onset_s > self._last_start_s) & (onset_s < self._target_s))
            if is_before:
                in_time &= onset_s >= self._start_s - _TINY_S
            allowed = _unless_empty(allowed, in_time)
        if self._reach_s - self._silent_from_s > LONGEST_SILENCE_S + _TINY_S:
            silence_s = self._now_s + self._values.gap_s - self._silent_from_s
            allowed = _unless_empty(allowed, ~(silence_s > LONGEST_SILENCE_S + _TINY_S))
        return allowed

    def _keys_that_are_up(self, allowed: np.ndarray, onset_s: float) -> np.ndarray:
        """Return which allowed keys can be struck at an onset, and rests: (V,) bool."""
        if onset_s - self._silent_from_s > LAST_REST_S + _TINY_S:
            allowed = _unless_empty(allowed, self._values.key >= 0)
        down = [key for key, end_s in self._held_keys.items() if end_s > onset_s]
        for key in reversed(self._struck_at_s):
            if self._struck_at_s[key] <= onset_s - RESTRIKE_S + _TINY_S:
                break
            down.append(key)
        if not down:
            return allowed
        is_up = np.ones(N_KEYS + 1, dtype=bool)  # the last stands for no key
        is_up[down] = False
        return _unless_empty(allowed, is_up[self._values.key])

    def _lengths_in_time(
        self, allowed: np.ndarray, previous: Event, clock: EventClock
    ) -> np.ndarray:
        """Return which allowed lengths end in time, and near the end ring: (V,) bool."""
        lengths_s = clock.lengths_s(previous)
        if lengths_s is None:
            return allowed
        onset_s = self._now_s + self._gap_s[previous[0]]
        in_time = allowed & (onset_s + lengths_s <= self._latest_release_s)
        if not np.count_nonzero(in_time):
            in_time = _unless_empty(allowed, ~np.isnan(lengths_s))
        if onset_s < self._ring_from_s:
            return in_time
        return _unless_empty(in_time, lengths_s >= RELEASE_S - _TINY_S)

    @property
    def _reach_s(self) -> float:
        """How far the longest gap reaches."""
        return self._now_s + self._longest_gap_s

    @property
    def _silent_from_s(self) -> float:
        return max(self._latest_end_s, self._start_s)

    def objections(self, k: int, previous: Event, clock: EventClock) -> Objections:
        """Return what attribute `k` should not be, as (why, (V,) bool of what is fine)."""
        if k == self._values.gap:
            return self._objections_to_gap()
        if k == self._values.length:
            lengths_s = clock.lengths_s(previous)
            return [] if lengths_s is None else [("stuck-note", ~(lengths_s > LONGEST_NOTE_S))]
        return []

    def complaint(self, event: PlayedEvent) -> str | None:
        """Nothing is left to complain of: the attributes were looked at one by one."""
        return None

    def _objections_to_gap(self) -> Objections:
        objections = []
        room_from_s = self._room_from_s() - _TINY_S / 2
        if self._now_s < room_from_s:
            objections.append(("crowd", ~(self._now_s + self._values.gap_s < room_from_s)))
        if self._reach_s >= self._target_s and not self.reached:
            # The next note would come after the end, and nothing would sound up to there.
            objections.append(("ending", ~(self._now_s + self._values.gap_s >= self._target_s)))
        return objections


def _unless_empty(allowed: np.ndarray, also: np.ndarray) -> np.ndarray:
    both = allowed & also
    return both if np.count_nonzero(both) else allowed
