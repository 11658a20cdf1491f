"""One optimizer step, the same for the run, its trial, CPU and CUDA, one process and several.

Legend: B windows that this process reads, T events a window predicts, K attributes.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from musicgen.engine.learning import attention_for
from musicgen.errors import NonFiniteLossError
from musicgen.model import Decoder, Rotation
from musicgen.training.batches import Batch
from musicgen.training.compiling import compiled
from musicgen.training.gradients import LossFunction, add_gradients
from musicgen.training.group import ALONE, Group
from musicgen.training.memory import out_of_memory
from musicgen.training.optim import Optimizers
from musicgen.training.recipe import TrainingRecipe


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
    attend = attention_for(recipe.precision, device, decoder.config.d_head)

    def losses(ids: Tensor, rotation: Rotation) -> Tensor:
        with torch.autocast(device.type, torch.bfloat16) if in_bf16 else nullcontext():
            logits = decoder(
                ids, recompute=recipe.recompute_activations, attend=attend, rotation=rotation
            )
        return torch.stack(
            [
                F.cross_entropy(scores.flatten(0, 1).float(), ids[:, 1:, k].flatten())
                for k, scores in enumerate(logits)
            ]
        )

    made = compiled(losses) if recipe.compile else losses
    return lambda ids: made(ids, decoder.rotation(ids.shape[1] - 1, device))


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTaken:
    """What a step found, of the windows of all processes.

    Attributes:
        loss: Nats an event before the step.
        gradient_norm: Before clipping.
    """

    loss: float
    gradient_norm: float


class Stepper:
    """Takes the steps of one model.

    Attributes:
        windows_at_once: Windows of `seq_len` events that this process reads at once, of shorter
            ones as many more; None for all of its share.
    """

    def __init__(
        self,
        decoder: Decoder,
        optimizers: Optimizers,
        recipe: TrainingRecipe,
        device: torch.device,
        *,
        group: Group = ALONE,
        windows_at_once: int | None = None,
    ) -> None:
        """Prepare.

        Args:
            decoder: The model, on the device.
            optimizers: Its optimizers.
            recipe: The settings, with precision and compiling decided.
            device: Where it trains.
            group: The processes that take the steps together.
            windows_at_once: See the attribute.

        Raises:
            ValueError: The recipe leaves precision or compiling open.
        """
        self._losses = make_loss(decoder, recipe, device)
        self._decoder, self._optimizers, self._recipe = decoder, optimizers, recipe
        self._device = device
        self._gradients = group.gradients(decoder)
        self._share = group.share
        self.windows_at_once = windows_at_once

    def take(self, batch: Batch, rate: float, turn: int) -> StepTaken | None:
        """Take one step.

        Args:
            batch: What this process reads.
            rate: Learning rate of this step.
            turn: Which step of the run it is.

        Returns:
            What it found; None where the windows read at once are too many for the memory of one
            process or another: the weights are untouched, see `halve`.

        Raises:
            NonFiniteLossError: The loss is infinite or not a number; the weights are untouched.
            LeftError: Another process leaves the run; the weights are untouched.
        """
        loss = self._gradients.of(lambda: self._add_gradients(batch))
        if loss is None:
            return None
        gradients = [each.grad for each in self._decoder.parameters() if each.grad is not None]
        norm = torch.nn.utils.get_total_norm(gradients)
        if not (torch.isfinite(loss) and torch.isfinite(norm)):
            raise NonFiniteLossError(
                f"The loss became {loss.item()} with a gradient of norm {norm.item()}.",
                hint="Resume from the last checkpoint with a lower learning_rate.",
            )
        # As torch's clipping, but that Muon multiplies where it adds: gradients are read once less.
        factor = min(1.0, self._recipe.clip_norm / (norm.item() + 1e-6))
        self._optimizers.step(rate, turn, factor)
        return StepTaken(loss=loss.item(), gradient_norm=norm.item())

    def _add_gradients(self, batch: Batch) -> Tensor:
        ids = torch.from_numpy(batch.ids).to(self._device)
        at_once = self.windows_at_once
        if at_once is not None:
            at_once = max(1, at_once * self._recipe.seq_len // (batch.ids.shape[1] - 1))
        return add_gradients(self._losses, ids, n_windows=batch.n_windows, at_once=at_once)

    def halve(self) -> int:
        """Read half as many windows at once from now on; return how many.

        Raises:
            OutOfMemoryError: It was one window.
        """
        most = len(self._share.rows(self._recipe.batch_size))
        before = min(self.windows_at_once or most, most)
        if before == 1:
            raise out_of_memory(self._recipe.seq_len)
        self.windows_at_once = before // 2
        return self.windows_at_once
