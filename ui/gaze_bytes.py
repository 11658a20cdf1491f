"""Maps and rows of attention as the page is sent them: few bytes, and ready to be drawn.

Shapes: T events, S a small map's side.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

TILE: Final = 48  # at most, the side of a map that is one of many
COARSE: Final = 512  # and that of a large map seen whole: a page shows no more cells
_GAMMA = 0.6  # brings out small weights: of causal maps only each row's largest is seen without it
_FINE = 4096
_BRIGHTNESS: Final = ((np.arange(_FINE + 1) / _FINE) ** _GAMMA * 255).astype(np.uint8)
_QUICKLY = 1  # zlib's level: a map of 2,048 events in 30 ms


def numbers(*values: int) -> bytes:
    """Return whole numbers of 32 bits, little-endian."""
    return np.asarray(values, dtype="<u4").tobytes()


def shares(weights: NDArray[np.float16]) -> bytes:
    """Return weights in steps of 1/65535, 16 bits each, little-endian."""
    return np.rint(weights.astype(np.float32) * 65535).astype("<u2").tobytes()


def small_map(weights: NDArray[np.float16]) -> NDArray[np.uint8]:
    """Return a map (T, T) as (S, S) of at most `TILE` a side, each row scaled by its maximum."""
    if len(weights) <= TILE:
        return _levels(weights.astype(np.float32))
    # A row's brightness grows with its weights, so columns may become fewer before it is known. And
    # halves that are not negative are ordered as their bits, which compare three times as fast.
    bits = np.maximum.reduceat(weights.view(np.uint16), _starts(len(weights), TILE), axis=1)
    levels = _levels(bits.view(np.float16).astype(np.float32))
    return np.maximum.reduceat(levels, _starts(len(weights), TILE), axis=0)


def map_bytes(weights: NDArray[np.float32]) -> bytes:
    """Return a map (T, T) for the page, compressed by gzip.

    Two numbers of 32 bits, T and S; each row's maximum, float32 (T,); the map as it is seen whole,
    uint8 (S, S), S at most `COARSE`; and all its cells, uint8 (T, T), left out where S is T. A cell
    is the weight as a share of its row's maximum, to the power of 0.6, in steps of 1/255.
    """
    largest, levels = weights.max(axis=1), _levels(weights)
    coarse = _pooled(levels, COARSE)
    packer = zlib.compressobj(_QUICKLY, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    body = [numbers(len(weights), len(coarse)), largest.astype("<f4").tobytes(), coarse.tobytes()]
    if len(coarse) < len(levels):
        body.append(levels.tobytes())
    return b"".join(packer.compress(part) for part in body) + packer.flush()


def _levels(weights: NDArray[np.float32]) -> NDArray[np.uint8]:
    largest = np.maximum(weights.max(axis=1, keepdims=True), 1e-9)
    return _BRIGHTNESS[(weights * (_FINE / largest)).astype(np.int16)]


def _pooled(levels: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """Scale a map to at most `size` a side by the largest of some cells: a sharp look stays."""
    if len(levels) <= size:
        return levels
    starts = _starts(len(levels), size)
    return np.maximum.reduceat(np.maximum.reduceat(levels, starts, axis=0), starts, axis=1)


def _starts(length: int, size: int) -> NDArray[np.intp]:
    return np.arange(size) * length // size
