"""Muon: momentum whose matrices are made orthogonal before they are applied.

Source: Jordan et al. (2024), "Muon: An optimizer for hidden layers in neural networks"; the scale
that lets it share AdamW's learning rates: Liu et al. (2025), "Muon is Scalable for LLM Training";
the polynomials: Amsel et al. (2025), "The Polar Express".

torch has a Muon too (2.9 and newer). This one multiplies in the run's own precision, by compiled
code where that is faster, and lets matrices take turns: where a step reads few events, making them
orthogonal costs as much as half of it, and a mean over twenty steps changes little in one.

Legend: G matrices of one shape, R rows, C columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from musicgen.engine.orthogonal import is_faster, orthogonal_compiled

POLYNOMIALS = (
    (8.28721201814563, -23.595886519098837, 17.300387312530933),
    (4.107059111542203, -2.9478499167379106, 0.5448431082926601),
    (3.9486908534822946, -2.908902115962949, 0.5518191394370137),
)
"""Odd polynomials that pull singular values together one after another: the first three of Amsel
et al. On a CPU each costs a tenth of a step, and with few events a step three teach as well as
five (docs/lab_log.md)."""
MARGIN = 1.01
"""How far below 1 the polynomials want the largest singular value."""
_RMS_OF_ADAMW = 0.2
"""Typical root mean square of AdamW's updates, which ours are scaled to (Liu et al.)."""

Orthogonal = Callable[[Sequence[Tensor]], Sequence[Tensor]]
"""What `orthogonal` does."""


def orthogonal(matrices: Sequence[Tensor], products: torch.dtype = torch.float32) -> list[Tensor]:
    """Return nearly orthogonal matrices with the given ones' singular vectors: (R, C), float32.

    Singular values of a hundredth of the norm or more come out between 0.18 and 1.9, most of them
    above 1, which serves an update about as well as 1.

    Args:
        matrices: Of any shapes (R, C), float32; those of one shape are multiplied together.
        products: What is multiplied.
    """
    by_shape: dict[torch.Size, list[int]] = {}
    for i, matrix in enumerate(matrices):
        by_shape.setdefault(matrix.shape, []).append(i)
    found = list(matrices)
    for alike in by_shape.values():
        made = _orthogonal_of_one_shape(torch.stack([matrices[i] for i in alike]), products)
        for i, matrix in zip(alike, made, strict=True):
            found[i] = matrix
    return found


def _orthogonal_of_one_shape(matrices: Tensor, products: torch.dtype) -> Tensor:
    """Do what `orthogonal` does with matrices (G, R, C)."""
    tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.mT if tall else matrices
    # The polynomials need singular values of at most 1; the Frobenius norm bounds them.
    x = (x / (MARGIN * x.norm(dim=(1, 2), keepdim=True) + 1e-7)).to(products)
    n_at_once = _polynomials_at_once(x.shape[1:])
    for first in range(0, len(POLYNOMIALS), n_at_once):
        factor, matrix = _composed(x @ x.mT, POLYNOMIALS[first : first + n_at_once])
        x = torch.baddbmm(x, matrix, x, beta=factor)
    return (x.mT if tall else x).float()


def _polynomials_at_once(shape: torch.Size) -> int:
    """Return how many polynomials are made one before they are applied.

    Where a matrix is much wider than high, two are, of X · Xᵀ, which is small beside it. Three lose
    too much to rounding (docs/lab_log.md).
    """
    low, high = sorted(shape)
    return 2 if high >= 2 * low else 1


def _composed(gram: Tensor, polynomials: Sequence[Sequence[float]]) -> tuple[float, Tensor]:
    """Return one matrix for one or two polynomials of X · Xᵀ, and how often 1 comes with it."""
    a, b, c = polynomials[0]
    first = torch.baddbmm(gram, gram, gram, beta=b, alpha=c)
    if len(polynomials) == 1:
        return a, first
    between = torch.baddbmm(gram, first, gram, beta=a)
    gram = torch.baddbmm(between, first, between, beta=a)
    d, e, f = polynomials[1]
    second = torch.baddbmm(gram, gram, gram, beta=e, alpha=f)
    return a * d, torch.baddbmm(d * first + a * second, first, second)


