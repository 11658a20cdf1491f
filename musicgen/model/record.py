"""A place for attention weights, handed in by whoever wants to look."""

from __future__ import annotations

from torch import Tensor


class AttentionRecord:
    """Collects the attention weights of one pass, layer by layer.

    Attributes:
        weights: One tensor (B, H, T, S) a layer, in the order of the layers.
    """

    def __init__(self) -> None:
        self.weights: list[Tensor] = []

    def keep(self, weights: Tensor) -> None:
        """Keep the weights (B, H, T, S) of the next layer."""
        self.weights.append(weights.detach())
