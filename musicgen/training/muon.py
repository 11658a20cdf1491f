"""Muon: momentum whose matrices are made orthogonal before they are applied.

Source: Jordan et al. (2024), "Muon: An optimizer for hidden layers in neural networks"; the scale
that lets it share AdamW's learning rates: Liu et al. (2025), "Muon is Scalable for LLM Training";
the polynomials: Amsel et al. (2025), "The Polar Express".

torch has a Muon too (2.9 and newer). This one multiplies in float32 and takes matrices of one
shape together: on processors whose bf16 is slow it takes two thirds of the time.

Legend: G matrices of one shape, R rows, C columns.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

_QUINTICS = (
    (8.28721201814563, -23.595886519098837, 17.300387312530933),
    (4.107059111542203, -2.9478499167379106, 0.5448431082926601),
    (3.9486908534822946, -2.908902115962949, 0.5518191394370137),
)
"""Odd polynomials that pull singular values together one after another: the first three of Amsel
et al. On a CPU each costs a tenth of a step, and with few events a step three teach as well as
five (docs/lab_log.md)."""
_MARGIN = 1.01
"""How far below 1 the polynomials want the largest singular value."""
_RMS_OF_ADAMW = 0.2
"""Typical root mean square of AdamW's updates, which ours are scaled to (Liu et al.)."""


class Muon(torch.optim.Optimizer):
    """Muon for matrices; every parameter must have two dimensions."""

    def __init__(
        self,
        params: Iterable[Tensor],
        *,
        lr: float,
        momentum: float = 0.95,
        weight_decay: float = 0.0,
    ) -> None:
        """Set up.

        Args:
            params: Matrices.
            lr: Learning rate, on the scale of AdamW's.
            momentum: How much of the running mean of gradients stays at a step.
            weight_decay: Decoupled, as AdamW's.

        Raises:
            ValueError: A parameter is not a matrix.
        """
        defaults: dict[str, Any] = {"lr": lr, "momentum": momentum, "weight_decay": weight_decay}
        super().__init__(params, defaults)
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.ndim != 2:
                    raise ValueError(f"a parameter of shape {tuple(parameter.shape)} is no matrix")

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Apply the gradients."""
        for group in self.param_groups:
            by_shape: dict[torch.Size, list[Tensor]] = {}
            for parameter in group["params"]:
                if parameter.grad is not None:
                    by_shape.setdefault(parameter.shape, []).append(parameter)
            for shape, parameters in by_shape.items():
                directions = [
                    self._direction(each, each.grad, group["momentum"])
                    for each in parameters
                    if each.grad is not None
                ]
                updates = orthogonal(torch.stack(directions))
                scale = group["lr"] * _RMS_OF_ADAMW * max(shape) ** 0.5
                for parameter, update in zip(parameters, updates, strict=True):
                    parameter.mul_(1 - group["lr"] * group["weight_decay"])
                    parameter.sub_(update, alpha=scale)

    def _direction(self, parameter: Tensor, gradient: Tensor, momentum: float) -> Tensor:
        """Return the gradient looked ahead along its running mean (Nesterov)."""
        state = self.state[parameter]
        if not state:
            state["momentum"] = torch.zeros_like(parameter)
        mean = state["momentum"].lerp_(gradient, 1 - momentum)
        return torch.lerp(gradient, mean, momentum)


def orthogonal(matrices: Tensor) -> Tensor:
    """Return nearly orthogonal matrices with the given ones' singular vectors: (G, R, C).

    Singular values of a hundredth of the norm or more come out between 0.18 and 1.9, most of them
    above 1, which serves an update about as well as 1.
    """
    tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.mT if tall else matrices
    # The polynomials need singular values of at most 1; the Frobenius norm bounds them.
    x = x / (_MARGIN * x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for a, b, c in _QUINTICS:
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.mT if tall else x
