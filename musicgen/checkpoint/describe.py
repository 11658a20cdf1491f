"""The facts of a checkpoint that can be used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from musicgen import configio
from musicgen.checkpoint.manifest import read_checked
from musicgen.checkpoint.store import load_checkpoint


def describe_checkpoint(name: str | Path) -> dict[str, Any]:
    """Return the facts of a checkpoint, once it is sure that it can be used.

    Raises:
        CheckpointError: It is missing, damaged or foreign, in whichever of its files.
    """
    checkpoint = load_checkpoint(name)
    manifest = checkpoint.manifest
    for key in manifest.files:
        read_checked(checkpoint.folder, manifest, key)
    return {
        "name": manifest.name,
        "folder": str(checkpoint.folder),
        "step": manifest.step,
        "config": configio.to_mapping(checkpoint.decoder.config),
        "licence": manifest.licence,
        "sha256": checkpoint.sha256,
        "training": manifest.training,
    }
