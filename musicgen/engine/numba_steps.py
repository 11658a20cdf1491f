"""The fast way on a CPU: compiled code reads events of one take or of several, on one thread.

Events wait until scores are asked for, or until somebody has those of several takes read in one
go: then the weights are fetched once for all. Which it was changes no number; see `kernels`.

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
from musicgen.engine.steps import Event, StepDecoder
from musicgen.model import Decoder

TAKES_A_THREAD = 8
"""More takes read together gain little: by then arithmetic costs more than fetching weights."""


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
        self.takes_a_thread = TAKES_A_THREAD
        self.window = decoder.config.max_seq_len
        self.vocab_sizes = decoder.config.vocab_sizes
        self.sizes, self.weights = pack_weights(decoder, as_int8=as_int8)
        self._read = compiled.read_events()
        self._try_out()
        self.warnings = compiled.warnings_about(
            self._read, compiled.score_attribute(), compiled.draw()
        )

    def begin(self) -> NumbaSteps:
        """Return a decoder that has read nothing."""
        return NumbaSteps(self)

    def read_together(self, takes: Sequence[StepDecoder]) -> list[bool]:
        """Read events of several takes in one go; see `Engine`."""
        mine = [take for take in takes if isinstance(take, NumbaSteps)]
        waiting = [take for take in mine if take.unread]
        for begin in range(0, len(waiting), TOKENS):
            self.read_some(waiting[begin : begin + TOKENS])
        return [not (isinstance(take, NumbaSteps) and take.unread) for take in takes]

    def read_some(self, takes: Sequence[NumbaSteps]) -> None:
        """Read one event of each of 1 to TOKENS takes, and more of the first that have more.

        Args:
            takes: Takes of this engine that have events to read.
        """
        ids: list[Event] = []
        places: list[tuple[int, int, int]] = []
        n_each: list[int] = []
        for i, take in enumerate(takes):
            n_others = len(takes) - i - 1
            n_each.append(min(len(take.unread), TOKENS - len(ids) - n_others))
            ids += take.unread[: n_each[i]]
            places += [(*take.place, take.n_read + n) for n in range(n_each[i])]
        room = takes[0]
        self._read(
            room.plan,
            self.weights.matrix,
            room.narrow,
            np.array(ids, dtype=np.int64),
            np.array(places, dtype=np.int64).ravel(),
        )
        for take, n in zip(takes, n_each, strict=True):
            take.n_read += n
            del take.unread[:n]

    def _try_out(self) -> None:
        """Make one event, which compiles everything that a take will call."""
        steps = self.begin()
        steps.append((0,) * len(self.vocab_sizes))
        steps.logits(0, ())
        Chooser(self.vocab_sizes).try_out()


class NumbaSteps:
    """A `StepDecoder` by compiled code: this take's cache, and room to compute.

    Attributes:
        unread: Events that come behind those that were read.
        n_read: How many were read.
        plan: What the compiled code opens again, see `layout.make_plan`;
        narrow: `Work.narrow` of the plan;
        place: its address and size.
    """

    def __init__(self, engine: NumbaEngine) -> None:
        self._engine = engine
        self._score = compiled.score_attribute()
        self._chooser = Chooser(engine.vocab_sizes)
        self._cache = empty_cache(engine.sizes)
        self._work = empty_work(engine.sizes)
        self.narrow = self._work.narrow
        self.plan = make_plan(engine.sizes, engine.weights, self._cache, self._work)
        self.place = (self.plan.ctypes.data, self.plan.size)
        self._previous = [np.zeros(k, dtype=np.int64) for k in range(len(engine.vocab_sizes))]
        self._logits = [np.zeros(size, dtype=np.float32) for size in engine.vocab_sizes]
        self.unread: list[Event] = []
        self.n_read = 0
        self._has_last = False  # whether an event came since the last step back

    @property
    def length(self) -> int:
        """How many events it has taken."""
        return self.n_read + len(self.unread)

    @property
    def capacity(self) -> int:
        """How many events there is room for."""
        return self._engine.window

    def prefill(self, events: Sequence[Event]) -> None:
        """Take T ≥ 1 events; see `StepDecoder`."""
        if not len(events):
            raise ValueError("there must be at least one event to read")
        sizes = self._engine.vocab_sizes
        for event in events:
            if len(event) != len(sizes):
                raise ValueError(f"{event} are not {len(sizes)} ids")
            # Now, and not when it is read: compiled code looks at no bounds.
            if not all(0 <= i < size for i, size in zip(event, sizes, strict=True)):
                raise ValueError(f"an id of {event} is outside its attribute's vocabulary")
        if self.length + len(events) > self.capacity:
            raise ValueError(
                f"{len(events)} more events do not fit: {self.length} of {self.capacity} taken"
            )
        self.unread += events
        self._has_last = True

    def append(self, event: Event) -> None:
        """Take one more event; see `StepDecoder`."""
        self.prefill((event,))

    def truncate(self, length: int) -> None:
        """Keep the first `length` events; see `StepDecoder`."""
        if not 0 <= length <= self.length:
            raise ValueError(f"cannot step back to {length} of {self.length} positions")
        self.n_read = min(self.n_read, length)
        del self.unread[length - self.n_read :]
        self._has_last = False

    def logits(self, k: int, previous: Event) -> np.ndarray:
        """Score attribute `k` of the next event; see `StepDecoder`."""
        if not self._has_last:
            raise ValueError("no event was read since the last step back")
        while self.unread:
            self._engine.read_some((self,))
        engine, logits, decided = self._engine, self._logits[k], self._previous[k]
        if len(previous) == k:
            decided[:] = previous
        if len(previous) != k or not self._score(
            self.plan, engine.weights.matrix, self.narrow, decided, logits
        ):
            raise ValueError(f"{previous} are not the ids before attribute {k}")
        return logits

    def draw(
        self, logits: np.ndarray, allowed: np.ndarray, filters: Filters, uniform: float
    ) -> int:
        """Choose an id; see `StepDecoder`."""
        return self._chooser.draw(logits, allowed, filters, uniform)
