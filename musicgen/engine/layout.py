"""How weights and caches lie in memory, said once for those who pack and those who compute.

    C width of the model   H heads   D width of a head   F hidden width of an MLP   L layers
    S positions   K attributes   V ids of an attribute   R rows of a tile   G columns of a group

Every matrix is cut into tiles of R rows, and a tile's columns into groups of G; see `vectors`.
Keys lie like a matrix of one row a position, values like one of one row a dimension.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

ROWS = 32
"""Rows R of a tile, and positions of a tile of keys."""

VALUE_ROWS = 16
"""Rows of a tile of values: dimensions of a head."""

TOKENS, BLOCK = 16, 4
"""Events that are read in one go while a prompt is read, and those of them that meet a tile at
once: the tile is fetched from afar once for all of them, and from nearby once a block."""

AHEAD = 4096
"""Bytes of weights that are fetched ahead. Measured, 1,024 to 8,192: far enough, and all alike."""

PLACE = 3
"""Numbers that say where an event belongs: address and size of its take's plan, its position."""

ALIGNMENT = 64  # bytes of a cache line: a load that crosses two lines costs two


class Sizes(NamedTuple):
    """The sizes that compiled code asks for, and what follows from them.

    Attributes:
        group: Columns G of a group.
        stride: Room for one event's numbers in the arrays of `Work`.
        layer_weights, layer_rows, layer_norms: Numbers of a layer in the arrays of `Weights`.
        cell_keys, cell_values: Numbers of a layer's head in the arrays of `Cache`.
    """

    d_model: int
    n_heads: int
    d_head: int
    d_ff: int
    d_head_ff: int
    n_layers: int
    n_attributes: int
    n_positions: int
    group: int
    stride: int
    layer_weights: int
    layer_rows: int
    layer_norms: int
    cell_keys: int
    cell_values: int


N_SIZES = len(Sizes._fields)


class Weights(NamedTuple):
    """A model's numbers.

    Attributes:
        matrix: All matrices, tile by tile: int8, or float32.
        scale: float32, what a row of `matrix` is to be multiplied by, row after row.
        norm: float32, the gains of all norms.
        embedding: float32 (ΣV · C), the embeddings as the trunk reads them.
        first_id: int64 (K), where an attribute's ids begin in `embedding`.
        n_ids: int64 (K), how many ids an attribute has.
        head_matrix, head_row, head_norm: int64 (K), where an attribute's head begins.
        cos, sin: float32 (S · D / 2), the rotation of each position.
        ones: float32 (C or more).
    """

    matrix: np.ndarray
    scale: np.ndarray
    norm: np.ndarray
    embedding: np.ndarray
    first_id: np.ndarray
    n_ids: np.ndarray
    head_matrix: np.ndarray
    head_row: np.ndarray
    head_norm: np.ndarray
    cos: np.ndarray
    sin: np.ndarray
    ones: np.ndarray


class Cache(NamedTuple):
    """Keys and values of the positions read, of every layer and head.

    Attributes:
        keys: int8 or float32, (L, H, S / R, D / G, R, G).
        key_scale: float32 (L, H, S).
        values: int8 or float32, (L, H, D' / 16, S / G, 16, G), D' being D rounded up.
        value_scale: float32 (L, H, S).
    """

    keys: np.ndarray
    key_scale: np.ndarray
    values: np.ndarray
    value_scale: np.ndarray


class Work(NamedTuple):
    """Room for what is computed on the way; one of each for every thread.

    Attributes:
        x: float32 (TOKENS, wide), the residual stream.
        h: float32 (TOKENS, wide), what goes into a matrix.
        y: float32 (TOKENS, wide), what comes out of it.
        narrow: int16 or float32 (TOKENS, wide), `h` as the matrices take it.
        narrow_scale: float32 (TOKENS), what `narrow` is to be multiplied by.
        score: float32 (S), attention scores, then weights.
        narrow_score: int16 or float32 (S).
        head: float32 (D), one head's query, key or value.
        cell: int8 or float32 (D), a key or value as the cache takes it.
        state: float32 (C), the trunk's state after the last event.
    """

    x: np.ndarray
    h: np.ndarray
    y: np.ndarray
    narrow: np.ndarray
    narrow_scale: np.ndarray
    score: np.ndarray
    narrow_score: np.ndarray
    head: np.ndarray
    cell: np.ndarray
    state: np.ndarray


def make_plan(sizes: Sizes, weights: Weights, cache: Cache, work: Work) -> np.ndarray:
    """Return what compiled code opens again with `kernels.opened`: sizes, addresses and lengths.

    One array instead of forty arguments: checking those would take as long as a tenth of a step.
    The arrays must live as long as the plan is used.
    """
    arrays = [*weights, *cache, *work]
    places = [number for array in arrays for number in (array.ctypes.data, array.size)]
    return np.array([*sizes, *places], dtype=np.int64)


def up_to(number: int, multiple: int) -> int:
    """Return `number` rounded up to a multiple."""
    return -(-number // multiple) * multiple


def aligned(size: int, dtype: np.typing.DTypeLike) -> np.ndarray:
    """Return `size` zeros that begin at a cache line."""
    itemsize = np.dtype(dtype).itemsize
    room = np.zeros(size * itemsize + ALIGNMENT, dtype=np.uint8)
    skip = -room.ctypes.data % ALIGNMENT
    return room[skip : skip + size * itemsize].view(dtype)