def orthogonal_for(precision: str, device: torch.device) -> Orthogonal:
    """Return the fastest way to do what `orthogonal` does in a run's precision on a device.

    Args:
        precision: "bf16" or "float32".
        device: Where the matrices are.
    """
    if precision != "bf16":
        return orthogonal
    if is_faster(device):
        return partial(orthogonal_compiled, polynomials=POLYNOMIALS, margin=MARGIN)
    return partial(orthogonal, products=torch.bfloat16)


class Muon(torch.optim.Optimizer):
    """Muon for matrices; every parameter must have two dimensions."""

    def __init__(
        self,
        params: Iterable[Tensor],
        *,
        lr: float,
        momentum: float = 0.95,
        weight_decay: float = 0.0,
        period: int = 1,
        orthogonal: Orthogonal = orthogonal,
    ) -> None:
        """Set up.

        Args:
            params: Matrices.
            lr: Learning rate, on the scale of AdamW's.
            momentum: How much of the running mean of gradients stays at a step.
            weight_decay: Decoupled, as AdamW's.
            period: A matrix is updated every so many steps, and by so much more; of each shape as
                many at one step as at the next.
            orthogonal: What makes matrices orthogonal.

        Raises:
            ValueError: A parameter is not a matrix, or the period is below 1.
        """
        defaults: dict[str, Any] = {"lr": lr, "momentum": momentum, "weight_decay": weight_decay}
        super().__init__(params, defaults)
        if period < 1:
            raise ValueError(f"a period of {period} steps is below 1")
        self._period, self._orthogonal = period, orthogonal
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.ndim != 2:
                    raise ValueError(f"a parameter of shape {tuple(parameter.shape)} is no matrix")

    @torch.no_grad()
    def step(  # type: ignore[override]
        self, closure: None = None, *, turn: int = 0, factor: float = 1.0
    ) -> None:
        """Keep the gradients of all matrices, and update those whose turn it is.

        Args:
            closure: None.
            turn: Which step of the run this is: from it follows whose turn it is, so that a resumed
                run goes on as an unbroken one.
            factor: How much of each gradient counts.
        """
        for group in self.param_groups:
            by_shape: dict[torch.Size, list[Tensor]] = {}
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._keep(parameter, parameter.grad, group["momentum"], factor)
                    by_shape.setdefault(parameter.shape, []).append(parameter)
            due, n_before = [], 0
            for alike in by_shape.values():
                # Counted through all shapes, so that no turn has the odd ones of each.
                first = (turn - n_before) % self._period
                due += alike[first :: self._period]
                n_before += len(alike)
            self._update(due, group, factor)

    def _keep(self, parameter: Tensor, gradient: Tensor, momentum: float, factor: float) -> None:
        """Add a gradient to its running mean."""
        state = self.state[parameter]
        if not state:
            state["momentum"] = torch.zeros_like(parameter)
        state["momentum"].mul_(momentum).add_(gradient, alpha=(1 - momentum) * factor)

    def _update(self, matrices: Sequence[Tensor], group: dict[str, Any], factor: float) -> None:
        """Update matrices, each by its gradient looked ahead along its mean (Nesterov)."""
        momentum = group["momentum"]
        directions = [
            torch.mul(self.state[each]["momentum"], momentum).add_(
                each.grad, alpha=(1 - momentum) * factor
            )
            for each in matrices
            if each.grad is not None
        ]
        rate = group["lr"] * self._period
        for parameter, update in zip(matrices, self._orthogonal(directions), strict=True):
            parameter.mul_(1 - rate * group["weight_decay"])
            parameter.sub_(update, alpha=rate * _RMS_OF_ADAMW * max(parameter.shape) ** 0.5)


def n_multiplied(shape: torch.Size) -> int:
    """Return how many multiplications it takes to make a matrix of that shape orthogonal."""
    low, high = sorted(shape)
    n_at_once = _polynomials_at_once(shape)
    n_applied = -(-len(POLYNOMIALS) // n_at_once)
    squares = len(POLYNOMIALS) + 3 * (len(POLYNOMIALS) - n_applied)
    return n_applied * 2 * low * low * high + squares * low**3
