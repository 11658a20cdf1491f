"""Keys and values of the positions already read. The caller owns it, never the model.

L layers   B batch   H heads   S positions there is room for   T new positions   D head width
"""

from __future__ import annotations

import torch
from torch import Tensor

from musicgen.model.config import DecoderConfig


class LayerCache:
    """One layer's part of a `KVCache`, with the position at which it writes."""

    __slots__ = ("_keys", "_start", "_values")
    visible: Tensor | None = None  # what causality lets a query see

    def __init__(self, keys: Tensor, values: Tensor, start: int) -> None:
        self._keys, self._values, self._start = keys, values, start

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Write T new keys and values (B, H, T, D); return all so far (B, H, start + T, D)."""
        end = self._start + k.shape[2]
        self._keys[:, :, self._start : end] = k
        self._values[:, :, self._start : end] = v
        return self._keys[:, :, :end], self._values[:, :, :end]


class KVCache:
    """Room for S positions of keys and values in every layer.

    Attributes:
        length: Positions filled so far.
    """

    def __init__(self, keys: Tensor, values: Tensor, length: int = 0) -> None:
        """Wrap two tensors (L, B, H, S, D); see `allocate`."""
        self._keys, self._values = keys, values
        self.length = length

    @classmethod
    def allocate(
        cls,
        config: DecoderConfig,
        *,
        batch_size: int = 1,
        capacity: int | None = None,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> KVCache:
        """Make an empty cache of `capacity` positions (`max_seq_len` if None)."""
        shape = (
            config.n_layers,
            batch_size,
            config.n_heads,
            config.max_seq_len if capacity is None else capacity,
            config.d_head,
        )
        keys = torch.zeros(shape, device=device, dtype=dtype)
        return cls(keys, torch.zeros_like(keys))

    @property
    def capacity(self) -> int:
        """Positions there is room for."""
        return self._keys.shape[3]

    def open(self, n_positions: int) -> tuple[Tensor, list[LayerCache]]:
        """Return the next positions (T,), float32, and the layers' parts, which write there.

        Raises:
            ValueError: The cache would overflow.
        """
        self.check_room(n_positions)
        start, end = self.length, self.length + n_positions
        positions = torch.arange(start, end, device=self._keys.device, dtype=torch.float32)
        layers = range(len(self._keys))
        return positions, [LayerCache(self._keys[i], self._values[i], start) for i in layers]

    def advance(self, n_positions: int) -> None:
        """Count positions that every layer has written."""
        self.length += n_positions

    def check_room(self, n_positions: int) -> None:
        """Refuse positions for which there is no room.

        Raises:
            ValueError: The cache would overflow.
        """
        if self.length + n_positions > self.capacity:
            raise ValueError(
                f"{n_positions} more positions do not fit: {self.length} of {self.capacity} filled"
            )

    def truncate(self, length: int) -> None:
        """Step back to the first `length` positions.

        Raises:
            ValueError: Fewer positions than that are filled.
        """
        if not 0 <= length <= self.length:
            raise ValueError(f"cannot step back to {length} of {self.length} positions")
        self.length = length
