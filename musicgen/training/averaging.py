"""A running mean of the weights, which is what is validated and kept where a recipe asks for it.

Source: Polyak and Juditsky (1992); the decay that grows with the steps, so that the mean soon
forgets the first weights: TensorFlow's ExponentialMovingAverage.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping

import torch
from torch import Tensor

from musicgen.model import Decoder


class Average:
    """The mean of a model's weights; a function of the steps taken, so that a run resumes exactly.

    Attributes:
        decoder: A model with the mean weights.
    """

    def __init__(self, decoder: Decoder, decay: float) -> None:
        """Begin with a model's present weights.

        Args:
            decoder: The model that trains.
            decay: How much of the mean stays at a step, once there were many.
        """
        self.decoder = copy.deepcopy(decoder).eval()
        self._decay = decay

    @torch.no_grad()
    def take_in(self, decoder: Decoder, step: int) -> None:
        """Move towards the weights after so many steps."""
        weight = 1 - min(self._decay, (1 + step) / (10 + step))
        for mean, parameter in zip(self.decoder.parameters(), decoder.parameters(), strict=True):
            if parameter.requires_grad:
                mean.lerp_(parameter, weight)

    def tensors(self) -> dict[str, Tensor]:
        """Return the mean of all that learns, by name."""
        named = self.decoder.named_parameters()
        return {name: mean.detach() for name, mean in named if mean.requires_grad}

    @torch.no_grad()
    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Take back what `tensors` returned.

        Raises:
            ValueError: A mean is missing, or of another shape.
        """
        for name, mean in self.tensors().items():
            found = tensors.get(name)
            if found is None or found.shape != mean.shape:
                raise ValueError(f"the mean of {name} is missing or of another shape")
            mean.copy_(found)
