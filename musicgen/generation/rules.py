"""What the next event may be, given the time and the keys that are down.

Two kinds of rule. What cannot be is masked before the draw: a note before the cut, a key struck
twice at one instant, an end before the wanted length, a release long after it, and, where an event
is a note, a long silence: what follows that is another piece. What should not be is noticed after
the draw and drawn once more without it, and counted: a stuck note, more notes than hands can play,
a long silence in a flat scheme. If nothing else is left, the first draw stands, so a draw always
succeeds.

Shapes: V the vocabulary of one attribute.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from musicgen.generation.length import RELEASE_S, LengthPlan
from musicgen.generation.values import EventValues
from musicgen.tokens import EventClock, PlayedEvent, Tokenizer

Event = tuple[int, ...]
Objections = list[tuple[str, np.ndarray]]

LONGEST_SILENCE_S = 4.0
LAST_REST_S = 3.0  # no rest ends later in a silence, or the note after it would come by force
LONGEST_NOTE_S = 20.0
MOST_NOTES_A_SECOND = 120  # 300 pieces of real music, orchestral ones too, hold at most 79,
MOST_NOTES_AT_ONCE = 32  # and at most 19 at one instant

N_KEYS = 128

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
        self._tokenizer = tokenizer
        self._plan = plan
        self._prompt_onset_s = now_s
        self.restart([])

    def restart(self, played: list[PlayedEvent]) -> None:
        """Begin anew after these new events: the stream has stepped back."""
        self._now_s = self._prompt_onset_s
        self._latest_end_s = self._plan.start_s
        self._onsets: list[float] = []
        self._struck: set[int] = set()
        for event in played:
            self.play(event)

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
        return self._plan.reached(self._latest_end_s)

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
        allowed = self._tokenizer.legal(k, previous)
        end = self._tokenizer.end_event[0]
        if k > 0 or self._plan.may_end(self._latest_end_s, len(self._onsets)):
            return allowed
        without_end = allowed.copy()
        without_end[end] = False
        return without_end if without_end.any() else allowed

    def objections(self, k: int, previous: Event, clock: EventClock) -> Objections:
        """Return what attribute `k` should not be, as (why, (V,) bool of what is fine)."""
        del k, previous, clock
        return []

    def complaint(self, event: PlayedEvent) -> str | None:
        """Say what is wrong with a whole event that was not yet played, or None."""
        if event.is_end:
            return None
        if event.onset_s > max(self._latest_end_s, self._plan.start_s) + LONGEST_SILENCE_S:
            return "silence"
        if event.onset_s >= self._plan.target_s and not self.reached:
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
        room_from_s = self._plan.start_s
        if len(self._onsets) >= MOST_NOTES_A_SECOND:
            room_from_s = self._onsets[-MOST_NOTES_A_SECOND] + 1.0
        if len(self._struck) >= MOST_NOTES_AT_ONCE:
            room_from_s = max(room_from_s, self._now_s + 2 * _TINY_S)
        return room_from_s


class NoteRules(Rules):
    """The rules where an event is a note: each binds at its own attribute."""

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
        self._values = values
        self._held_keys = held_keys
        self._is_end = np.arange(len(values.gap_s)) == tokenizer.end_event[0]
        self._last_start_s = plan.latest_release_s - tokenizer.grid_ms / 1000 + _TINY_S
        super().__init__(tokenizer, plan, now_s=now_s)

    def restart(self, played: list[PlayedEvent]) -> None:
        """Begin anew after these new events: the stream has stepped back."""
        self._rings_until_s: dict[int, float] = {}
        super().restart(played)

    def play(self, event: PlayedEvent) -> None:
        """Take a new event into account: a key struck again ends its earlier note."""
        super().play(event)
        if event.pitch is not None and event.end_s is not None:
            self._rings_until_s[event.pitch] = event.end_s
            self._latest_end_s = max(self._plan.start_s, *self._rings_until_s.values())

    def waiting(self) -> Event | None:
        """Return a rest while the cut lies further off than any gap reaches."""
        rest = self._values.longest_rest
        reach_s = self._now_s + self._values.gap_s[rest[0]]
        return rest if reach_s < self._plan.start_s - _TINY_S else None

    def allowed(self, k: int, previous: Event, clock: EventClock) -> np.ndarray:
        """Return what attribute `k` can be at the clock's time: (V,) bool, never all False."""
        allowed = super().allowed(k, previous, clock)
        if k == self._values.gap:
            allowed = _unless_empty(allowed, self._gaps_in_time())
            return _unless_empty(allowed, ~(self._silences_s() > LONGEST_SILENCE_S + _TINY_S))
        if k == self._values.pitch and not self._is_end[previous[0]]:
            onset_s = self._now_s + self._values.gap_s[previous[0]]
            if self._silences_s()[previous[0]] > LAST_REST_S + _TINY_S:
                allowed = _unless_empty(allowed, self._values.key >= 0)
            down = {key for key, end_s in self._held_keys.items() if end_s > onset_s}
            if onset_s <= self._now_s + _TINY_S:
                down |= self._struck
            if down:
                is_up = np.ones(N_KEYS + 1, dtype=bool)  # the last stands for no key
                is_up[list(down)] = False
                return _unless_empty(allowed, is_up[self._values.key])
        if k == self._values.length and self._is_note(previous):
            return self._lengths_in_time(allowed, previous, clock)
        return allowed

    def _lengths_in_time(
        self, allowed: np.ndarray, previous: Event, clock: EventClock
    ) -> np.ndarray:
        """Return which allowed lengths end in time, and near the end ring: (V,) bool."""
        lengths_s = clock.lengths_s(previous)
        if lengths_s is None:
            return allowed
        onset_s = self._now_s + self._values.gap_s[previous[0]]
        allowed = _unless_empty(allowed, ~np.isnan(lengths_s))
        in_time = onset_s + lengths_s <= self._plan.latest_release_s + _TINY_S
        allowed = _unless_empty(allowed, in_time)
        if onset_s < self._plan.ring_from_s:
            return allowed
        return _unless_empty(allowed, lengths_s >= RELEASE_S - _TINY_S)

    def _gaps_in_time(self) -> np.ndarray:
        """Return which gaps lead to where a note may be, or behind the end: (V,) bool."""
        onset_s = self._now_s + self._values.gap_s
        # In very short music the grid may leave no room between an onset and the latest release.
        in_time = ~((onset_s > self._last_start_s) & (onset_s < self._plan.target_s))
        if self._now_s < self._plan.start_s - _TINY_S:
            in_time &= onset_s >= self._plan.start_s - _TINY_S
        return in_time

    def _silences_s(self) -> np.ndarray:
        """Return how long it would be silent before each gap's event: (V,), NaN for no time."""
        silent_from_s = max(self._latest_end_s, self._plan.start_s)
        return self._now_s + self._values.gap_s - silent_from_s

    def _is_note(self, previous: Event) -> bool:
        return bool(self._values.key[previous[self._values.pitch]] >= 0)

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
        onset_s = self._now_s + self._values.gap_s  # NaN for an end
        objections = [("crowd", ~(onset_s < self._room_from_s() - _TINY_S / 2))]
        if not self.reached:
            # The next note would come after the end, and nothing would sound up to there.
            objections.append(("ending", ~(onset_s >= self._plan.target_s)))
        return objections


def _unless_empty(allowed: np.ndarray, also: np.ndarray) -> np.ndarray:
    both = allowed & also
    return both if both.any() else allowed
