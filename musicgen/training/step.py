"""One optimizer step, the same for the run, its trial, CPU and CUDA.

Legend: B windows, T events a window predicts, K attributes.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

import torch
import torch.nn.functional as F
from torch import Tensor

from musicgen.errors import NonFiniteLossError
from musicgen.model import Decoder
from musicgen.training.compiling import compiled
from musicgen.training.optim import Optimizers
from musicgen.training.recipe import TrainingRecipe

LossFunction = Callable[[Tensor], Tensor]


def make_loss(decoder: Decoder, recipe: TrainingRecipe, device: torch.device) -> LossFunction:
    """Return what maps events (B, T + 1, K) to mean nats an event, one an attribute (K,).

    Raises:
        ValueError: The recipe leaves the precision open, or whether to compile.
    """
    if recipe.precision == "auto":
        raise ValueError("the precision is not decided yet: see faster_precision")
    if recipe.compile is None:
        raise ValueError("whether to compile is not decided yet: see settle_compile")
    in_bf16 = recipe.precision == "bf16"

    def losses(ids: Tensor) -> Tensor:
        with torch.autocast(device.type, torch.bfloat16) if in_bf16 else nullcontext():
            logits = decoder(ids)
        return torch.stack(
            [
                F.cross_entropy(scores.flatten(0, 1).float(), ids[:, 1:, k].flatten())
                for k, scores in enumerate(logits)
            ]
        )

    return compiled(losses) if recipe.compile else losses


def optimizer_step(
    losses: LossFunction,
    ids: Tensor,
    decoder: Decoder,
    optimizers: Optimizers,
    *,
    rate: float,
    clip_norm: float,
) -> tuple[float, float]:
    """Take one step.

    Args:
        losses: See `make_loss`.
        ids: Events (B, T + 1, K), int64, on the model's device.
        decoder: The model.
        optimizers: Its optimizers.
        rate: Learning rate of this step.
        clip_norm: Largest norm of the gradient.

    Returns:
        Nats an event before the step, and the gradient's norm before clipping.

    Raises:
        NonFiniteLossError: The loss is infinite or not a number; the weights are untouched.
    """
    loss = losses(ids).sum()
    decoder.zero_grad(set_to_none=True)
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(decoder.parameters(), clip_norm)
    if not (torch.isfinite(loss) and torch.isfinite(norm)):
        raise NonFiniteLossError(
            f"The loss became {loss.item()} with a gradient of norm {norm.item()}.",
            hint="Resume from the last checkpoint with a lower learning_rate.",
        )
    optimizers.step(rate)
    return loss.item(), norm.item()
