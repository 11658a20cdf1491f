"""Loops are noticed from the events themselves, so that the stream can step back before them.

The bounds lie above what 300 pieces of real music hold (performances, editions, pop, game music):
no key struck 24 times with nothing between, no passage that comes again to the hundredth of a
second and to the velocity for longer than `EXACT + 2 · lag` events.
"""

from __future__ import annotations

from copy import copy

Event = tuple[int, ...]

ONE_NOTE = 24
"""Strokes of one key in a row."""

EXACT, LONGEST_LAG = 24, 64
"""Notes alike at a lag, beyond twice the lag itself; and the longest lag looked at."""


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

    def copy(self) -> LoopWatch:
        """Return a watch that has heard the same, and goes on by itself."""
        twin = copy(self)
        twin._last_at = self._last_at.copy()  # all else is replaced, and never changed
        return twin

    def runs(self) -> frozenset[int]:
        """Return where the loops that may be beginning would be stepped back to, as lengths."""
        begun = {self._n_events - n_alike for n_alike in self._alike.values()}
        return frozenset(begun.union(self._strokes[:1]))

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
        loops = [lag for lag, n in self._alike.items() if n >= self._exact + 2 * lag]
        return self._alike[min(loops)] if loops else None
