"""Scaled dot-product attention, and the one multi-head module built on it.

    B batch   T queries   S keys   H heads   D width of a head   C width of the model

`attend` makes the output, `attention_weights` shows what it weighed. They are two pure functions
of the same q and k, so that looking is never a second path: the output always comes from
`attend`. Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.
"""

from __future__ import annotations

import math
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from musicgen.model.cache import LayerCache
from musicgen.model.lanes import LaneLayer
from musicgen.model.matrices import Linear
from musicgen.model.norm import RMSNorm
from musicgen.model.record import AttentionRecord
from musicgen.model.rope import Rotation, rotate


def attention_scores(q: Tensor, k: Tensor) -> Tensor:
    """Return q · kᵀ / √D, before mask and softmax.

    Args:
        q: Queries (B, H, T, D).
        k: Keys (B, H, S, D).

    Returns:
        Scores (B, H, T, S).
    """
    return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])


def causal_mask(n_queries: int, n_keys: int, device: torch.device | None = None) -> Tensor:
    """Return which key each query may see, True where it may: (T, S).

    The last query sees the last key. (`is_causal` of torch's own function aligns the first query
    with the first key instead, which is wrong as soon as keys stand in a cache.)

    Raises:
        ValueError: There are more queries than keys.
    """
    if n_queries > n_keys:
        raise ValueError(f"{n_queries} queries cannot end at the last of {n_keys} keys")
    every = torch.ones(n_queries, n_keys, dtype=torch.bool, device=device)
    return every.tril(n_keys - n_queries)


def attention_weights(
    q: Tensor, k: Tensor, *, causal: bool = True, visible: Tensor | None = None
) -> Tensor:
    """Return softmax(q · kᵀ / √D) over the keys each query may see.

    Args:
        q: Queries (B, H, T, D).
        k: Keys (B, H, S, D).
        causal: Let query t see keys up to S − T + t only.
        visible: Which keys a query may see instead, True where it may (B, H or 1, T, S).

    Returns:
        Weights (B, H, T, S); each row sums to 1.
    """
    scores = attention_scores(q, k)
    if visible is None and causal:
        visible = causal_mask(q.shape[-2], k.shape[-2], q.device)
    if visible is not None:
        scores = scores.masked_fill(~visible, float("-inf"))
    return scores.softmax(dim=-1)


def attend(
    q: Tensor, k: Tensor, v: Tensor, *, causal: bool = True, visible: Tensor | None = None
) -> Tensor:
    """Return the values weighted by `attention_weights(q, k)`, without forming the weights.

    Args:
        q: Queries (B, H, T, D).
        k: Keys (B, H, S, D).
        v: Values (B, H, S, D).
        causal: Let query t see keys up to S − T + t only.
        visible: Which keys a query may see instead, True where it may (B, H or 1, T, S).

    Returns:
        Weighted values (B, H, T, D).
    """
    if visible is not None:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=visible)
    n_queries, n_keys = q.shape[-2], k.shape[-2]
    if not causal or n_queries == 1:
        return F.scaled_dot_product_attention(q, k, v)
    if n_queries == n_keys:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    mask = causal_mask(n_queries, n_keys, q.device)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


class Attend(Protocol):
    """What `attend` does; a training step may bring something faster that gives the same."""

    def __call__(
        self, q: Tensor, k: Tensor, v: Tensor, *, causal: bool = ..., visible: Tensor | None = ...
    ) -> Tensor:
        """Return the values (B, H, S, D) weighted by `attention_weights(q, k)`: (B, H, T, D)."""
        ...


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """Turn (B, T, C) into (B, H, T, D) with C = H · D."""
    batch, length, width = x.shape
    return x.view(batch, length, n_heads, width // n_heads).transpose(1, 2)


def join_heads(x: Tensor) -> Tensor:
    """Turn (B, H, T, D) back into (B, T, C)."""
    batch, n_heads, length, d_head = x.shape
    return x.transpose(1, 2).reshape(batch, length, n_heads * d_head)


class MultiHeadAttention(nn.Module):
    """Attention in several heads: self-attention, causal self-attention or cross-attention.

    Queries and keys are normalized a head before they meet (QK norm, Henry et al. 2020), which
    keeps the scores in range at high learning rates.
    """

    def __init__(self, d_model: int, n_heads: int, *, qk_norm: bool = True) -> None:
        """Set up the four projections.

        Args:
            d_model: Width C of the model.
            n_heads: Number H of heads; divides `d_model`.
            qk_norm: Normalize queries and keys a head.

        Raises:
            ValueError: `d_model` does not split into `n_heads` heads.
        """
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"d_model {d_model} does not split into {n_heads} heads")
        self.n_heads = n_heads
        d_head = d_model // n_heads
        self.to_q = Linear(d_model, d_model, bias=False)
        self.to_k = Linear(d_model, d_model, bias=False)
        self.to_v = Linear(d_model, d_model, bias=False)
        self.to_out = Linear(d_model, d_model, bias=False)
        self.q_norm = RMSNorm(d_head, eps=1e-6) if qk_norm else nn.Identity()
        self.k_norm = RMSNorm(d_head, eps=1e-6) if qk_norm else nn.Identity()

    def forward(
        self,
        x: Tensor,
        source: Tensor | None = None,
        *,
        causal: bool = True,
        rotation: Rotation | None = None,
        cache: LayerCache | LaneLayer | None = None,
        record: AttentionRecord | None = None,
        attend: Attend = attend,
    ) -> Tensor:
        """Let each position of `x` gather from `source`, or from `x` itself.

        Args:
            x: Where the queries come from (B, T, C).
            source: Where keys and values come from (B, S, C); None for self-attention.
            causal: Let no position look ahead.
            rotation: Rotary position of the T positions; None for none.
            cache: Keys and values of earlier positions; these T are appended. It may say which
                keys are visible; else `causal` does.
            record: Keeps the weights (B, H, T, S) if given. The output does not change by a bit.
            attend: What weighs the values.

        Returns:
            What was gathered (B, T, C).
        """
        source = x if source is None else source
        q = self.q_norm(split_heads(self.to_q(x), self.n_heads))
        k = self.k_norm(split_heads(self.to_k(source), self.n_heads))
        v = split_heads(self.to_v(source), self.n_heads)
        if rotation is not None:
            q, k = rotate(q, rotation), rotate(k, rotation)
        visible = None
        if cache is not None:
            k, v = cache.append(k, v)
            visible = cache.visible
        if record is not None:
            record.keep(attention_weights(q, k, causal=causal, visible=visible))
        return self.to_out(join_heads(attend(q, k, v, causal=causal, visible=visible)))
