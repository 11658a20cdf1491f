"""A decoder's weights as the compiled code reads them: rounded to int8 or not, tile by tile.

Letters as in `layout`. int8 weights have one scale a row (the largest weight of the row is 127).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from musicgen.engine.layout import (
    ALIGNMENT,
    ROWS,
    TOKENS,
    VALUE_ROWS,
    Cache,
    Sizes,
    Weights,
    Work,
    aligned,
    up_to,
)
from musicgen.model import Decoder, DecoderConfig
from musicgen.model.rope import rotation_at

LARGEST_INT8 = 127


def sizes_of(config: DecoderConfig, group: int) -> Sizes:
    """Return what the compiled code must know of a model.

    Args:
        config: The model's sizes.
        group: Columns of a group: 2 for int8 weights, 1 for float32.
    """
    d, n_ff = config.d_model, config.d_ff
    shapes = ((3 * d, d), (d, d), (2 * n_ff, d), (d, n_ff))
    n_positions = up_to(config.max_seq_len, ROWS)
    widest = max(3 * d, 2 * n_ff, 2 * config.d_head_ff, *config.vocab_sizes, ALIGNMENT)
    return Sizes(
        d_model=d,
        n_heads=config.n_heads,
        d_head=config.d_head,
        d_ff=n_ff,
        d_head_ff=config.d_head_ff,
        n_layers=config.n_layers,
        n_attributes=len(config.vocab_sizes),
        n_positions=n_positions,
        group=group,
        stride=up_to(widest, ROWS) + ROWS,
        layer_weights=sum(up_to(rows, ROWS) * up_to(columns, group) for rows, columns in shapes),
        layer_rows=sum(up_to(rows, ROWS) for rows, _ in shapes),
        layer_norms=2 * d + 2 * config.d_head,
        cell_keys=n_positions * config.d_head,
        cell_values=n_positions * up_to(config.d_head, VALUE_ROWS),
    )


def pack_weights(decoder: Decoder, *, as_int8: bool) -> tuple[Sizes, Weights]:
    """Return a copy of a decoder's weights as the compiled code reads them."""
    config = decoder.config
    sizes = sizes_of(config, 2 if as_int8 else 1)
    state = {
        key: value.detach().float().cpu().numpy() for key, value in decoder.state_dict().items()
    }
    n_attributes = sizes.n_attributes
    packer = _Packer(as_int8=as_int8)
    for layer in range(sizes.n_layers):
        block = f"blocks.{layer}"
        qkv = [state[f"{block}.attention.to_{name}.weight"] for name in "qkv"]
        packer.matrix(np.concatenate(qkv))
        packer.matrix(state[f"{block}.attention.to_out.weight"])
        packer.matrix(state[f"{block}.mlp.gate_up.weight"])
        packer.matrix(state[f"{block}.mlp.down.weight"])
        packer.norm(state[f"{block}.attention_norm.weight"])
        packer.norm(state[f"{block}.mlp_norm.weight"])
        packer.norm(state[f"{block}.attention.q_norm.weight"])
        packer.norm(state[f"{block}.attention.k_norm.weight"])
    packer.norm(state["final_norm.weight"])
    starts = np.zeros((3, n_attributes), dtype=np.int64)
    for k in range(n_attributes):
        starts[:, k] = packer.here
        head = f"heads.{k}"
        packer.matrix(state[f"{head}.mlp.gate_up.weight"])
        packer.matrix(state[f"{head}.mlp.down.weight"])
        packer.matrix(state[f"embeddings.{k}.weight"])
        first = np.ones(sizes.d_model, dtype=np.float32)  # hears nothing before it
        packer.norm(state[f"{head}.decided_norm.weight"] if k else first)
        packer.norm(state[f"{head}.mlp_norm.weight"])
        packer.norm(state[f"{head}.out_norm.weight"])
    positions = torch.arange(sizes.n_positions, dtype=torch.float32)
    rotation = rotation_at(positions, sizes.d_head, config.rope_base, torch.float32)
    return sizes, Weights(
        matrix=packer.packed_matrices(),
        scale=_placed(packer.scales, np.float32),
        norm=_placed(packer.norms, np.float32),
        embedding=_placed(
            [state[f"embeddings.{k}.weight"] for k in range(n_attributes)], np.float32
        ),
        first_id=np.cumsum([0, *config.vocab_sizes[:-1]]).astype(np.int64),
        n_ids=np.array(config.vocab_sizes, dtype=np.int64),
        head_matrix=starts[0].copy(),
        head_row=starts[1].copy(),
        head_norm=starts[2].copy(),
        cos=_placed([rotation.cos.numpy()], np.float32),
        sin=_placed([rotation.sin.numpy()], np.float32),
        ones=np.ones(max(VALUE_ROWS, sizes.d_model), dtype=np.float32),
    )


