"""The head that scores one attribute of the next event.

N positions   C width of the model   K attributes   V ids of the attribute
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from musicgen.model.layers import GatedMLP
from musicgen.model.norm import RMSNorm


class AttributeHead(nn.Module):
    """Scores one attribute from the trunk's state and the attributes decided before it.

    The decided attributes come in by their embeddings, the same that the trunk reads, and the
    scores go out against them too (tied embeddings, Press and Wolf 2017).
    """

    def __init__(self, d_model: int, d_head_ff: int, *, is_first: bool) -> None:
        """Set up; the first attribute's head has none before it to listen to."""
        super().__init__()
        self.decided_norm = None if is_first else RMSNorm(d_model, eps=1e-6)
        self.mlp_norm = RMSNorm(d_model, eps=1e-6)
        self.mlp = GatedMLP(d_model, d_head_ff)
        self.out_norm = RMSNorm(d_model, eps=1e-6)

    def forward(self, hidden: Tensor, decided: Tensor | None, embedding: Tensor) -> Tensor:
        """Return logits (…, V).

        Args:
            hidden: The trunk's state (…, C).
            decided: Sum of the embeddings of the attributes before this one (…, C), or None.
            embedding: This attribute's embeddings (V, C).
        """
        x = hidden
        if self.decided_norm is not None and decided is not None:
            x = x + self.decided_norm(decided)
        x = x + self.mlp(self.mlp_norm(x))
        return F.linear(self.out_norm(x), embedding)
