"""Checkpoints: models as data. Torch is imported only by what needs the weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musicgen.checkpoint.extend import add_file
from musicgen.checkpoint.manifest import (
    Manifest,
    checkpoint_sizes,
    find_checkpoint,
    read_manifest,
    resolve_checkpoint,
    weights_sha256,
)

if TYPE_CHECKING:
    from musicgen.checkpoint.describe import describe_checkpoint
    from musicgen.checkpoint.devices import find_device
    from musicgen.checkpoint.store import Checkpoint, load_checkpoint, save_checkpoint

__all__ = [
    "Checkpoint",
    "Manifest",
    "add_file",
    "checkpoint_sizes",
    "describe_checkpoint",
    "find_checkpoint",
    "find_device",
    "load_checkpoint",
    "read_manifest",
    "resolve_checkpoint",
    "save_checkpoint",
    "weights_sha256",
]


def __getattr__(name: str) -> object:
    if name in ("Checkpoint", "load_checkpoint", "save_checkpoint"):
        from musicgen.checkpoint import store

        return getattr(store, name)
    if name == "describe_checkpoint":
        from musicgen.checkpoint.describe import describe_checkpoint

        return describe_checkpoint
    if name == "find_device":
        from musicgen.checkpoint.devices import find_device

        return find_device
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
