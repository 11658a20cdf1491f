"""Plain PyTorch, written without haste: the same trunk, one token a step, a vocabulary of 1,024.

B batch   T positions   C width   H heads   D width of a head   S cached positions
"""

from __future__ import annotations

import functools
import time
from typing import NamedTuple

import torch
import torch.nn.functional as F
from decode_shapes import VOCABULARY, WINDOW, Shape
from torch import Tensor


class _Layer(NamedTuple):
    qkv: Tensor
    out: Tensor
    gate_up: Tensor
    down: Tensor


class PlainTorch:
    """Fused projections, a preallocated cache, torch's own attention; top-p sampling."""

    def __init__(
        self, shape: Shape, dtype: torch.dtype = torch.float32, *, device: str = "cpu"
    ) -> None:
        generator = torch.Generator(device).manual_seed(0)
        make = functools.partial(torch.randn, generator=generator, device=device)

        def weight(rows: int, columns: int) -> Tensor:
            return (make(rows, columns) * columns**-0.5).to(dtype)

        d = shape.d_model
        self._shape = shape
        self._layers = [
            _Layer(weight(3 * d, d), weight(d, d), weight(2 * shape.d_ff, d), weight(d, shape.d_ff))
            for _ in range(shape.n_layers)
        ]
        self._embedding = weight(VOCABULARY, d)
        self._gain = torch.ones(d, dtype=dtype, device=device)
        d_head = d // shape.n_heads
        angles = torch.arange(WINDOW)[:, None] * 1e4 ** (-torch.arange(0, d_head, 2) / d_head)
        self._cos, self._sin = (x.to(device, dtype) for x in (angles.cos(), angles.sin()))
        cache = (shape.n_layers, 2, 1, shape.n_heads, WINDOW, d_head)
        self._cache = torch.zeros(cache, dtype=dtype, device=device)
        self._device = device
        self._generator = generator

    def _forward(self, ids: Tensor, start: int, *, with_cache: bool = True) -> Tensor:
        """Return the scores (V,) after the last of T ids."""
        n_heads, length = self._shape.n_heads, len(ids)
        x = self._embedding[ids][None]
        cos, sin = self._cos[start : start + length], self._sin[start : start + length]
        for i, layer in enumerate(self._layers):
            h = F.rms_norm(x, x.shape[-1:], self._gain)
            q, k, v = (
                each.view(1, length, n_heads, -1).transpose(1, 2)
                for each in F.linear(h, layer.qkv).chunk(3, dim=-1)
            )
            q, k = _rotate(q, cos, sin), _rotate(k, cos, sin)
            if with_cache:
                self._cache[i, 0, :, :, start : start + length] = k
                self._cache[i, 1, :, :, start : start + length] = v
                k, v = self._cache[i, :, :, :, : start + length]
            h = F.scaled_dot_product_attention(q, k, v, is_causal=length > 1)
            x = x + F.linear(h.transpose(1, 2).reshape(1, length, -1), layer.out)
            h = F.rms_norm(x, x.shape[-1:], self._gain)
            gate, up = F.linear(h, layer.gate_up).chunk(2, dim=-1)
            x = x + F.linear(F.silu(gate) * up, layer.down)
        last = F.rms_norm(x[0, -1], x.shape[-1:], self._gain)
        return F.linear(last, self._embedding).float()

    def _draw(self, logits: Tensor, top_p: float = 0.95) -> Tensor:
        chances, order = logits.softmax(-1).sort(descending=True)
        chances = chances * (chances.cumsum(-1) - chances < top_p)
        return order[torch.multinomial(chances, 1, generator=self._generator)]

    @torch.inference_mode()
    def measure(self, position: int, n_steps: int) -> float:
        """Return tokens a second from `position` on, what lies before being zeros."""
        token = torch.zeros(1, dtype=torch.int64, device=self._device)
        began = time.perf_counter()
        for i in range(n_steps):
            token = self._draw(self._forward(token, position + i))
        token.item()  # a GPU is done only now
        return n_steps / (time.perf_counter() - began)

    @torch.inference_mode()
    def measure_whole_prefix(self, position: int, n_steps: int) -> float:
        """Return tokens a second if the whole prefix is computed again for each."""
        ids = torch.zeros(position + 1, dtype=torch.int64, device=self._device)
        began = time.perf_counter()
        for _ in range(n_steps):
            token = self._draw(self._forward(ids, 0, with_cache=False))
            ids = torch.cat([ids, token])
        return n_steps / (time.perf_counter() - began)


def _rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)