def empty_cache(sizes: Sizes) -> Cache:
    """Return room for S positions."""
    dtype = np.int8 if sizes.group == 2 else np.float32
    n_cells = sizes.n_layers * sizes.n_heads
    n_scales = n_cells * sizes.n_positions
    cache = Cache(
        keys=aligned(n_cells * sizes.cell_keys, dtype),
        key_scale=aligned(n_scales, np.float32),
        values=aligned(n_cells * sizes.cell_values, dtype),
        value_scale=aligned(n_scales, np.float32),
    )
    cache.key_scale[:] = 1.0
    cache.value_scale[:] = 1.0
    return cache


def empty_work(sizes: Sizes) -> Work:
    """Return room for one thread's computing."""
    width = sizes.stride
    dtype = np.int16 if sizes.group == 2 else np.float32
    return Work(
        x=aligned(TOKENS * width, np.float32),
        h=aligned(TOKENS * width, np.float32),
        y=aligned(TOKENS * width, np.float32),
        narrow=aligned(TOKENS * width, dtype),
        narrow_scale=aligned(TOKENS, np.float32),
        score=aligned(sizes.n_positions, np.float32),
        narrow_score=aligned(sizes.n_positions, dtype),
        head=aligned(sizes.d_head, np.float32),
        cell=aligned(sizes.d_head, np.int8 if sizes.group == 2 else np.float32),
        state=aligned(sizes.d_model, np.float32),
    )


class _Packer:
    """Lays matrices and norms one behind the other."""

    def __init__(self, *, as_int8: bool) -> None:
        self._as_int8 = as_int8
        self._group = 2 if as_int8 else 1
        self._matrices: list[np.ndarray] = []
        self.scales: list[np.ndarray] = []
        self.norms: list[np.ndarray] = []

    @property
    def here(self) -> tuple[int, int, int]:
        """Where the next matrix, its scales and the next norm will begin."""
        return tuple(sum(len(part) for part in parts) for parts in self._parts())  # pyright: ignore

    def _parts(self) -> Iterator[list[np.ndarray]]:
        yield from (self._matrices, self.scales, self.norms)

    def norm(self, gain: np.ndarray) -> None:
        """Take the gains of a norm."""
        self.norms.append(gain)

    def matrix(self, weight: np.ndarray) -> None:
        """Take a matrix (rows, columns) of float32."""
        rows, columns = weight.shape
        padded = np.zeros((up_to(rows, ROWS), up_to(columns, self._group)), dtype=np.float32)
        padded[:rows, :columns] = weight
        scale = np.ones(len(padded), dtype=np.float32)
        if self._as_int8:
            largest = np.abs(padded).max(axis=1)
            scale = np.where(largest == 0, 1.0, largest / LARGEST_INT8).astype(np.float32)
            # What is no number stays none: its row's scale is not finite either.
            padded = np.nan_to_num(np.rint(padded / scale[:, None])).astype(np.int8)
        tiles = padded.reshape(-1, ROWS, padded.shape[1] // self._group, self._group)
        self._matrices.append(np.ascontiguousarray(tiles.transpose(0, 2, 1, 3)).ravel())
        self.scales.append(scale)

    def packed_matrices(self) -> np.ndarray:
        """Return all matrices in one array."""
        return _placed(self._matrices, np.int8 if self._as_int8 else np.float32)


def _placed(parts: list[np.ndarray], dtype: np.typing.DTypeLike) -> np.ndarray:
    room = aligned(sum(part.size for part in parts), dtype)
    at = 0
    for part in parts:
        room[at : at + part.size] = part.ravel()
        at += part.size
    return room
