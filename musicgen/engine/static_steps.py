"""A step of several takes at once by torch, in shapes that never change.

It is the model's own pass (`Decoder.trunk`, `attribute_logits`) over a `LaneCache`. All lanes are
always computed, whoever asks: a take's numbers do not depend on how many others there are.

Shapes: B lanes, K attributes, C width of the model, V ids of an attribute.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from musicgen.engine.graphs import Call, Capture
from musicgen.engine.steps import Event
from musicgen.engine.torch_steps import PREFILL_CHUNK
from musicgen.model import Decoder, LaneCache


class StaticSteps:
    """B lanes of a decoder. One thread at a time may use it."""

    @torch.inference_mode()
    def __init__(self, decoder: Decoder, n_lanes: int, capture: Capture) -> None:
        """Set the lanes up, and record what they will compute.

        Args:
            decoder: The model; it must stay as it is.
            n_lanes: Number B of lanes.
            capture: Makes a call of fixed shapes a faster one.
        """
        config, weight = decoder.config, next(decoder.parameters())
        self._decoder = decoder
        self._window, self._n_attributes = config.max_seq_len, len(config.vocab_sizes)
        # What is told before a call, in one tensor: K ids and a position for each lane.
        self._told = torch.zeros(
            (n_lanes, self._n_attributes + 1), dtype=torch.int64, device=weight.device
        )
        self._told[:, -1] = self._window
        self._cache = LaneCache.allocate(config, self._told[:, -1], dtype=weight.dtype)
        self._state = torch.zeros(
            (n_lanes, config.d_model), dtype=weight.dtype, device=weight.device
        )
        # While they are recorded no lane has anything to read.
        self._calls = [capture(call) for call in self._all_calls()]

    def _all_calls(self) -> list[Call]:
        """Return reading, which scores attribute 0 too, and scoring each of the others."""

        def scoring(k: int) -> Callable[[], Tensor]:
            return lambda: self._score(k)

        return [self._read, *(scoring(k) for k in range(1, self._n_attributes))]

    def _read(self) -> Tensor:
        """Read an event in each lane that has one; return scores (B, V_0) of attribute 0."""
        ids, positions = self._told[:, None, :-1], self._told[:, -1:]
        state = self._decoder.trunk(ids, cache=self._cache)[:, 0]
        self._state.copy_(torch.where(positions < self._window, state, self._state))
        return self._score(0)

    def _score(self, k: int) -> Tensor:
        return self._decoder.attribute_logits(self._state, k, self._told[:, :k]).float()

    @torch.inference_mode()
    def prefill(self, lane: int, length: int, events: Sequence[Event]) -> None:
        """Read T ≥ 1 events behind the first `length` of a lane, for which there is room.

        The shapes are those of the events. No state is left: another event must be read.
        """
        cache = self._cache.lane(lane, length)
        for begin in range(0, len(events), PREFILL_CHUNK):
            chunk = [events[begin : begin + PREFILL_CHUNK]]
            ids = torch.tensor(chunk, dtype=torch.int64, device=self._told.device)
            self._decoder.trunk(ids, cache=cache)

    def read(self, events: Mapping[int, tuple[int, Event]]) -> dict[int, np.ndarray]:
        """Read one event in some lanes.

        Args:
            events: By lane, a position within the window and the event that comes to stand there.

        Returns:
            By lane, scores (V_0,) float32 of the next event's attribute 0.
        """
        rows = {lane: (*event, position) for lane, (position, event) in events.items()}
        return self._called(0, rows)

    def score(self, k: int, previous: Mapping[int, Event]) -> dict[int, np.ndarray]:
        """Score attribute k ≥ 1 of the next event in some lanes that have read one.

        Args:
            k: Which attribute.
            previous: By lane, the k ids of the next event before it.

        Returns:
            By lane, scores (V_k,) float32.
        """
        return self._called(k, previous)

    @torch.inference_mode()
    def _called(self, which: int, rows: Mapping[int, Sequence[int]]) -> dict[int, np.ndarray]:
        told = np.zeros(self._told.shape, dtype=np.int64)
        told[:, -1] = self._window
        for lane, row in rows.items():
            told[lane, : len(row)] = row
        self._told.copy_(torch.from_numpy(told))
        # A copy: the next call writes its scores into the same tensor.
        scores = self._calls[which]().to("cpu", copy=True).numpy()
        return {lane: scores[lane] for lane in rows}
