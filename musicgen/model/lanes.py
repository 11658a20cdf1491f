"""Keys and values of several takes side by side, in shapes that never change.

A step's operations are then the same whatever the takes have read, so that they can be recorded
once and replayed. Nothing is appended: a key is written at its lane's position, attention reads all
positions, and a mask hides those that are not filled.

L layers   B lanes   H heads   S positions there is room for   D head width
"""

from __future__ import annotations

import torch
from torch import Tensor

from musicgen.model.cache import KVCache
from musicgen.model.config import DecoderConfig

SPARE = 16
"""Positions behind the window: one for lanes that have nothing to read, the rest for alignment."""


class LaneLayer:
    """One layer's part of a `LaneCache`."""

    __slots__ = ("_keys", "_place", "_values", "visible")

    def __init__(self, keys: Tensor, values: Tensor, place: Tensor, visible: Tensor) -> None:
        self._keys, self._values, self._place = keys, values, place
        self.visible = visible  # (B, 1, 1, S)

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Write a new key and value (B, H, 1, D) a lane; return all (B, H, S, D)."""
        place = self._place.expand_as(k)
        self._keys.scatter_(2, place, k)
        self._values.scatter_(2, place, v)
        return self._keys, self._values


class LaneCache:
    """Room for a window of keys and values in every lane and layer."""

    def __init__(self, keys: Tensor, values: Tensor, positions: Tensor) -> None:
        """Wrap two tensors (L, B, H, S, D); see `allocate`."""
        self._keys, self._values, self._positions = keys, values, positions
        self._window = keys.shape[3] - SPARE
        self._places = torch.arange(keys.shape[3], device=keys.device)

    @classmethod
    def allocate(
        cls, config: DecoderConfig, positions: Tensor, *, dtype: torch.dtype = torch.float32
    ) -> LaneCache:
        """Make an empty cache.

        Args:
            config: The sizes of the model.
            positions: Where each lane writes next (B,) int64, 0 … `max_seq_len`. It stays the
                caller's, who changes it between steps. At `max_seq_len`, behind the window, a lane
                reads nothing: what it writes there is seen by no one.
            dtype: Of keys and values.
        """
        shape = (
            config.n_layers,
            len(positions),
            config.n_heads,
            config.max_seq_len + SPARE,
            config.d_head,
        )
        keys = torch.zeros(shape, device=positions.device, dtype=dtype)
        return cls(keys, torch.zeros_like(keys), positions)

    def open(self, n_positions: int) -> tuple[Tensor, list[LaneLayer]]:
        """Return the lanes' positions (B, 1, 1), float32, and the layers' parts.

        Raises:
            ValueError: A lane is to read another number of events than one.
        """
        if n_positions != 1:
            raise ValueError(f"a lane reads one event at a time, not {n_positions}")
        place = self._positions[:, None, None, None]
        visible = self._places <= place
        layers = [
            LaneLayer(self._keys[i], self._values[i], place, visible)
            for i in range(len(self._keys))
        ]
        return self._positions[:, None, None].float(), layers

    def advance(self, n_positions: int) -> None:
        """Count nothing: the caller tells the lanes' positions before every step."""

    def lane(self, index: int, length: int) -> KVCache:
        """Return one lane as a cache of its own that has read `length` events, to read many."""
        lane = slice(index, index + 1)
        keys = self._keys[:, lane, :, : self._window]
        return KVCache(keys, self._values[:, lane, :, : self._window], length)
