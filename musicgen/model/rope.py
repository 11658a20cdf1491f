"""Positions: rotary ones for the trunk, sinusoidal ones for the text behind the project.

B batch   H heads   T positions   D width
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Rotation(NamedTuple):
    """Cosines and sines (T, D / 2) of the angles at T positions."""

    cos: Tensor
    sin: Tensor


def rotation_at(
    start: int, length: int, d_head: int, base: float, device: torch.device, dtype: torch.dtype
) -> Rotation:
    """Return the rotation of positions start … start + length − 1.

    Source: Su et al., "RoFormer" (2021), equation 15: angle = position · base^(−2i / D).
    """
    angles = _angles(start, length, d_head, base, device)
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
    angles = _angles(0, length, d_model, base, torch.device("cpu"))
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)


def _angles(start: int, length: int, width: int, base: float, device: torch.device) -> Tensor:
    pairs = torch.arange(0, width, 2, device=device, dtype=torch.float32)
    positions = torch.arange(start, start + length, device=device, dtype=torch.float32)
    return positions[:, None] * base ** (-pairs / width)[None, :]
