"""The four-token example of the text behind the project: 25 heads of 64, causal, seed 42.

Source: M. Liu, "Learn Generative AI with PyTorch", on GPT-2 XL's causal self-attention.
"""

from __future__ import annotations

import torch

from musicgen.lesson.steps import Lesson, Projections, take_apart

SEED = 42
_TOKENS = ("x₀", "x₁", "x₂", "x₃")
N_HEADS, D_MODEL = 25, 1600


def printed_lesson(*, causal: bool = True) -> Lesson:
    """Return the example: x is drawn, then the matrices as torch's own linear layer draws them.

    torch draws the layer within ±1/√fan-in; a generator of our own gives the numbers that
    `torch.manual_seed(42)` gives there, and changes nobody else's.

    Args:
        causal: Let no token see a later one, as printed.
    """
    generator = torch.Generator().manual_seed(SEED)
    x = torch.randn((1, len(_TOKENS), D_MODEL), generator=generator)[0]
    bound = D_MODEL**-0.5
    weight = torch.empty(3 * D_MODEL, D_MODEL).uniform_(-bound, bound, generator=generator)
    bias = torch.empty(3 * D_MODEL).uniform_(-bound, bound, generator=generator)
    q, k, v = weight.split(D_MODEL)
    return take_apart(
        x,
        Projections(q=q, k=k, v=v, biases=bias.view(3, D_MODEL)),
        n_heads=N_HEADS,
        causal=causal,
        tokens=_TOKENS,
    )
