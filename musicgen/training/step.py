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
from musicgen.training.optim import set_learning_rate
from musicgen.training.recipe import TrainingRecipe

LossFunction = Callable[[Tensor], Tensor]


def bf16_is_native(device: torch.device) -> bool:
    """Tell whether the device multiplies bf16 in hardware; elsewhere it is slower than float32."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return torch.backends.mkldnn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported()


def make_loss(decoder: Decoder, recipe: TrainingRecipe, device: torch.device) -> LossFunction:
    """Return what maps events (B, T + 1, K) to mean nats an event, one an attribute (K,)."""
    in_bf16 = recipe.precision == "bf16" or (recipe.precision == "auto" and bf16_is_native(device))

    def losses(ids: Tensor) -> Tensor:
        with torch.autocast(device.type, torch.bfloat16) if in_bf16 else nullcontext():
            logits = decoder(ids)
        return torch.stack(
            [
                F.cross_entropy(scores.flatten(0, 1).float(), ids[:, 1:, k].flatten())
                for k, scores in enumerate(logits)
            ]
        )

    return torch.compile(losses) if recipe.compile else losses


def optimizer_step(
    losses: LossFunction,
    ids: Tensor,
    decoder: Decoder,
    optimizer: torch.optim.Optimizer,
    *,
    rate: float,
    clip_norm: float,
) -> tuple[float, float]:
    """Take one step.

    Args:
        losses: See `make_loss`.
        ids: Events (B, T + 1, K), int64, on the model's device.
        decoder: The model.
        optimizer: Its optimizer.
        rate: Learning rate of this step.
        clip_norm: Largest norm of the gradient.

    Returns:
        Nats an event before the step, and the gradient's norm before clipping.

    Raises:
        NonFiniteLossError: The loss is infinite or not a number; the weights are untouched.
    """
    loss = losses(ids).sum()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(decoder.parameters(), clip_norm)
    if not (torch.isfinite(loss) and torch.isfinite(norm)):
        raise NonFiniteLossError(
            f"The loss became {loss.item()} with a gradient of norm {norm.item()}.",
            hint="Resume from the last checkpoint with a lower learning_rate.",
        )
    set_learning_rate(optimizer, rate)
    optimizer.step()
    return loss.item(), norm.item()
