"""The blocks of the trunk.

B batch   T positions   C width of the model
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from musicgen.model.attention import Attend, MultiHeadAttention, attend
from musicgen.model.cache import LayerCache
from musicgen.model.config import DecoderConfig
from musicgen.model.lanes import LaneLayer
from musicgen.model.matrices import Linear
from musicgen.model.norm import RMSNorm
from musicgen.model.record import AttentionRecord
from musicgen.model.rope import Rotation


class GatedMLP(nn.Module):
    """silu(x · W_gate) ⊙ (x · W_up), projected down. Source: Shazeer (2020), SwiGLU."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.gate_up = Linear(d_model, 2 * d_ff, bias=False)
        self.down = Linear(d_ff, d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Map (…, C) to (…, C)."""
        gate, up = self.gate_up(x).chunk(2, dim=-1)
        return self.down(F.silu(gate) * up)


class Block(nn.Module):
    """Causal self-attention, then a gated MLP, each behind an RMSNorm and added to the stream."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.attention_norm = RMSNorm(config.d_model, eps=1e-6)
        self.attention = MultiHeadAttention(config.d_model, config.n_heads)
        self.mlp_norm = RMSNorm(config.d_model, eps=1e-6)
        self.mlp = GatedMLP(config.d_model, config.d_ff)

    def forward(
        self,
        x: Tensor,
        rotation: Rotation,
        cache: LayerCache | LaneLayer | None = None,
        record: AttentionRecord | None = None,
        attend: Attend = attend,
    ) -> Tensor:
        """Map (B, T, C) to (B, T, C); see `MultiHeadAttention.forward` for the rest."""
        x = x + self.attention(
            self.attention_norm(x), rotation=rotation, cache=cache, record=record, attend=attend
        )
        return x + self.mlp(self.mlp_norm(x))
