"""The compiled training step: where a compiler works, and the run is long enough to pay for it.

torch's compiler takes a second to import, so it waits until it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from musicgen.errors import TrainingError

WORTHWHILE_S = 30 * 60.0
"""Compiling one step for each length of window takes some minutes of a small machine."""

COMPILED = "The step is compiled, which takes a few minutes at first."
NOT_COMPILED = (
    "The step is not compiled, since no C++ compiler works here; with one it would be faster."
)


def settle_compile(*, expected_s: float, device: torch.device) -> tuple[bool, str]:
    """Decide whether to compile where the recipe leaves it open.

    Args:
        expected_s: How long the run will take if it is not compiled.
        device: Where it trains.

    Returns:
        Whether to, and a sentence for the user or nothing.
    """
    if expected_s < WORTHWHILE_S:
        return False, ""
    return (True, COMPILED) if compiles(device) else (False, NOT_COMPILED)


def compiles(device: torch.device) -> bool:
    """Return whether something small can be compiled, in some ten seconds."""
    from torch._dynamo.exc import BackendCompilerFailed, InternalTorchDynamoError

    try:
        torch.compile(lambda x: x.sin() + 1)(torch.ones(8, device=device))
    except (BackendCompilerFailed, InternalTorchDynamoError, RuntimeError, OSError):
        return False
    return True


def compiled(losses: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return the same function compiled, once for each shape that it meets.

    What is returned raises `TrainingError` where it cannot be compiled.
    """
    from torch._dynamo.exc import BackendCompilerFailed

    fast = torch.compile(losses, dynamic=False)

    def told(*given: Any) -> Tensor:
        try:
            return fast(*given)
        except BackendCompilerFailed as error:
            reason = str(error).strip().splitlines()[0]
            raise TrainingError(
                f"The training step could not be compiled ({reason}).",
                hint="Install a C++ compiler, or begin a run with compile = false in a TOML file.",
            ) from error

    return told
