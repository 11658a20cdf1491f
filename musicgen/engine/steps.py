"""What generation asks of an engine, and which engine answers.

Shapes: T events, K attributes, V ids of an attribute.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from musicgen.engine.filters import Filters

Event = tuple[int, ...]


class StepDecoder(Protocol):
    """One take's decoder: the events it has read, and scores for the next one.

    Events may wait to be read until scores are asked for; what is wrong with them is said at once.
    """

    @property
    def length(self) -> int:
        """How many events it has read, or has yet to read."""
        ...

    @property
    def capacity(self) -> int:
        """How many events there is room for: the model's window."""
        ...

    def prefill(self, events: Sequence[Event]) -> None:
        """Read T ≥ 1 events behind those read so far.

        Raises:
            ValueError: There is no event, or no room.
        """
        ...

    def append(self, event: Event) -> None:
        """Read one more event.

        Raises:
            ValueError: There is no room.
        """
        ...

    def truncate(self, length: int) -> None:
        """Keep the first `length` events; the next call must read one.

        Raises:
            ValueError: Fewer were read.
        """
        ...

    def logits(self, k: int, previous: Event) -> np.ndarray:
        """Score attribute `k` of the next event.

        Args:
            k: Which attribute, 0 … K − 1.
            previous: The k ids of the next event before it.

        Returns:
            (V_k,) float32, valid until the next call.
        """
        ...

    def draw(
        self, logits: np.ndarray, allowed: np.ndarray, filters: Filters, uniform: float
    ) -> int:
        """Choose an id, as `filters` says.

        Args:
            logits: (V_k,) float32, as `logits` gave them.
            allowed: (V_k,) bool, at least one True.
            filters: The filters' values.
            uniform: A random number in [0, 1).

        Raises:
            GenerationError: A score is not finite.
            ValueError: Nothing is allowed.
        """
        ...


class Engine(Protocol):
    """A model made ready to decode. It does not change: any number of takes may use it at once."""

    @property
    def name(self) -> str:
        """What computes, and how exactly: part of a take's recipe."""
        ...

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a listener should know of the choice, in sentences."""
        ...

    @property
    def takes_at_once(self) -> int | None:
        """How many takes are best made at a time, each in a thread; None: a thread a core."""
        ...

    @property
    def takes_a_thread(self) -> int:
        """How many takes a thread may best make by turns: what they read is read together.

        Where it is 1, nothing is read together, and an event is read when it is appended.
        """
        ...

    def read_together(self, takes: Sequence[StepDecoder]) -> list[bool]:
        """Read events of several takes in one go; nobody else may use them meanwhile.

        One event of each is read, and of a long prompt some more, but never so many that the others
        would have to wait for long. It changes nothing: what a take has not read by then, it reads
        when scores are asked for.

        Args:
            takes: Takes of this engine.

        Returns:
            Of each take, whether nothing is left to be read.
        """
        ...

    def begin(self) -> StepDecoder:
        """Return a decoder that has read nothing."""
        ...
