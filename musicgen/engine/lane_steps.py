"""The fast way on a GPU: takes that are made together share every step.

Shapes: T events, K attributes. This module imports numba, for the draws: import it only where
something is to be computed.
"""

from __future__ import annotations

import copy
import queue
import threading
import weakref
from collections.abc import Mapping, Sequence

import numpy as np
import torch

from musicgen.engine import compiled
from musicgen.engine.chooser import Chooser
from musicgen.engine.filters import Filters
from musicgen.engine.graphs import Capture, as_it_is
from musicgen.engine.rendezvous import Rendezvous
from musicgen.engine.static_steps import StaticSteps
from musicgen.engine.steps import Event, StepDecoder
from musicgen.model import Decoder

N_LANES = 8
"""Takes that share a step. It is the same for one take and for many: so are a take's numbers."""

_NAMES = {torch.bfloat16: "bf16", torch.float32: "float32"}


class LanesEngine:
    """A copy of a decoder, and lanes in which takes read. More are set up when all are taken."""

    def __init__(
        self,
        decoder: Decoder,
        *,
        dtype: torch.dtype,
        capture: Capture | None = None,
        n_lanes: int = N_LANES,
    ) -> None:
        """Copy the weights, and record the steps if that is possible.

        Args:
            decoder: The model; it computes where it is.
            dtype: Of weights, keys and values: bfloat16 or float32.
            capture: Records a call; None computes operation by operation.
            n_lanes: How many takes share a step.
        """
        self.takes_at_once = n_lanes
        self.takes_a_thread = 1  # they meet in `Batch`
        self.window, self.vocab_sizes = decoder.config.max_seq_len, decoder.config.vocab_sizes
        self._decoder = copy.deepcopy(decoder).to(dtype).eval()
        self._capture = capture or as_it_is
        self._device, self._taking = threading.Lock(), threading.Lock()
        self._n_batches = 0
        self._free: list[Lane] = []
        # Lanes come back whenever a take is forgotten: a simple queue bears that at any time.
        self._given_back: queue.SimpleQueue[Lane] = queue.SimpleQueue()
        self.name = f"lanes-{_NAMES[dtype]}"
        self.warnings: tuple[str, ...] = ()
        try:
            self._set_up_lanes()
        except RuntimeError as error:
            if capture is None:
                raise
            self.warnings = (_not_recorded(error),)
            self._capture = as_it_is
            self._set_up_lanes()
        else:
            self.name += "-graph" * (capture is not None)
        Chooser(self.vocab_sizes).try_out()
        self.warnings += compiled.warnings_about(compiled.draw())

    def begin(self) -> LaneSteps:
        """Return a decoder that has read nothing."""
        with self._taking:
            while not self._given_back.empty():
                self._free.append(self._given_back.get())
            if not self._free:
                self._set_up_lanes()
            # Those of the earliest batch first: takes that are few should not be spread.
            lane = min(self._free, key=lambda each: each.order)
            self._free.remove(lane)
        steps = LaneSteps(self, lane)
        weakref.finalize(steps, self._given_back.put, lane).atexit = False
        return steps

    def read_together(self, takes: Sequence[StepDecoder]) -> list[bool]:
        """Nothing waits to be read; see `Engine`."""
        return [True] * len(takes)

    def _set_up_lanes(self) -> None:
        with self._device:
            static = StaticSteps(self._decoder, self.takes_at_once, self._capture)
        batch = Batch(static, self._device, len(self.vocab_sizes))
        n_before = self._n_batches * self.takes_at_once
        self._free += [Lane(batch, i, n_before + i) for i in range(self.takes_at_once)]
        self._n_batches += 1


def _not_recorded(error: RuntimeError) -> str:
    why = f"{type(error).__name__}: {error}".splitlines()[0][:200]
    return f"The GPU's steps could not be recorded ({why}); they were computed one by one, slower."


