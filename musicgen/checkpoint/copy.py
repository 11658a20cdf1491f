"""A copy of a checkpoint, without what only belongs to the original."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from musicgen import configio
from musicgen.checkpoint.folder import write_folder
from musicgen.checkpoint.manifest import (
    DATA_FILES,
    MANIFEST,
    read_checked,
    read_manifest,
    resolve_checkpoint,
)
from musicgen.files import is_folder


def copy_checkpoint(checkpoint: str | Path, folder: Path) -> None:
    """Copy a model's sizes, tokenizer and weights to the bit, with its manifest.

    Further files (a model card, the index of copies) stay behind.

    Args:
        checkpoint: Its name or its folder.
        folder: Where to; one that exists is replaced.

    Raises:
        CheckpointError: There is no such checkpoint, or it is damaged.
        OSError: The folder cannot be written.
    """
    source = resolve_checkpoint(checkpoint)
    manifest = read_manifest(source)
    files = {key: read_checked(source, manifest, key) for key in DATA_FILES}
    manifest = replace(manifest, files={key: manifest.files[key] for key in DATA_FILES})
    files[MANIFEST] = configio.to_json(manifest).encode()
    write_folder(folder, files)


def is_copy(folder: Path) -> bool:
    """Whether a folder holds what `copy_checkpoint` writes, and nothing else."""
    if not is_folder(folder):
        return False
    return {path.name for path in folder.iterdir()} == {MANIFEST, *DATA_FILES}
