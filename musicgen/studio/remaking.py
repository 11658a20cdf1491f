"""Which model here made a take: found by the hash of its weights, never by a name in a file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from musicgen.checkpoint import find_checkpoint, resolve_checkpoint, weights_sha256
from musicgen.errors import CheckpointError


def model_of(sha256: str, *, own: str, trained: Iterable[Path] = ()) -> str | None:
    """Return what to load for a hash: the studio's own model, another folder, or None.

    Args:
        sha256: Of the weights.
        own: Name or folder of the studio's own model.
        trained: Folders of models that were trained here.
    """
    if sha256_of(own) == sha256:
        return own
    found = find_checkpoint(sha256, trained)
    return None if found is None else str(found)


def sha256_of(model: str | Path) -> str | None:
    """Return the hash of a model's weights, of its name or folder; None where there is none."""
    try:
        return weights_sha256(resolve_checkpoint(model))
    except CheckpointError:
        return None
