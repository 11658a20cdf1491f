"""Small models for the tests: random weights, or none and a piece learned by heart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from musicgen.checkpoint import save_checkpoint
from musicgen.model import Decoder, DecoderConfig
from musicgen.tokens import get_tokenizer


def small_config(**changes: Any) -> DecoderConfig:
    """Return the sizes of a model that is quick; `changes` go before."""
    sizes = {"d_model": 32, "n_layers": 2, "n_heads": 4, "d_ff": 48, "d_head_ff": 32}
    if "vocab_sizes" not in changes:
        changes["vocab_sizes"] = get_tokenizer().vocab_sizes
    return DecoderConfig(**{**sizes, "max_seq_len": 64, **changes})


def small_decoder(**changes: Any) -> Decoder:
    """Return a model of random weights in which every branch counts: at first some are zero."""
    decoder = Decoder(small_config(**changes))
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in decoder.parameters():
            if not parameter.any():
                parameter.normal_(0.0, 0.2, generator=generator)
    return decoder.eval()


def save_small(folder: Path, decoder: Decoder, *, training: dict[str, Any] | None = None) -> Path:
    """Save a model of piano events as a checkpoint named as its folder, and return the folder."""
    save_checkpoint(
        folder,
        decoder=decoder,
        tokenizer=get_tokenizer(),
        name=folder.name,
        step=0,
        training=training or {},
    )
    return folder


class Reciter(torch.nn.Module):
    """A stand-in for a model: it wants these events, whatever comes before.

    Args:
        ids: The events (T, K) that it wants, the last one again when they are over.
        vocab_sizes: Of the attributes.
        first: At which place in the stream it wants the first of them.
    """

    def __init__(self, ids: np.ndarray, vocab_sizes: tuple[int, ...], first: int = 0) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.ids, self.first = ids, first
        self.config = DecoderConfig(
            vocab_sizes=vocab_sizes, d_model=16, n_layers=1, n_heads=2, d_ff=8, max_seq_len=1024
        )

    def trunk(self, ids, *, cache):
        at = torch.arange(cache.length, cache.length + ids.shape[1], dtype=torch.float32)
        cache.advance(ids.shape[1])
        return at[None, :, None].expand(1, -1, 16)

    def attribute_logits(self, hidden, k, previous):
        wanted = min(int(hidden[0, 0]) + 1 - self.first, len(self.ids) - 1)
        logits = torch.zeros(1, self.config.vocab_sizes[k])
        logits[0, self.ids[max(wanted, 0), k]] = 99.0
        return logits
