"""Causal self-attention with its gradient, by compiled code: what a training step on a CPU takes.

    B windows   T events   H heads   D width of a head   G numbers a group (see `products`)

torch's own on a CPU multiplies bf16 no faster than float32 and takes half of a small model's step;
this takes a third to a half of its time, and rounds less. It is known to torch as an operation of
its own, so that a compiled step passes it on as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from musicgen.engine.workers import on_all_cores
from musicgen.model import Attend, attend

_MULTIPLE = 16
"""D is so much times a whole number: a vector of sums."""

_WORTH_A_THREAD = 1 << 25
"""B · H · T · T · D that take longer than a thread takes to begin."""


def attention_for(precision: str, device: torch.device, d_head: int) -> Attend:
    """Return the fastest attention for training here: `attend_compiled`, or torch's.

    Args:
        precision: "bf16" or "float32", of the step's products.
        device: Where it trains.
        d_head: Width of a head.
    """
    if device.type != "cpu" or d_head % _MULTIPLE:
        return attend
    # Elsewhere (Apple's matrix units, above all) torch's was never measured against it.
    known = torch.backends.cpu.get_cpu_capability() in ("AVX2", "AVX512")
    is_faster = multiplies_bf16() if precision == "bf16" else known
    return attend_compiled if is_faster else attend


def warnings_about_training(precision: str, device: torch.device, d_head: int) -> tuple[str, ...]:
    """Return what a user should know of the compiled code that a run needs, in sentences."""
    if attention_for(precision, device, d_head) is attend:
        return ()
    from musicgen.engine.compiled import attend_backward, attend_forward, warnings_about

    return warnings_about(attend_forward(), attend_backward())


def attend_compiled(
    q: Tensor, k: Tensor, v: Tensor, *, causal: bool = True, visible: Tensor | None = None
) -> Tensor:
    """Return what `musicgen.model.attend` does, for causal self-attention on a CPU, in v's numbers.

    Args:
        q: Queries (B, H, T, D).
        k: Keys (B, H, T, D).
        v: Values (B, H, T, D), bf16 or float32.
        causal: True.
        visible: None.

    Returns:
        Weighted values (B, H, T, D).

    Raises:
        ValueError: Attention of another kind or of other numbers is asked for, or of nothing.
    """
    if not causal or visible is not None or q.shape != k.shape:
        raise ValueError("only causal self-attention of whole windows is compiled")
    if q.shape[-1] % _MULTIPLE:
        raise ValueError(f"heads are {q.shape[-1]} wide, which is no multiple of {_MULTIPLE}")
    if v.dtype not in (torch.bfloat16, torch.float32) or not v.numel():
        raise ValueError(f"{v.numel()} values of {v.dtype} are not some of bf16 or float32")
    return _attention(q.to(v.dtype), k.to(v.dtype), v)[0]


def multiplies_bf16() -> bool:
    """Return whether compiled code multiplies bf16 by an instruction of this machine's."""
    if not torch.cpu._is_avx512_bf16_supported():  # asked first: importing numba takes a while
        return False
    from musicgen.engine import products

    return products.multiplies_bf16()


@torch.library.custom_op("musicgen::causal_attention", mutates_args=())
def _attention(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Return the weighted values (B, H, T, D) and ln Σ e^score a query (B, H, T), float32."""
    from musicgen.engine.compiled import attend_forward

    out, log_sums = _blank(q), _blank_sums(q)
    _run(attend_forward(), (q, k, v), (out,), log_sums)
    return out.transpose(1, 2), log_sums


@torch.library.custom_op("musicgen::causal_attention_gradient", mutates_args=())
def _gradients(
    q: Tensor, k: Tensor, v: Tensor, out: Tensor, gradient: Tensor, log_sums: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    from musicgen.engine.compiled import attend_backward

    made = _blank(q), _blank(q), _blank(q)
    _run(attend_backward(), (q, k, v, out, gradient), made, log_sums)
    to_q, to_k, to_v = (each.transpose(1, 2) for each in made)
    return to_q, to_k, to_v


def _blank(like: Tensor) -> Tensor:
    """Return room for a tensor (B, H, T, D), as (B, T, H, D)."""
    b, h, t, d = like.shape
    return like.new_empty(b, t, h, d)


def _blank_sums(like: Tensor) -> Tensor:
    return like.new_empty(like.shape[:3], dtype=torch.float32)


@_attention.register_fake
def _(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    return _blank(q).transpose(1, 2), _blank_sums(q)


@_gradients.register_fake
def _(
    q: Tensor, k: Tensor, v: Tensor, out: Tensor, gradient: Tensor, log_sums: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    return _blank(q).transpose(1, 2), _blank(q).transpose(1, 2), _blank(q).transpose(1, 2)


def _keep(ctx: Any, inputs: tuple[Tensor, ...], output: tuple[Tensor, Tensor]) -> None:
    ctx.save_for_backward(*inputs, *output)


def _pass_back(ctx: Any, gradient: Tensor, _: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    q, k, v, out, log_sums = ctx.saved_tensors
    return _gradients(q, k, v, out, gradient, log_sums)


_attention.register_autograd(_pass_back, setup_context=_keep)


def _run(function: Any, given: Sequence[Tensor], made: Sequence[Tensor], log_sums: Tensor) -> None:
    """Run a pass of `causal`, its heads shared out among as many threads as torch has.

    Args:
        function: The pass, compiled.
        given: What it reads, (B, H, T, D).
        made: What it writes, (B, T, H, D).
        log_sums: What is written forward and read backward (B, H, T), float32.
    """
    from musicgen.engine.causal import room

    b, n_heads, length, d = given[0].shape
    g = 2 if given[0].dtype == torch.bfloat16 else 1
    rows = [each if _lies_in_groups(each, g) else _copied(each) for each in given]
    groups = [_flat(each, g) for each in rows]
    steps = np.array([[step // g for step in each.stride()[:3]] for each in rows])
    written, sums = [_flat(each, g) for each in made], log_sums.numpy().reshape(-1)
    n_worth = 1 + b * n_heads * length * length * d // _WORTH_A_THREAD
    n_parts = min(torch.get_num_threads(), b * n_heads, n_worth)
    n_groups, n_floats = room(length, d, g)

    def run(heads: tuple[int, int]) -> None:
        scratch = np.empty(n_groups, groups[0].dtype), np.empty(n_floats, np.float32)
        function(*groups, steps, (n_heads, length, d, g), heads, sums, *written, *scratch)

    on_all_cores(run, list(pairwise(b * n_heads * i // n_parts for i in range(n_parts + 1))))


def _lies_in_groups(tensor: Tensor, g: int) -> bool:
    """Whether rows are whole, and every one begins with a group."""
    *steps, last = tensor.stride()
    return last == 1 and not any(step % g for step in (*steps, tensor.storage_offset()))


def _copied(tensor: Tensor) -> Tensor:
    """Return a copy with whole rows: `contiguous` would leave what begins within a pair there."""
    return tensor.clone(memory_format=torch.contiguous_format)


def _flat(tensor: Tensor, g: int) -> np.ndarray:
    """Return the memory that a tensor lies in from its first number on, in groups."""
    span = 1 + sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride(), strict=True))
    line = torch.as_strided(tensor, (span,), (1,))
    return line.view(torch.int32 if g == 2 else torch.float32).numpy()
