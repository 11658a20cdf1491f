"""Which numbers the products of a training run are made in."""

from __future__ import annotations

import time
from typing import Literal

import torch

Precision = Literal["float32", "bf16"]

_ROWS, _WIDTH = 2_048, 512
"""The size of a product as a small model's step makes it."""
_ROUNDS = 5
_WORTHWHILE = 1.2
"""bf16 must be this much faster to be chosen, so that noise does not decide."""


def faster_precision(device: torch.device) -> Precision:
    """Return the precision in which the device multiplies faster.

    On CUDA the hardware says so. On a CPU it is measured, in some 50 ms: there are processors
    that announce bf16 and multiply float32 at 1.7 times its speed.
    """
    if device.type == "cuda":
        return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float32"
    if not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        return "float32"
    gain = _seconds(torch.float32) / _seconds(torch.bfloat16)
    return "bf16" if gain > _WORTHWHILE else "float32"


def _seconds(dtype: torch.dtype) -> float:
    """Return the shortest of a few products."""
    left, right = torch.ones(_ROWS, _WIDTH, dtype=dtype), torch.ones(_WIDTH, _WIDTH, dtype=dtype)
    times = []
    for _ in range(_ROUNDS):
        began = time.perf_counter()
        torch.mm(left, right)
        times.append(time.perf_counter() - began)
    return min(times)
