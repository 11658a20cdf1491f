"""Training steps side by side: ours, a Hugging Face loop, and plain PyTorch in nanoGPT's manner.

The others have the same trunk and a vocabulary of 1,024; none has dropout, which is ruinous inside
attention on a CPU. Hugging Face is optional: `pip install transformers`.

B windows   T positions   C width   V vocabulary   K attributes of an event
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from decode_shapes import VOCABULARY, Shape
from torch import Tensor, nn

from musicgen.corpus import Piece
from musicgen.model import Decoder
from musicgen.tokens import get_tokenizer
from musicgen.training import TrainingRecipe
from musicgen.training.batches import plain_batch
from musicgen.training.optim import make_optimizers
from musicgen.training.step import Stepper
from musicgen.training.windows import WHOLE, WindowSampler

_TURNS = 4
"""Steps after which every matrix of Muon's has had its turn, and every product its first time."""


class OurStep:
    """A step as the training loop takes it: sampler, loss, clipping, Muon and AdamW."""

    def __init__(
        self, shape: Shape, recipe: TrainingRecipe, *, in_bf16: bool, compiled: bool
    ) -> None:
        sizes = get_tokenizer("piano").vocab_sizes
        self._recipe = recipe = replace(
            recipe,
            d_model=shape.d_model,
            n_layers=shape.n_layers,
            d_ff=shape.d_ff,
            d_head_ff=shape.d_model,
            precision="bf16" if in_bf16 else "float32",
            compile=compiled,
        )
        decoder = Decoder(recipe.decoder_config(sizes), seed=0).train()
        optimizers = make_optimizers(decoder, recipe)
        self._stepper = Stepper(decoder, optimizers, recipe, torch.device("cpu"))
        n_events = 40 * recipe.seq_len
        piece = Piece(
            path="", split="train", start=0, n_events=n_events, n_notes=0, seconds=0.0, digest=""
        )
        self._sampler = WindowSampler(
            np.random.default_rng(0).integers(0, sizes, (n_events, len(sizes))).astype(np.uint16),
            [piece],
            seq_len=recipe.seq_len,
            batch_size=recipe.batch_size,
            seed=0,
        )
        self._n_steps = 0
        for _ in range(_TURNS):
            self.measure()

    def measure(self) -> float:
        """Return events a second of one step."""
        began = time.perf_counter()
        batch = plain_batch(self._sampler, self._n_steps, WHOLE)
        self._stepper.take(batch, rate=1e-4, turn=self._n_steps)
        self._n_steps += 1
        return batch.n_events / (time.perf_counter() - began)


class PlainLoop:
    """Autocast where asked for, clipping, fused AdamW: the loop that everybody writes."""

    def __init__(
        self, model: nn.Module, batch: int, length: int, *, in_bf16: bool, compiled: bool = False
    ) -> None:
        self._model = model.train()
        self._optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
        self._ids = torch.randint(
            0, VOCABULARY, (batch, length + 1), generator=torch.Generator().manual_seed(0)
        )
        self._in_bf16 = in_bf16
        self._loss: Callable[[Tensor], Tensor] = (
            torch.compile(self._loss_of) if compiled else self._loss_of
        )

    def _loss_of(self, ids: Tensor) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16) if self._in_bf16 else nullcontext():
            logits = self._model(ids[:, :-1])
        scores = logits if isinstance(logits, Tensor) else logits.logits
        return F.cross_entropy(scores.flatten(0, 1).float(), ids[:, 1:].flatten())

    def measure(self) -> float:
        """Return tokens a second of one step."""
        began = time.perf_counter()
        loss = self._loss(self._ids)
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._model.parameters(), 1.0)
        self._optimizer.step()
        loss.item()
        return self._ids.shape[0] * (self._ids.shape[1] - 1) / (time.perf_counter() - began)


def hugging_face(shape: Shape, kind: str, length: int) -> nn.Module:
    """Return a class of transformers with that trunk, by torch's own attention."""
    import transformers  # pyright: ignore  optional

    common: dict[str, Any] = {
        "vocab_size": VOCABULARY,
        "bos_token_id": 1,
        "eos_token_id": None,
        "use_cache": False,
    }
    if kind == "llama":
        config = transformers.LlamaConfig(
            hidden_size=shape.d_model,
            intermediate_size=shape.d_ff,
            num_hidden_layers=shape.n_layers,
            num_attention_heads=shape.n_heads,
            max_position_embeddings=length,
            tie_word_embeddings=True,
            **common,
        )
        return transformers.LlamaForCausalLM(config)
    config = transformers.GPT2Config(
        n_embd=shape.d_model,
        n_layer=shape.n_layers,
        n_head=shape.n_heads,
        n_inner=shape.d_ff_ungated,
        n_positions=length,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        **common,
    )
    return transformers.GPT2LMHeadModel(config)


class PlainGpt(nn.Module):
    """A GPT without haste: learned positions, LayerNorm, GELU, tied embeddings, no biases."""

    def __init__(self, shape: Shape, length: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, shape.d_model)
        self.positions = nn.Embedding(length, shape.d_model)
        self.blocks = nn.ModuleList(_Block(shape) for _ in range(shape.n_layers))
        self.norm = nn.LayerNorm(shape.d_model, bias=False)
        for parameter in self.parameters():
            if parameter.ndim == 2:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, ids: Tensor) -> Tensor:
        """Score the next of each of the ids (B, T): (B, T, V)."""
        x = self.tokens(ids) + self.positions.weight[: ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        return F.linear(self.norm(x), self.tokens.weight)


class _Block(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        d, n_ff = shape.d_model, shape.d_ff_ungated
        self.n_heads = shape.n_heads
        self.norms = nn.ModuleList(nn.LayerNorm(d, bias=False) for _ in range(2))
        self.qkv, self.out = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False)
        self.up, self.down = nn.Linear(d, n_ff, bias=False), nn.Linear(n_ff, d, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        b, t, _ = x.shape
        q, k, v = (
            each.view(b, t, self.n_heads, -1).transpose(1, 2)
            for each in self.qkv(self.norms[0](x)).chunk(3, dim=-1)
        )
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, -1))
        return x + self.down(F.gelu(self.up(self.norms[1](x)), approximate="tanh"))
