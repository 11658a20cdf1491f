"""The weights of a checkpoint: their header held against the sizes, then their numbers.

The only importer of safetensors.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from musicgen.checkpoint.manifest import COPY_AGAIN, WEIGHTS
from musicgen.errors import CheckpointCorruptError, CheckpointMismatchError
from musicgen.model import Decoder, DecoderConfig

_BYTES = {"F32": 4, "F16": 2, "BF16": 2}


def weights_to_bytes(decoder: Decoder, dtype: torch.dtype | None = None) -> bytes:
    """Return the weights in the safetensors format; `dtype` None keeps the model's own."""
    return save(
        {
            key: value.detach().to(device="cpu", dtype=dtype or value.dtype).contiguous()
            for key, value in decoder.state_dict().items()
        }
    )


def tensors_to_bytes(tensors: Mapping[str, torch.Tensor]) -> bytes:
    """Return any tensors by name in the safetensors format."""
    return save({key: value.detach().cpu().contiguous() for key, value in tensors.items()})


def tensors_from_bytes(data: bytes, folder: Path, file: str) -> dict[str, torch.Tensor]:
    """Read what `tensors_to_bytes` wrote.

    Raises:
        CheckpointCorruptError: The bytes are not in the format.
    """
    try:
        return load(data)
    except SafetensorError as error:
        raise CheckpointCorruptError(
            f"{file} of {folder} cannot be read: {error}.", hint=COPY_AGAIN
        ) from error


def decoder_from_bytes(data: bytes, config: DecoderConfig, folder: Path) -> Decoder:
    """Build the decoder of `config` with the weights in `data`, as float32.

    Args:
        data: The file's bytes.
        config: The sizes they must fit.
        folder: Where they come from, for the error's sentence.

    Raises:
        CheckpointCorruptError: The header or a number is damaged.
        CheckpointMismatchError: The weights do not fit the sizes.
    """
    header = _header(data, folder)
    n_stored = sum(_entry_size(entry, folder) for entry in header.values())
    # Before any memory is set aside: the sizes may be a forgery's.
    if config.parameter_count() != n_stored:
        raise CheckpointMismatchError(
            f"{WEIGHTS} of {folder} holds {n_stored} numbers; the sizes in model.json ask for "
            f"{config.parameter_count()}.",
            hint=COPY_AGAIN,
        )
    decoder = Decoder(config, seed=None)
    _check_shapes(decoder, header, folder)
    weights = tensors_from_bytes(data, folder, WEIGHTS)
    for key, value in weights.items():
        if not torch.isfinite(value).all():
            raise CheckpointCorruptError(
                f"{WEIGHTS} of {folder} holds a value that is not a number, in {key}.",
                hint="The training that wrote it went wrong; use an earlier checkpoint.",
            )
    as_float32 = {key: value.float() for key, value in weights.items()}
    decoder.load_state_dict(as_float32, strict=True, assign=True)
    return decoder


def _check_shapes(decoder: Decoder, header: Mapping[str, Any], folder: Path) -> None:
    expected = {key: list(value.shape) for key, value in decoder.state_dict().items()}
    found = {key: entry["shape"] for key, entry in header.items()}
    for key in sorted(expected.keys() | found.keys()):
        if expected.get(key) != found.get(key):
            raise CheckpointMismatchError(
                f"{WEIGHTS} of {folder} does not fit model.json: {key[:80]!r} is "
                f"{found.get(key)} instead of {expected.get(key)}.",
                hint=COPY_AGAIN,
            )


def _header(data: bytes, folder: Path) -> dict[str, Any]:
    damaged = _damaged_header(folder)
    if len(data) < 8:
        raise damaged
    (length,) = struct.unpack("<Q", data[:8])
    if length > len(data) - 8:
        raise damaged
    try:
        header = json.loads(data[8 : 8 + length], object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise damaged from error
    if not isinstance(header, dict):
        raise damaged
    header.pop("__metadata__", None)
    return header


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        raise ValueError("a name stands twice")
    return mapping


def _entry_size(entry: Any, folder: Path) -> int:
    damaged = _damaged_header(folder)
    try:
        size = 1
        for length in entry["shape"]:
            size *= int(length)
        begin, end = entry["data_offsets"]
        fits = end - begin == size * _BYTES[entry["dtype"]]
    except (KeyError, TypeError, ValueError, OverflowError) as error:  # Infinity is JSON to Python
        raise damaged from error
    if not fits:
        raise damaged
    return size


def _damaged_header(folder: Path) -> CheckpointCorruptError:
    return CheckpointCorruptError(f"{WEIGHTS} of {folder} has a damaged header.", hint=COPY_AGAIN)
