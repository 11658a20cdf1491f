"""Muon's nearly orthogonal matrices by compiled code, where a CPU multiplies bf16 by itself.

R rows   C columns   I polynomials
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from musicgen.engine.learning import multiplies_bf16
from musicgen.engine.workers import on_all_cores


def is_faster(device: torch.device) -> bool:
    """Return whether `orthogonal_compiled` is faster there than torch's products.

    Where a CPU has a unit for whole matrices (AMX), which torch knows and this does not, it is not.
    """
    return device.type == "cpu" and multiplies_bf16() and not torch.cpu._is_amx_tile_supported()


def orthogonal_compiled(
    matrices: Sequence[Tensor], *, polynomials: Sequence[Sequence[float]], margin: float
) -> list[Tensor]:
    """Return each matrix X as X · p(X · Xᵀ) for each polynomial p in turn, X scaled to its norm.

    Args:
        matrices: Of any shapes (R, C), float32, on a CPU.
        polynomials: (I, 3): the coefficients of 1, of X · Xᵀ and of its square.
        margin: The norm that X is scaled to is 1 / margin.

    Returns:
        Matrices of the same shapes, float32; products are bf16, sums of them float32. The number of
        threads changes no bit.

    Raises:
        ValueError: A matrix is not float32.
    """
    from musicgen.engine.compiled import apply_polynomials
    from musicgen.engine.polynomials import room

    function, coefficients = apply_polynomials(), np.array(polynomials, np.float32)
    if any(each.dtype != torch.float32 for each in matrices):
        raise ValueError(f"matrices of {', '.join(sorted({str(m.dtype) for m in matrices}))}")
    given = [each.detach().contiguous() for each in matrices]
    made = [torch.empty_like(each) for each in given]

    def run(i: int) -> None:
        n_rows, n_columns = given[i].shape
        steps = n_columns, 1
        if n_rows > n_columns:  # read as if it lay on its side
            n_rows, n_columns, steps = n_columns, n_rows, (1, n_columns)
        n_groups, n_floats = room(n_rows, n_columns)
        scratch = np.empty(n_groups, np.int32), np.empty(n_floats, np.float32)
        x, out = given[i].numpy().reshape(-1), made[i].numpy().reshape(-1)
        shape = n_rows, n_columns
        function(x, out, steps, shape, np.float32(margin), coefficients, *scratch)

    # Large ones first: a small one at the end leaves little to wait for.
    on_all_cores(run, sorted(range(len(given)), key=lambda i: -given[i].numel()))
    return made
