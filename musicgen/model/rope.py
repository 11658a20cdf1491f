"""Positions: rotary ones for the trunk, sinusoidal ones for the text behind the project.

B batch   H heads   T positions   D width
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Rotation(NamedTuple):
    """Cosines and sines (T, D / 2) of the angles at T positions; or (B, 1, T, D / 2)."""

    cos: Tensor
    sin: Tensor


def rotation_at(positions: Tensor, d_head: int, base: float, dtype: torch.dtype) -> Rotation:
    """Return the rotation at `positions`, float32: (T,), or (B, 1, T) where rows differ.

    Source: Su et al., "RoFormer" (2021), equation 15: angle = position · base^(−2i / D).
    """
    angles = _angles(positions, d_head, base)
    return Rotation(angles.cos().to(dtype), angles.sin().to(dtype))


def rotate(x: Tensor, rotation: Rotation) -> Tensor:
    """Turn each pair (i, i + D / 2) of x (B, H, T, D) by its position's angle."""
    first, second = x.chunk(2, dim=-1)
    cos, sin = rotation
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


def sinusoidal_encoding(length: int, d_model: int, base: float = 10_000.0) -> Tensor:
    """Return the fixed encoding (T, D): sine on even, cosine on odd dimensions.

    Source: Vaswani et al. (2017), section 3.5.
    """
    angles = _angles(torch.arange(length, dtype=torch.float32), d_model, base)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)


def _angles(positions: Tensor, width: int, base: float) -> Tensor:
    pairs = torch.arange(0, width, 2, device=positions.device, dtype=torch.float32)
    return positions[..., None] * base ** (-pairs / width)
