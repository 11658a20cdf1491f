"""Loops are noticed from the events themselves, so that the stream can step back before them.

The bounds lie above what 300 pieces of real music hold (performances, editions, pop, game music):
no key struck 24 times with nothing between, no passage that comes again to the hundredth of a
second and to the velocity for longer than `EXACT + 2 · lag` events, no 150 notes of which 143 lie
on four keys (five keys, at the least, in 220 of the pieces).
"""

from __future__ import annotations

from collections import Counter, deque
from copy import copy

Event = tuple[int, ...]

ONE_NOTE = 24
"""Strokes of one key in a row."""

EXACT, LONGEST_LAG = 24, 64
"""Notes alike at a lag, beyond twice the lag itself; and the longest lag looked at."""

FEW_KEYS, FEW_KEYS_NOTES, FEW_KEYS_OTHERS = 4, 150, 7
"""So many keys hold so many notes in a row, but for so many others; and"""

FEW_KEYS_KEPT = 64
"""so many of these notes may stay: of that length such passages are common."""


class FewKeysWatch:
    """Counts for how many notes the music has been staying on a few keys."""

    def __init__(self) -> None:
        self._notes: deque[tuple[int, int]] = deque()  # key, and how many events lie before it
        self._strokes: Counter[int] = Counter()

    def copy(self) -> FewKeysWatch:
        """Return a watch that has heard the same, and goes on by itself."""
        twin = FewKeysWatch()
        twin._notes, twin._strokes = self._notes.copy(), self._strokes.copy()
        return twin

    @property
    def back_to(self) -> int | None:
        """How many events are before what would be taken back; None if nothing would be yet."""
        return self._notes[FEW_KEYS_KEPT][1] if len(self._notes) > FEW_KEYS_KEPT else None

    def push(self, key: int, n_events: int) -> bool:
        """Take the next note, and say whether the music has stayed on a few keys for too long.

        Args:
            key: The key it strikes.
            n_events: How many events lie before it.
        """
        self._notes.append((key, n_events))
        self._strokes[key] += 1
        while len(self._notes) - self._on_few_keys() > FEW_KEYS_OTHERS:
            gone, _ = self._notes.popleft()
            self._strokes[gone] -= 1
            if not self._strokes[gone]:
                del self._strokes[gone]
        return len(self._notes) >= FEW_KEYS_NOTES

    def _on_few_keys(self) -> int:
        return sum(sorted(self._strokes.values())[-FEW_KEYS:])


class LoopWatch:
    """Counts, event by event, for how long the music has been repeating itself."""

    def __init__(self, events_a_note: int = 1) -> None:
        """Begin with nothing.

        Args:
            events_a_note: About how many events tell one note: more than one in a flat scheme.
        """
        self._longest_lag = LONGEST_LAG * events_a_note
        self._exact = EXACT * events_a_note
        self._last_at: dict[Event, list[int]] = {}  # the numbers of the events that are alike
        self._alike: dict[int, int] = {}  # by lag, for how many events
        self._key: int | None = None
        self._strokes: list[int] = []  # of the present key, as numbers of events
        self._n_events = 0
        self._few_keys = FewKeysWatch()

    def copy(self) -> LoopWatch:
        """Return a watch that has heard the same, and goes on by itself."""
        twin = copy(self)
        twin._few_keys = self._few_keys.copy()
        twin._last_at = self._last_at.copy()  # all else is replaced, and never changed
        return twin

    def runs(self) -> frozenset[int]:
        """Return where the loops that may be beginning would be stepped back to, as lengths."""
        begun = {self._n_events - n_alike for n_alike in self._alike.values()}
        back_to = self._few_keys.back_to
        return frozenset(begun.union(self._strokes[:1], () if back_to is None else (back_to,)))

    def push(self, event: Event, key: int | None) -> int | None:
        """Take the next event.

        Args:
            event: The K ids.
            key: The key it strikes, or None.

        Returns:
            How many of the last events are a loop, or None.
        """
        now = self._n_events
        earlier = [at for at in self._last_at.get(event, ()) if now - at <= self._longest_lag]
        self._alike = {now - at: self._alike.get(now - at, 0) + 1 for at in earlier}
        self._last_at[event] = [*earlier, now]
        if len(self._last_at) > 4 * self._longest_lag:
            self._last_at = {
                each: numbers
                for each, numbers in self._last_at.items()
                if now - numbers[-1] <= self._longest_lag
            }
        self._n_events += 1

        if key is not None:
            if key != self._key:
                self._key, self._strokes = key, []
            self._strokes = [*self._strokes, self._n_events][-ONE_NOTE:]
            if len(self._strokes) >= ONE_NOTE:
                return self._n_events - self._strokes[0]
            if self._few_keys.push(key, now) and self._few_keys.back_to is not None:
                return self._n_events - self._few_keys.back_to
        loops = [lag for lag, n in self._alike.items() if n >= self._exact + 2 * lag]
        return self._alike[min(loops)] if loops else None
