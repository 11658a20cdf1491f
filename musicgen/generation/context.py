"""What the model has before its eyes while it plays: prefill, decode, step back, window.

Past its window the model reads the last half of it again from the start of a fresh cache, once
every half window: each event then costs the same however long the piece grows, and every position
is one that training has seen. What that loses in bits a note is measured by
`benchmarks/bench_window.py`; the figures are in the lab log.

Shapes: T events, K attributes, D width of the model.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from musicgen.model import Decoder, KVCache

PREFILL_CHUNK = 256
"""Events read in one pass: bounds the memory of a prefill, and is the same on every machine."""


class Context:
    """The events so far, and a cache that holds the last of them.

    The model is only read: any number of contexts may use one model at once.
    """

    def __init__(self, decoder: Decoder) -> None:
        """Begin with no events."""
        weight = next(decoder.parameters())
        self._decoder = decoder
        self._device = weight.device
        self._window = decoder.config.max_seq_len
        self._cache = KVCache.allocate(
            decoder.config, capacity=self._window, device=weight.device, dtype=weight.dtype
        )
        self._events: list[tuple[int, ...]] = []
        self._first = 0  # the event at the window's first position

    def __len__(self) -> int:
        """How many events there are, seen or not."""
        return len(self._events)

    @property
    def first_seen(self) -> int:
        """Index of the earliest event that the model still sees."""
        return self._first

    def extend(self, ids: np.ndarray) -> Tensor:
        """Append events (T, K), T ≥ 1, and return the state (1, D) after the last.

        Of events that do not fit, the last 7/8 of a window are read: a long prompt is seen as far
        back as it can be, and there is room to play before the next reading.
        """
        self._events.extend(tuple(row) for row in ids.tolist())
        if len(ids) > self._window - self._cache.length:
            return self._read_again(self._window * 7 // 8)
        return self._read(len(self._events) - len(ids))

    def append(self, event: tuple[int, ...]) -> Tensor:
        """Append one event, and return the state (1, D) after it."""
        self._events.append(event)
        if self._cache.length == self._window:
            return self._read_again(self._window // 2)
        return self._read(len(self._events) - 1)

    def step_back(self, n_events: int) -> Tensor:
        """Keep the first `n_events` ≥ 1, and return the state (1, D) after the last of them.

        Raises:
            ValueError: There are not that many events.
        """
        if not 1 <= n_events <= len(self._events):
            raise ValueError(f"cannot step back to {n_events} of {len(self._events)} events")
        del self._events[n_events:]
        if n_events <= self._first:
            return self._read_again(self._window // 2)
        self._cache.truncate(n_events - 1 - self._first)
        return self._read(n_events - 1)

    def _read_again(self, n_events: int) -> Tensor:
        """Fill a fresh window with the last `n_events` events, at least one."""
        self._first = max(0, len(self._events) - max(1, n_events))
        self._cache.truncate(0)
        return self._read(self._first)

    def _read(self, start: int) -> Tensor:
        """Read the events from `start` on, chunk by chunk."""
        hidden = None
        for begin in range(start, len(self._events), PREFILL_CHUNK):
            hidden = self._pass(self._events[begin : begin + PREFILL_CHUNK])
        if hidden is None:
            raise ValueError("there must be at least one event to read")
        return hidden

    # Not around a generator's yield: the mode would leak into whoever consumes the generator.
    @torch.inference_mode()
    def _pass(self, events: list[tuple[int, ...]]) -> Tensor:
        ids = torch.tensor([events], dtype=torch.int64, device=self._device)
        return self._decoder.trunk(ids, cache=self._cache)[:, -1]
