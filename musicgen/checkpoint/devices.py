"""The devices that a model may be put on."""

from __future__ import annotations

import torch

from musicgen.errors import ConfigError


def find_device(name: str) -> str:
    """Return the torch device for "auto", "cpu" or "cuda".

    Raises:
        ConfigError: There is no such device here.
    """
    if name not in ("auto", "cpu", "cuda"):
        raise ConfigError(
            f"There is no device {name!r}.", hint="The devices are auto, cpu and cuda."
        )
    available = torch.cuda.is_available()
    if name == "cuda" and not available:
        raise ConfigError(
            "This machine has no CUDA device that torch can use.",
            hint="Use the device cpu, or auto.",
        )
    if name == "auto":
        return "cuda" if available else "cpu"
    return name
