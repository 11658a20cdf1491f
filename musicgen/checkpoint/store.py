"""A checkpoint directory: a model that can be used, as data and never as code.

    manifest.json      format, step, fingerprints, hashes, facts of the training
    model.json         the sizes
    tokenizer.json     how music becomes events
    model.safetensors  the weights

Reading is strict: hashes first, then the weights' header against the sizes, then the numbers
themselves. Nothing here ever reaches pickle.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from musicgen import configio
from musicgen.checkpoint.folder import write_folder
from musicgen.checkpoint.manifest import (
    COPY_AGAIN,
    DATA_FILES,
    FORMAT,
    MANIFEST,
    VERSION,
    WEIGHTS,
    Manifest,
    file_facts,
    read_checked,
    read_json,
    read_manifest,
    resolve_checkpoint,
)
from musicgen.checkpoint.weights import decoder_from_bytes, weights_to_bytes
from musicgen.errors import (
    CheckpointCorruptError,
    CheckpointMismatchError,
    ConfigError,
    TokenizerError,
)
from musicgen.model import Decoder, DecoderConfig
from musicgen.tokens import Tokenizer, tokenizer_from_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A model ready for use.

    Attributes:
        decoder: The model, in evaluation mode.
        tokenizer: The tokenizer it was trained with.
        manifest: Where it comes from.
        folder: Where it lies.
        sha256: Hash of its weights' file: names the model in a take's recipe.
    """

    decoder: Decoder
    tokenizer: Tokenizer
    manifest: Manifest
    folder: Path
    sha256: str

    @property
    def name(self) -> str:
        """What the model is called."""
        return self.manifest.name


def save_checkpoint(
    folder: Path,
    *,
    decoder: Decoder,
    tokenizer: Tokenizer,
    name: str,
    step: int,
    training: Mapping[str, Any],
    licence: str = "",
    dtype: torch.dtype | None = None,
    extra: Mapping[str, bytes] | None = None,
) -> Manifest:
    """Write a checkpoint whole or not at all: to a sibling, synced, then renamed.

    Args:
        folder: The directory to make; one that exists is replaced.
        decoder: The model.
        tokenizer: Its tokenizer.
        name: What the model is called.
        step: Optimizer steps it was trained.
        training: Facts of the training, plain data.
        licence: Of the weights.
        dtype: Of the stored weights; None for the model's own.
        extra: Further files by their names, hashed like the others (a run's own state).

    Raises:
        OSError: The folder cannot be written; what was there before is still there.
    """
    files: dict[str, bytes] = {
        "model.json": configio.to_json(decoder.config).encode(),
        "tokenizer.json": tokenizer.to_json().encode(),
        WEIGHTS: weights_to_bytes(decoder, dtype),
        **(extra or {}),
    }
    manifest = Manifest(
        format=FORMAT,
        version=VERSION,
        name=name,
        step=step,
        tokenizer=tokenizer.fingerprint,
        files={key: file_facts(data) for key, data in files.items()},
        licence=licence,
        training=dict(training),
    )
    files[MANIFEST] = configio.to_json(manifest).encode()
    write_folder(folder, files)
    return manifest


def load_checkpoint(name: str | Path, *, device: torch.device | str = "cpu") -> Checkpoint:
    """Load a model.

    Args:
        name: A shipped model's name, a checkpoint directory, or a training run.
        device: Where the weights go.

    Raises:
        CheckpointError: It is missing, damaged, foreign, or its parts do not fit one another.
    """
    folder = resolve_checkpoint(name)
    manifest = read_manifest(folder)
    data = {key: read_checked(folder, manifest, key) for key in DATA_FILES}
    try:
        tokenizer = tokenizer_from_json(data["tokenizer.json"].decode())
    except (TokenizerError, UnicodeDecodeError) as error:
        raise CheckpointCorruptError(
            f"The tokenizer of {folder} cannot be used: {error}", hint=COPY_AGAIN
        ) from error
    config = _config(folder, manifest)
    _check_fit(folder, manifest, tokenizer, config)
    decoder = decoder_from_bytes(data[WEIGHTS], config, folder)
    return Checkpoint(
        decoder=decoder.to(device).eval(),
        tokenizer=tokenizer,
        manifest=manifest,
        folder=folder,
        sha256=manifest.files[WEIGHTS].sha256,
    )


def _config(folder: Path, manifest: Manifest) -> DecoderConfig:
    sizes = read_json(folder, manifest, "model.json")
    try:
        return configio.from_mapping(DecoderConfig, sizes, where="model.json")
    except ConfigError as error:
        raise CheckpointCorruptError(
            f"The sizes of {folder} cannot be used: {error}", hint=COPY_AGAIN
        ) from error


def _check_fit(
    folder: Path, manifest: Manifest, tokenizer: Tokenizer, config: DecoderConfig
) -> None:
    if tokenizer.fingerprint != manifest.tokenizer:
        raise CheckpointMismatchError(
            f"tokenizer.json of {folder} is not the one this model was trained with.",
            hint=COPY_AGAIN,
        )
    if tokenizer.vocab_sizes != config.vocab_sizes:
        raise CheckpointMismatchError(
            f"In {folder} the tokenizer has vocabularies of {tokenizer.vocab_sizes}, the model of "
            f"{config.vocab_sizes}.",
            hint=COPY_AGAIN,
        )
