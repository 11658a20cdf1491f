"""The facts of a checkpoint, without its weights and without torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from musicgen.checkpoint.manifest import WEIGHTS, read_json, read_manifest, resolve_checkpoint


def describe_checkpoint(name: str | Path) -> dict[str, Any]:
    """Return the facts of a checkpoint without loading its weights.

    Raises:
        CheckpointError: It is missing or not a checkpoint.
    """
    folder = resolve_checkpoint(name)
    manifest = read_manifest(folder)
    config = read_json(folder, manifest, "model.json")
    return {
        "name": manifest.name,
        "folder": str(folder),
        "step": manifest.step,
        "config": config,
        "licence": manifest.licence,
        "sha256": manifest.files[WEIGHTS].sha256,
        "training": manifest.training,
    }
