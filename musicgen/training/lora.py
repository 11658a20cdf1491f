"""Low-rank adaptation: a model's matrices stay as they are, and narrow ones beside them learn.

W x becomes W x + s · B (A x), with s = 2. At first B is zero, so training begins with the model as
it is. Only A and B have gradients and optimizer state; embeddings and gains stay as they are too.
What is written for use is the sum W + s · B A: an ordinary checkpoint. Source: Hu et al. (2022),
"LoRA: Low-Rank Adaptation of Large Language Models".

    R rank   I inputs   O outputs
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from musicgen.model import Decoder

SCALE = 2.0


class LowRankLinear(nn.Module):
    """A linear map that is frozen, and a narrow one beside it that learns."""

    def __init__(self, base: nn.Linear, rank: int, generator: torch.Generator) -> None:
        """Set up so that nothing changes yet: A is drawn, B is zero.

        Args:
            base: The map to adapt; its weight is (O, I).
            rank: Width R of the map beside it.
            generator: Draws A, on the CPU.
        """
        super().__init__()
        self.base = base
        weight = base.weight
        down = torch.empty(rank, base.in_features)
        down.normal_(0.0, base.in_features**-0.5, generator=generator)
        self.down = nn.Parameter(down.to(weight.device, weight.dtype))
        self.up = nn.Parameter(weight.new_zeros(base.out_features, rank))

    def forward(self, x: Tensor) -> Tensor:
        """Map (…, I) to (…, O)."""
        return self.base(x) + SCALE * F.linear(F.linear(x, self.down), self.up)

    def sum(self) -> Tensor:
        """Return the one matrix (O, I) that maps alike."""
        return self.base.weight.detach() + SCALE * (self.up.detach() @ self.down.detach())


def adapt(decoder: Decoder, rank: int, seed: int) -> None:
    """Freeze a model and put narrow matrices beside those of its attention, MLPs and heads.

    Args:
        decoder: The model, changed in place.
        rank: Their width R.
        seed: Names the first numbers of A.

    Raises:
        ValueError: It was adapted before.
    """
    if is_adapted(decoder):
        raise ValueError("the model is adapted already")
    generator = torch.Generator().manual_seed(seed)
    decoder.requires_grad_(False)
    for module in list(decoder.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, nn.Linear):
                setattr(module, name, LowRankLinear(child, rank, generator))


def is_adapted(decoder: Decoder) -> bool:
    """Whether a model has narrow matrices beside its own."""
    return any(isinstance(module, LowRankLinear) for module in decoder.modules())


def merged(decoder: Decoder) -> Decoder:
    """Return an ordinary model that scores like an adapted one; one that is ordinary as it is."""
    if not is_adapted(decoder):
        return decoder
    weights = dict(decoder.state_dict())
    for name, module in decoder.named_modules():
        if isinstance(module, LowRankLinear):
            for part in ("base.weight", "down", "up"):
                del weights[f"{name}.{part}"]
            weights[f"{name}.weight"] = module.sum()
    plain = Decoder(decoder.config, seed=None)
    plain.load_state_dict(weights, strict=True, assign=True)
    return plain.train(decoder.training)


def narrow_matrices(decoder: Decoder) -> dict[str, Tensor]:
    """Return A and B of every adapted map by name: `blocks.0.mlp.down.up`."""
    return {
        f"{name}.{part}": cast(Tensor, getattr(module, part)).detach()
        for name, module in decoder.named_modules()
        if isinstance(module, LowRankLinear)
        for part in ("down", "up")
    }


def restore_narrow_matrices(decoder: Decoder, tensors: Mapping[str, Tensor]) -> None:
    """Take back what `narrow_matrices` returned.

    Raises:
        ValueError: One is missing, of another shape, or belongs to another model.
    """
    own = narrow_matrices(decoder)
    if own.keys() != tensors.keys():
        differing = sorted(own.keys() ^ tensors.keys())[0]
        raise ValueError(f"{differing} is {'missing' if differing in own else 'of another model'}")
    for name, value in own.items():
        if tensors[name].shape != value.shape:
            raise ValueError(f"{name} is of another shape")
        value.copy_(tensors[name])
