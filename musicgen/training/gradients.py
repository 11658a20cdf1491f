"""The gradient of a step, part by part, as large as memory holds.

Legend: B windows that this process reads, T events a window predicts, K attributes.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

LossFunction = Callable[[Tensor], Tensor]


def add_gradients(
    losses: LossFunction, ids: Tensor, *, n_windows: int, at_once: int | None
) -> Tensor:
    """Add the gradient of a step's mean loss to the parameters' gradients.

    Every window counts alike, however the windows are shared out: the parts of all processes sum
    to the gradient of the whole batch, but for the order of the sums.

    Args:
        losses: See `make_loss`.
        ids: The windows of this process (B, T + 1, K), int64, on the model's device.
        n_windows: The step's windows, on all processes.
        at_once: Windows read at once; None for all B.

    Returns:
        This process's part of the mean nats an event, a scalar without a graph.
    """
    parts = ids.split(at_once or len(ids))
    total = None
    for part in parts:
        loss = losses(part).sum()
        if len(part) != n_windows:
            loss = loss * (len(part) / n_windows)
        loss.backward()
        total = loss.detach() if total is None else total + loss.detach()
    if total is None:
        raise ValueError("a step without a window has no gradient")
    return total
