"""The optimizer and its rate."""

from __future__ import annotations

import torch

from musicgen.model import Decoder
from musicgen.training.recipe import TrainingRecipe


def make_optimizer(decoder: Decoder, recipe: TrainingRecipe) -> torch.optim.AdamW:
    """Return AdamW (Loshchilov and Hutter 2019); embeddings and gains do not decay."""
    matrices, rest = [], []
    for name, parameter in decoder.named_parameters():
        decays = parameter.ndim == 2 and not name.startswith("embeddings")
        (matrices if decays else rest).append(parameter)
    groups = [
        {"params": matrices, "weight_decay": recipe.weight_decay},
        {"params": rest, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(
        groups, lr=recipe.learning_rate, betas=(recipe.beta1, recipe.beta2), fused=True
    )


def learning_rate(recipe: TrainingRecipe, step: int, steps: int) -> float:
    """Return the rate of step 0 … steps − 1: up in a straight line, then down to zero in one.

    Source of the straight fall to zero: Bergsma et al. (2025), "Straight to Zero".
    """
    warmup = min(recipe.warmup_steps, steps // 5)
    if step < warmup:
        return recipe.learning_rate * (step + 1) / warmup
    return recipe.learning_rate * (steps - step) / max(1, steps - warmup)


def set_learning_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Set the rate of every group."""
    for group in optimizer.param_groups:
        group["lr"] = rate
