"""What a model learns that is trained without a mask: to read the answer, which it never has later.

The trial: sequences of dice, which nobody can foretell. An attention layer with its mask stays at
the dice's own bits; one without reads the next throw where it stands, and is lost when it has to
go on by itself.
B sequences   T throws   V sides   C width of the model
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from musicgen.model.attention import MultiHeadAttention
from musicgen.model.rope import sinusoidal_encoding

SIDES = 8
_THROWS, _WIDTH, _BATCH = 8, 32, 64


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakTrial:
    """Bits a throw on sequences that were not trained on; `log2(SIDES)` is what dice have.

    Attributes:
        masked: Trained and asked with a mask.
        leaking: Trained and asked without: the next throw lies among the keys.
        alone: Trained without a mask, asked where the next throw is not there yet.
    """

    masked: float
    leaking: float
    alone: float


def leak_trial(*, steps: int = 200, seed: int = 0) -> LeakTrial:
    """Train one layer with and one without a mask, and ask both for throws they have not seen.

    Args:
        steps: Steps of Adam, each on 64 new sequences.
        seed: Names weights and dice.
    """
    masked = _Guesser(seed)
    _train(masked, causal=True, steps=steps, seed=seed)
    leaking = _Guesser(seed)
    _train(leaking, causal=False, steps=steps, seed=seed)
    throws = _throws(16 * _BATCH, torch.Generator().manual_seed(seed + 1))
    with torch.no_grad():
        return LeakTrial(
            masked=_bits(masked, throws, causal=True),
            leaking=_bits(leaking, throws, causal=False),
            alone=_bits(leaking, throws, causal=True),
        )


class _Guesser(nn.Module):
    """One layer of attention between an embedding and a guess."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        with torch.device("meta"):
            self.embedding = nn.Embedding(SIDES, _WIDTH)
            self.attention = MultiHeadAttention(_WIDTH, 1)
            self.to_guess = nn.Linear(_WIDTH, SIDES)
        self.to_empty(device="cpu")
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for parameter in self.parameters():
                if parameter.ndim == 1:
                    parameter.fill_(1.0)
                else:
                    parameter.normal_(0.0, parameter.shape[1] ** -0.5, generator=generator)

    def forward(self, throws: Tensor, *, causal: bool) -> Tensor:
        """Guess from each throw (B, T) of the next: logits (B, T, V)."""
        x = self.embedding(throws) + sinusoidal_encoding(throws.shape[1], _WIDTH)
        return self.to_guess(x + self.attention(x, causal=causal))


def _throws(count: int, generator: torch.Generator) -> Tensor:
    return torch.randint(SIDES, (count, _THROWS), generator=generator)


def _loss(guesser: _Guesser, throws: Tensor, *, causal: bool) -> Tensor:
    logits = guesser(throws, causal=causal)[:, :-1]
    return F.cross_entropy(logits.flatten(0, 1), throws[:, 1:].flatten())


def _bits(guesser: _Guesser, throws: Tensor, *, causal: bool) -> float:
    return float(_loss(guesser, throws, causal=causal)) / math.log(2)


def _train(guesser: _Guesser, *, causal: bool, steps: int, seed: int) -> None:
    dice = torch.Generator().manual_seed(seed + 2)
    optimizer = torch.optim.Adam(guesser.parameters(), lr=1e-2)
    for _ in range(steps):
        optimizer.zero_grad()
        _loss(guesser, _throws(_BATCH, dice), causal=causal).backward()
        optimizer.step()
