"""The reference: torch computes, numpy chooses. On any device, and slowly.

Shapes: T events, K attributes, C width of the model.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from musicgen.engine.filters import Filters, checked_logits, choose, filtered_probabilities
from musicgen.engine.steps import Event, StepDecoder
from musicgen.model import Decoder, KVCache

PREFILL_CHUNK = 256
"""Events read in one pass: bounds the memory of a prefill, and is the same on every machine."""


class TorchEngine:
    """A decoder as it is. It is only read; what it becomes later counts."""

    def __init__(self, decoder: Decoder, *, warnings: tuple[str, ...] = ()) -> None:
        """Take a decoder, and sentences on why it was taken."""
        self.name = "torch"
        self.warnings = warnings
        self.takes_at_once: int | None = None
        self.takes_a_thread = 1
        self._decoder = decoder

    def begin(self) -> TorchSteps:
        """Return a decoder that has read nothing."""
        return TorchSteps(self._decoder)

    def read_together(self, takes: Sequence[StepDecoder]) -> list[bool]:
        """Nothing waits to be read; see `Engine`."""
        return [True] * len(takes)


class TorchSteps:
    """A `StepDecoder` by torch."""

    def __init__(self, decoder: Decoder) -> None:
        weight = next(decoder.parameters())
        self._decoder = decoder
        self._device = weight.device
        self._cache = KVCache.allocate(decoder.config, device=weight.device, dtype=weight.dtype)
        self._state: torch.Tensor | None = None  # (1, C), after the last event

    @property
    def length(self) -> int:
        """How many events it has read."""
        return self._cache.length

    @property
    def capacity(self) -> int:
        """How many events there is room for."""
        return self._cache.capacity

    # Not around a generator's yield: the mode would leak into whoever consumes the generator.
    @torch.inference_mode()
    def prefill(self, events: Sequence[Event]) -> None:
        """Read T ≥ 1 events, chunk by chunk; see `StepDecoder`."""
        if not events:
            raise ValueError("there must be at least one event to read")
        self._cache.check_room(len(events))
        for begin in range(0, len(events), PREFILL_CHUNK):
            chunk = [events[begin : begin + PREFILL_CHUNK]]
            ids = torch.tensor(chunk, dtype=torch.int64, device=self._device)
            self._state = self._decoder.trunk(ids, cache=self._cache)[:, -1]

    def append(self, event: Event) -> None:
        """Read one more event; see `StepDecoder`."""
        self.prefill([event])

    def truncate(self, length: int) -> None:
        """Keep the first `length` events; see `StepDecoder`."""
        self._cache.truncate(length)
        self._state = None

    @torch.inference_mode()
    def logits(self, k: int, previous: Event) -> np.ndarray:
        """Score attribute `k` of the next event; see `StepDecoder`."""
        if self._state is None:
            raise ValueError("no event was read since the last step back")
        decided = torch.tensor([previous], dtype=torch.int64, device=self._device)
        return self._decoder.attribute_logits(self._state, k, decided)[0].float().cpu().numpy()

    def draw(
        self, logits: np.ndarray, allowed: np.ndarray, filters: Filters, uniform: float
    ) -> int:
        """Choose an id; see `StepDecoder`."""
        chances = filtered_probabilities(checked_logits(logits), allowed, filters)
        return choose(chances, uniform)
