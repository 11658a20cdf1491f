"""The manifest of a checkpoint: what it is, and what every other file of it must be."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from musicgen import configio
from musicgen.assets import asset_dir
from musicgen.errors import (
    CheckpointCorruptError,
    CheckpointFormatError,
    CheckpointNotFoundError,
    ConfigError,
)
from musicgen.files import is_file, is_there

FORMAT = "musicgen-checkpoint"
VERSION = 1
MANIFEST = "manifest.json"
WEIGHTS = "model.safetensors"
DATA_FILES = ("model.json", "tokenizer.json", WEIGHTS)
COPY_AGAIN = "Copy the checkpoint again, or use an earlier one."
MAX_JSON_BYTES = configio.MAX_CONFIG_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFacts:
    """Size and SHA-256 of one file of the checkpoint."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What `manifest.json` holds.

    Attributes:
        format: Always "musicgen-checkpoint".
        version: Of the format.
        name: What the model is called.
        step: Optimizer steps it was trained.
        tokenizer: Fingerprint of its tokenizer.
        files: Size and hash of every other file.
        licence: Of the weights, or empty.
        training: Facts of the training: recipe, corpus, figures.
    """

    format: str
    version: int
    name: str
    step: int
    tokenizer: str
    files: dict[str, FileFacts]
    licence: str = ""
    training: dict[str, Any]


def resolve_checkpoint(name: str | Path) -> Path:
    """Return the checkpoint directory that a name or path means.

    A shipped model is found by its name from anywhere; a training run's folder means its best
    checkpoint.

    Raises:
        CheckpointNotFoundError: There is none.
    """
    path = Path(name)
    for candidate in (path, path / "best"):
        if is_file(candidate / MANIFEST):
            return candidate
    shipped = asset_dir("checkpoints") / path.name
    if path.parent == Path() and path.name and is_file(shipped / MANIFEST):
        return shipped
    names = sorted(p.parent.name for p in asset_dir("checkpoints").glob(f"*/{MANIFEST}"))
    raise CheckpointNotFoundError(
        f"There is no model {str(name)!r}: neither a shipped one nor a folder with {MANIFEST}.",
        hint=f"Shipped: {', '.join(names) or 'none'}. A run of `musicgen train` is a folder too.",
    )


def find_checkpoint(sha256: str, others: Iterable[Path] = ()) -> Path | None:
    """Return the shipped model of these weights, or one of `others`; None if there is none.

    Found by what it is and not by its name: a recipe's model may be called anything. Loading it
    holds the weights themselves against the hash.

    Args:
        sha256: Hash of the weights' file.
        others: Checkpoint directories to look at as well.
    """
    shipped = sorted(path.parent for path in asset_dir("checkpoints").glob(f"*/{MANIFEST}"))
    return next((each for each in (*shipped, *others) if weights_sha256(each) == sha256), None)


def weights_sha256(folder: Path) -> str | None:
    """Return what a checkpoint's manifest says of its weights; None where it cannot be read."""
    try:
        return read_manifest(folder).files[WEIGHTS].sha256
    except CheckpointFormatError:
        return None  # said to whoever asks for that one


def read_manifest(folder: Path) -> Manifest:
    """Read a checkpoint's manifest alone.

    Raises:
        CheckpointFormatError: It is not one that this version reads.
    """
    path = folder / MANIFEST
    try:
        manifest = configio.load_json(path, Manifest)
    except ConfigError as error:
        raise CheckpointFormatError(error.message, hint=COPY_AGAIN) from error
    if manifest.format != FORMAT or manifest.version != VERSION:
        raise CheckpointFormatError(
            f"{folder} is a {manifest.format!r} of version {manifest.version}; this program reads "
            f"{FORMAT!r} of version {VERSION}.",
            hint="Update musicgen, or use a checkpoint that this version wrote.",
        )
    for key in DATA_FILES:
        if key not in manifest.files:
            raise CheckpointFormatError(
                f"The manifest of {folder} does not name {key}.", hint=COPY_AGAIN
            )
    for key in manifest.files:
        if not is_plain_name(key):
            raise CheckpointFormatError(
                f"The manifest of {folder} names {key[:60]!r}, which is no plain file name.",
                hint="It is not as musicgen writes it: use a checkpoint that you trust.",
            )
    return manifest


def is_plain_name(name: str) -> bool:
    """Whether it names a file of the folder itself, on every system."""
    return name not in ("", ".", "..") and not set(name) & set("/\\:\0")


def read_checked(folder: Path, manifest: Manifest, key: str) -> bytes:
    """Read one file of a checkpoint and hold it against its hash.

    Raises:
        CheckpointFormatError: The manifest does not name it.
        CheckpointCorruptError: It is missing, or not the file that was written.
    """
    facts = manifest.files.get(key)
    if facts is None:
        raise CheckpointFormatError(
            f"The manifest of {folder} does not name {key}.", hint=COPY_AGAIN
        )
    try:
        if is_there(folder / key) and not is_file(folder / key):
            raise CheckpointCorruptError(f"{key} of {folder} is no ordinary file.", hint=COPY_AGAIN)
        if (folder / key).stat().st_size != facts.bytes:
            raise CheckpointCorruptError(
                f"{key} of {folder} is damaged: {(folder / key).stat().st_size} bytes instead of "
                f"{facts.bytes}.",
                hint=COPY_AGAIN,
            )
        data = (folder / key).read_bytes()
    except OSError as error:
        raise CheckpointCorruptError(
            f"{key} of {folder} cannot be read: {error.strerror}.", hint=COPY_AGAIN
        ) from error
    if hashlib.sha256(data).hexdigest() != facts.sha256:
        raise CheckpointCorruptError(
            f"{key} of {folder} is damaged: its hash is not the manifest's.", hint=COPY_AGAIN
        )
    return data


def read_json(folder: Path, manifest: Manifest, key: str) -> Any:
    """Read one JSON file of a checkpoint; that it has its hash does not say that it is JSON.

    Raises:
        CheckpointFormatError: The manifest does not name it.
        CheckpointCorruptError: It is missing, not the file that was written, or not JSON.
    """
    data = read_checked(folder, manifest, key)
    if len(data) > MAX_JSON_BYTES:
        raise CheckpointCorruptError(
            f"{key} of {folder} holds {len(data):,} bytes; {MAX_JSON_BYTES:,} are the most.",
            hint=COPY_AGAIN,
        )
    try:
        return configio.strict_json(data)
    except ValueError as error:
        raise CheckpointCorruptError(
            f"{key} of {folder} is not JSON: {error}.", hint=COPY_AGAIN
        ) from error


def checkpoint_sizes(name: str | Path) -> Any:
    """Return what a checkpoint says of its sizes, without loading it: not yet looked at.

    Raises:
        CheckpointError: It is missing, or its sizes are not what was written.
    """
    folder = resolve_checkpoint(name)
    return read_json(folder, read_manifest(folder), "model.json")


def file_facts(data: bytes) -> FileFacts:
    """Return size and hash of a file's bytes."""
    return FileFacts(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
