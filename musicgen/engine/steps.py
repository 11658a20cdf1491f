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
    """One take's decoder: the events it has read, and scores for the next one."""

    @property
    def length(self) -> int:
        """How many events it has read."""
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
        """How many takes are best made at a time; None: one a core."""
        ...

    def begin(self) -> StepDecoder:
        """Return a decoder that has read nothing."""
        ...
