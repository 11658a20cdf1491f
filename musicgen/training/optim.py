"""The optimizers and their rate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from musicgen.model import Decoder
from musicgen.training.muon import Muon, n_multiplied, orthogonal_for
from musicgen.training.recipe import TrainingRecipe


class Optimizers:
    """One or two optimizers that share the parameters of a model and step together."""

    def __init__(self, *optimizers: torch.optim.Optimizer) -> None:
        """Set up with optimizers of disjoint parameters."""
        self._optimizers = optimizers

    def step(self, rate: float, turn: int, factor: float = 1.0) -> None:
        """Apply the gradients of a step.

        Args:
            rate: Learning rate.
            turn: Which step of the run it is.
            factor: How much of each gradient counts.
        """
        for optimizer in self._optimizers:
            for group in optimizer.param_groups:
                group["lr"] = rate
            if isinstance(optimizer, Muon):
                optimizer.step(turn=turn, factor=factor)
                continue
            if factor != 1.0:
                for group in optimizer.param_groups:
                    for parameter in group["params"]:
                        if parameter.grad is not None:
                            parameter.grad.mul_(factor)
            optimizer.step()

    def tensors(self, decoder: Decoder) -> dict[str, Tensor]:
        """Return the state by the names of parameters: `name:key`."""
        return {
            f"{name}:{key}": value
            for name, parameter in decoder.named_parameters()
            for optimizer in self._optimizers
            for key, value in optimizer.state.get(parameter, {}).items()
        }

    def restore(self, decoder: Decoder, tensors: Mapping[str, Tensor]) -> None:
        """Take back what `tensors` returned.

        Raises:
            ValueError: The state of a parameter is missing, or of another shape.
        """
        for optimizer in self._optimizers:
            keys = MUON_STATE if isinstance(optimizer, Muon) else ADAMW_STATE
            own = {id(each) for group in optimizer.param_groups for each in group["params"]}
            for name, parameter in decoder.named_parameters():
                if id(parameter) in own:
                    optimizer.state[parameter] = {
                        key: _fitting(tensors, f"{name}:{key}", parameter) for key in keys
                    }


def _fitting(tensors: Mapping[str, Tensor], key: str, parameter: Tensor) -> Tensor:
    found = tensors.get(key)
    shape = () if key.endswith(":step") else tuple(parameter.shape)
    if found is None or tuple(found.shape) != shape:
        raise ValueError(f"{key} is {'missing' if found is None else 'of another shape'}")
    return found.to(parameter.device)


def blank_state(decoder: Decoder) -> dict[str, Tensor]:
    """Return a state that `Optimizers.restore` takes, of zeros, for numbers that come later."""
    return {
        f"{name}:{key}": torch.zeros(()) if key == "step" else torch.zeros_like(parameter)
        for name, parameter in decoder.named_parameters()
        for key in (*ADAMW_STATE, *MUON_STATE)
    }


_LARGEST_SHARE = 1 / 6
"""How much of a step's multiplications Muon's may be."""
_LONGEST_PERIOD = 4
"""Where a step reads few events that share would be kept by waiting for tens of steps, which costs
more than it saves (docs/lab_log.md)."""
ADAMW_STATE = ("step", "exp_avg", "exp_avg_sq")
MUON_STATE = ("momentum",)


def make_optimizers(decoder: Decoder, recipe: TrainingRecipe) -> Optimizers:
    """Return the recipe's optimizer; embeddings and gains do not decay.

    AdamW: Loshchilov and Hutter (2019). With Muon, matrices take Muon, and embeddings and gains
    AdamW, at one learning rate.
    """
    matrices, rest = [], []
    for name, parameter in decoder.named_parameters():
        if not parameter.requires_grad:
            continue
        is_matrix = parameter.ndim == 2 and not name.startswith("embeddings")
        (matrices if is_matrix else rest).append(parameter)
    rate, decay = recipe.learning_rate, recipe.weight_decay
    betas = (recipe.beta1, recipe.beta2)
    undecayed = {"params": rest, "weight_decay": 0.0}
    if recipe.optimizer == "muon":
        muon = Muon(
            matrices,
            lr=rate,
            momentum=recipe.momentum,
            weight_decay=decay,
            period=recipe.muon_period or _period(matrices, recipe.seq_len * recipe.batch_size),
            orthogonal=orthogonal_for(recipe.precision, matrices[0].device),
        )
        return Optimizers(
            muon,
            torch.optim.AdamW([undecayed], lr=rate, betas=betas, fused=True),
        )
    decayed = {"params": matrices, "weight_decay": decay}
    return Optimizers(torch.optim.AdamW([decayed, undecayed], lr=rate, betas=betas, fused=True))


def _period(matrices: Sequence[Tensor], n_events: int) -> int:
    """Return how many steps a matrix waits for its turn, in a run of `n_events` a step.

    A matrix is multiplied with each event three times, and with itself while it is made orthogonal:
    the wider the model and the smaller the step, the more of it that is. To wait costs little
    (docs/lab_log.md), to multiply for naught more.
    """
    forward_and_back = 3 * n_events * sum(each.numel() for each in matrices)
    share = sum(n_multiplied(each.shape) for each in matrices) / max(1, forward_and_back)
    return min(_LONGEST_PERIOD, max(1, math.ceil(share / _LARGEST_SHARE)))


def learning_rate(recipe: TrainingRecipe, step: int, steps: int) -> float:
    """Return the rate of step 0 … steps − 1: up in a straight line, then down to zero in one.

    Source of the straight fall to zero: Bergsma et al. (2025), "Straight to Zero"; of a restart:
    Loshchilov and Hutter (2017), "SGDR: Stochastic Gradient Descent with Warm Restarts".
    """
    begin, peak, end = 0, recipe.learning_rate, steps
    restarts = zip(recipe.restart_steps, recipe.restart_learning_rates, strict=True)
    for restart, rate in restarts:
        if step < restart:
            end = min(restart, steps)
            break
        begin, peak = restart, rate
    return _up_and_down(peak, step - begin, end - begin, recipe.warmup_steps)


def _up_and_down(peak: float, step: int, steps: int, warmup_steps: int) -> float:
    warmup = min(warmup_steps, steps // 5)
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak * (steps - step) / max(1, steps - warmup)
