"""The fast way on a CPU: a step is one call of compiled code, on one thread.

Shapes: T events, K attributes, C width of the model, V ids of an attribute. This module imports
numba: import it only where something is to be computed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from musicgen.engine import compiled
from musicgen.engine.chooser import Chooser
from musicgen.engine.filters import Filters
from musicgen.engine.layout import TOKENS, make_plan
from musicgen.engine.packing import empty_cache, empty_work, pack_weights
from musicgen.engine.steps import Event
from musicgen.model import Decoder


class NumbaEngine:
    """A copy of a decoder's weights, and the code that computes with them."""

    def __init__(self, decoder: Decoder, *, as_int8: bool) -> None:
        """Copy the weights; compile, or load what was compiled before.

        Args:
            decoder: The model.
            as_int8: Round the weights, keys and values to int8; else float32 as they are.
        """
        self.name = "numba-int8" if as_int8 else "numba-float32"
        self.takes_at_once: int | None = None
        self.window = decoder.config.max_seq_len
        self.vocab_sizes = decoder.config.vocab_sizes
        self.sizes, self.weights = pack_weights(decoder, as_int8=as_int8)
        self._try_out()
        self.warnings = compiled.warnings_about(
            compiled.read_events(), compiled.score_attribute(), compiled.draw()
        )

    def begin(self) -> NumbaSteps:
        """Return a decoder that has read nothing."""
        return NumbaSteps(self)

    def _try_out(self) -> None:
        """Make one event, which compiles everything that a take will call."""
        steps = self.begin()
        steps.append((0,) * len(self.vocab_sizes))
        steps.logits(0, ())
        Chooser(self.vocab_sizes).try_out()


class NumbaSteps:
    """A `StepDecoder` by compiled code: this take's cache, and room to compute."""

    def __init__(self, engine: NumbaEngine) -> None:
        self._engine = engine
        self._read, self._score = compiled.read_events(), compiled.score_attribute()
        self._chooser = Chooser(engine.vocab_sizes)
        self._cache = empty_cache(engine.sizes)
        self._work = empty_work(engine.sizes)
        self._plan = make_plan(engine.sizes, engine.weights, self._cache, self._work)
        self._event = np.zeros((1, len(engine.vocab_sizes)), dtype=np.int64)
        self._previous = [np.zeros(k, dtype=np.int64) for k in range(len(engine.vocab_sizes))]
        self._logits = [np.zeros(size, dtype=np.float32) for size in engine.vocab_sizes]
        self._length = 0
        self._has_state = False

    @property
    def length(self) -> int:
        """How many events it has read."""
        return self._length

    @property
    def capacity(self) -> int:
        """How many events there is room for."""
        return self._engine.window

    def prefill(self, events: Sequence[Event]) -> None:
        """Read T ≥ 1 events, some side by side; see `StepDecoder`."""
        if not len(events):
            raise ValueError("there must be at least one event to read")
        ids = np.array(events, dtype=np.int64)
        if ids.shape[1] != self._event.shape[1]:
            raise ValueError(f"events of shape {ids.shape} are not (T, {self._event.shape[1]})")
        self._check_room(len(ids))
        for begin in range(0, len(ids), TOKENS):
            self._read_part(ids[begin : begin + TOKENS])

    def append(self, event: Event) -> None:
        """Read one more event; see `StepDecoder`."""
        self._check_room(1)
        self._event[0] = event  # refuses another number of ids
        self._read_part(self._event)

    def _check_room(self, n_events: int) -> None:
        if self._length + n_events > self.capacity:
            raise ValueError(
                f"{n_events} more events do not fit: {self._length} of {self.capacity} read"
            )

    def _read_part(self, ids: np.ndarray) -> None:
        matrix, narrow = self._engine.weights.matrix, self._work.narrow
        if not self._read(self._plan, matrix, narrow, ids, self._length):
            raise ValueError("an id is outside its attribute's vocabulary")
        self._length += len(ids)
        self._has_state = True

    def truncate(self, length: int) -> None:
        """Keep the first `length` events; see `StepDecoder`."""
        if not 0 <= length <= self._length:
            raise ValueError(f"cannot step back to {length} of {self._length} positions")
        self._length = length
        self._has_state = False

    def logits(self, k: int, previous: Event) -> np.ndarray:
        """Score attribute `k` of the next event; see `StepDecoder`."""
        if not self._has_state:
            raise ValueError("no event was read since the last step back")
        engine, logits, decided = self._engine, self._logits[k], self._previous[k]
        matrix, narrow = engine.weights.matrix, self._work.narrow
        if len(previous) == k:
            decided[:] = previous
        if len(previous) != k or not self._score(self._plan, matrix, narrow, decided, logits):
            raise ValueError(f"{previous} are not the ids before attribute {k}")
        return logits

    def draw(
        self, logits: np.ndarray, allowed: np.ndarray, filters: Filters, uniform: float
    ) -> int:
        """Choose an id; see `StepDecoder`."""
        return self._chooser.draw(logits, allowed, filters, uniform)
