"""What the model has before its eyes while it plays: prefill, decode, step back, window.

Past its window the model reads the last half of it again from the start of a fresh cache, once
every half window: each event then costs the same however long the piece grows, and every position
is one that training has seen. What that loses in bits a note is measured by
`benchmarks/bench_window.py`; the figures are in the lab log.

Shapes: T events, K attributes.
"""

from __future__ import annotations

import numpy as np

from musicgen.engine import StepDecoder


class Context:
    """The events so far, and a decoder that has read the last of them."""

    def __init__(self, steps: StepDecoder) -> None:
        """Begin with no events and a decoder that has read none."""
        self._steps = steps
        self._window = steps.capacity
        self._events: list[tuple[int, ...]] = []
        self._first = 0  # the event at the window's first position

    def __len__(self) -> int:
        """How many events there are, seen or not."""
        return len(self._events)

    @property
    def first_seen(self) -> int:
        """Index of the earliest event that the model still sees."""
        return self._first

    def extend(self, ids: np.ndarray) -> None:
        """Append events (T, K), T ≥ 1.

        Of events that do not fit, the last 7/8 of a window are read: a long prompt is seen as far
        back as it can be, and there is room to play before the next reading.
        """
        self._events.extend(tuple(row) for row in ids.tolist())
        if len(ids) > self._window - self._steps.length:
            self._read_again(self._window * 7 // 8)
        else:
            self._steps.prefill(self._events[-len(ids) :])

    def append(self, event: tuple[int, ...]) -> None:
        """Append one event."""
        self._events.append(event)
        if self._steps.length == self._window:
            self._read_again(self._window // 2)
        else:
            self._steps.append(event)

    def step_back(self, n_events: int) -> None:
        """Keep the first `n_events` ≥ 1.

        Raises:
            ValueError: There are not that many events.
        """
        if not 1 <= n_events <= len(self._events):
            raise ValueError(f"cannot step back to {n_events} of {len(self._events)} events")
        del self._events[n_events:]
        if n_events <= self._first:
            self._read_again(self._window // 2)
        else:
            self._steps.truncate(n_events - 1 - self._first)
            self._steps.append(self._events[-1])

    def _read_again(self, n_events: int) -> None:
        """Fill a fresh window with the last `n_events` events, at least one."""
        self._first = max(0, len(self._events) - max(1, n_events))
        self._steps.truncate(0)
        self._steps.prefill(self._events[self._first :])
