"""Torch's matrices and tables, left as they are by their construction.

    V ids of an attribute   C width of the model

`Decoder` draws all weights from a named generator, or a file brings them. What torch would draw
before is thrown away, and for matrices without storage it costs a second: torch then imports its
whole compiler (`torch._dynamo`).
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Linear(nn.Linear):
    """torch's Linear without weights of its own choice."""

    def reset_parameters(self) -> None:
        """Draw nothing."""


class Embedding(nn.Embedding):
    """torch's Embedding without weights of its own choice."""

    def reset_parameters(self) -> None:
        """Draw nothing."""

    def forward(self, input: Tensor) -> Tensor:
        """Return the rows of ids (…), int64: (…, C)."""
        if torch.compiler.is_compiling() and input.device.type == "cpu":
            return _Rows.apply(input, self.weight)
        return super().forward(input)


class _Rows(torch.autograd.Function):
    """Rows of a table, whose gradient a compiled step on a CPU leaves to torch's own kernel.

    What the compiler makes of it adds numbers one by one with a lock each: 9 ms for 2,000 events
    and 512 columns, where torch's kernel takes one.
    """

    @staticmethod
    def forward(ctx: Any, ids: Tensor, table: Tensor) -> Tensor:
        ctx.save_for_backward(ids)
        ctx.n_ids = table.shape[0]
        return F.embedding(ids, table)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, Tensor]:
        (ids,) = ctx.saved_tensors
        return None, _table_gradient(gradient, ids, ctx.n_ids)


@torch.library.custom_op("musicgen::table_gradient", mutates_args=())
def _table_gradient(gradient: Tensor, ids: Tensor, n_ids: int) -> Tensor:
    """Sum up the gradients (…, C) of rows `ids` (…): (V, C)."""
    return torch.ops.aten.embedding_dense_backward(gradient, ids, n_ids, -1, False)


@_table_gradient.register_fake
def _(gradient: Tensor, ids: Tensor, n_ids: int) -> Tensor:
    return gradient.new_empty(n_ids, gradient.shape[-1])
