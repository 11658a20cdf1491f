"""One more file for a checkpoint that is there already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from musicgen import configio
from musicgen.checkpoint.folder import write_folder
from musicgen.checkpoint.manifest import (
    DATA_FILES,
    MANIFEST,
    Manifest,
    file_facts,
    is_plain_name,
    read_checked,
    read_manifest,
    resolve_checkpoint,
)
from musicgen.files import is_file


def add_file(
    checkpoint: str | Path, key: str, data: bytes, *, training: Mapping[str, Any] | None = None
) -> Manifest:
    """Give a checkpoint a further file, hashed like the others; one of that name is replaced.

    The folder is written anew, whole or not at all; what else lies in it (the model card) stays.

    Args:
        checkpoint: Its name or its folder.
        key: The file's name.
        data: Its bytes.
        training: Facts to add to what the manifest tells of the training.

    Raises:
        CheckpointError: There is no such checkpoint, or it is damaged.
        OSError: The folder cannot be written; what was there before is still there.
        ValueError: The name is that of a file every checkpoint has.
    """
    if key in (*DATA_FILES, MANIFEST) or not is_plain_name(key):
        raise ValueError(f"{key!r} is no name for a further file of a checkpoint")
    folder = resolve_checkpoint(checkpoint)
    manifest = read_manifest(folder)
    files = {path.name: path.read_bytes() for path in folder.iterdir() if is_file(path)}
    files |= {name: read_checked(folder, manifest, name) for name in manifest.files if name != key}
    files[key] = data
    manifest = replace(
        manifest,
        files={**manifest.files, key: file_facts(data)},
        training={**manifest.training, **(training or {})},
    )
    files[MANIFEST] = configio.to_json(manifest).encode()
    write_folder(folder, files)
    return manifest