class Batch:
    """Lanes that are computed together, for threads that meet."""

    def __init__(self, static: StaticSteps, device: threading.Lock, n_attributes: int) -> None:
        """Take the lanes, the lock of whoever uses their device, and K."""
        self._static, self._device, self._n_attributes = static, device, n_attributes
        self._meeting: Rendezvous[tuple[int, Event], np.ndarray] = Rendezvous(self._serve)

    def prefill(self, lane: int, length: int, events: Sequence[Event]) -> None:
        """Read events in one lane; see `StaticSteps.prefill`."""
        with self._device:
            self._static.prefill(lane, length, events)

    def read(self, lane: int, position: int, event: Event) -> np.ndarray:
        """Read an event; return scores (V_0,) of the next one's attribute 0."""
        # The last stage: takes that have come apart meet where an event begins.
        return self._meeting.ask(lane, self._n_attributes, (position, event))

    def score(self, lane: int, k: int, previous: Event) -> np.ndarray:
        """Return scores (V_k,) of attribute k ≥ 1."""
        return self._meeting.ask(lane, k, (0, previous))

    def _serve(
        self, stage: int, wishes: Mapping[int, tuple[int, Event]]
    ) -> Mapping[int, np.ndarray]:
        with self._device:
            if stage == self._n_attributes:
                return self._static.read(wishes)
            previous = {lane: ids for lane, (_, ids) in wishes.items()}
            return self._static.score(stage, previous)


class Lane:
    """A place in a batch, for one take at a time."""

    __slots__ = ("batch", "index", "order")

    def __init__(self, batch: Batch, index: int, order: int) -> None:
        self.batch, self.index, self.order = batch, index, order


class LaneSteps:
    """A `StepDecoder` in a lane of a batch."""

    def __init__(self, engine: LanesEngine, lane: Lane) -> None:
        self._vocab_sizes, self._window = engine.vocab_sizes, engine.window
        self._batch, self._lane = lane.batch, lane.index
        self._chooser = Chooser(engine.vocab_sizes)
        self._length = 0
        self._first: np.ndarray | None = None  # (V_0,), after the last event

    @property
    def length(self) -> int:
        """How many events it has read."""
        return self._length

    @property
    def capacity(self) -> int:
        """How many events there is room for."""
        return self._window

    def prefill(self, events: Sequence[Event]) -> None:
        """Read T ≥ 1 events, the last as a step of its own; see `StepDecoder`."""
        if not len(events):
            raise ValueError("there must be at least one event to read")
        for event in events:
            self._check_ids(event, len(self._vocab_sizes))
        self._check_room(len(events))
        self._first = None
        if len(events) > 1:
            self._batch.prefill(self._lane, self._length, events[:-1])
            self._length += len(events) - 1
        self.append(events[-1])

    def append(self, event: Event) -> None:
        """Read one more event; see `StepDecoder`."""
        self._check_ids(event, len(self._vocab_sizes))
        self._check_room(1)
        self._first = None  # should it fail, there is no state
        self._first = self._batch.read(self._lane, self._length, event)
        self._length += 1

    def truncate(self, length: int) -> None:
        """Keep the first `length` events; see `StepDecoder`."""
        if not 0 <= length <= self._length:
            raise ValueError(f"cannot step back to {length} of {self._length} positions")
        self._length = length
        self._first = None

    def logits(self, k: int, previous: Event) -> np.ndarray:
        """Score attribute `k` of the next event; see `StepDecoder`."""
        if self._first is None:
            raise ValueError("no event was read since the last step back")
        self._check_ids(previous, k)
        return self._batch.score(self._lane, k, previous) if k else self._first

    def draw(
        self, logits: np.ndarray, allowed: np.ndarray, filters: Filters, uniform: float
    ) -> int:
        """Choose an id; see `StepDecoder`."""
        return self._chooser.draw(logits, allowed, filters, uniform)

    def _check_ids(self, ids: Event, n_attributes: int) -> None:
        """Refuse what would end every take: a GPU that is asked for a wrong row stops for good."""
        if len(ids) != n_attributes or not all(
            0 <= i < size for i, size in zip(ids, self._vocab_sizes, strict=False)
        ):
            raise ValueError(f"{ids} are not {n_attributes} ids of their attributes' vocabularies")

    def _check_room(self, n_events: int) -> None:
        if self._length + n_events > self._window:
            raise ValueError(
                f"{n_events} more events do not fit: {self._length} of {self._window} read"
            )
