"""A copy index as the bytes of one file of a checkpoint.

    8 bytes   "MGCOPIES"
    4 bytes   length of the header, little-endian
    header    JSON: version, settings, pieces, entries of each, yardstick, size of the body
    body      the columns, one after another, packed by zlib

Times are differences within a piece, byte by byte apart, so that their empty bytes pack to nothing.
"""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from musicgen import configio
from musicgen.checkpoint import read_manifest, resolve_checkpoint
from musicgen.checkpoint.manifest import COPY_AGAIN, read_checked
from musicgen.errors import CheckpointCorruptError, CheckpointError, ConfigError
from musicgen.evaluation.copies.index import HASH_BITS, CopyIndex, CopySettings, Yardstick

INDEX_FILE = "copies.bin"
VERSION = 1
MAX_ENTRIES = 10_000_000
_MAGIC = b"MGCOPIES"
_HASH_BYTES = HASH_BITS // 8
_BYTES_AN_ENTRY = _HASH_BYTES + 4 + 1 + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Header:
    version: int
    settings: CopySettings
    pieces: tuple[str, ...]
    counts: tuple[int, ...]
    yardstick: tuple[Yardstick, ...]


def index_to_bytes(index: CopyIndex) -> bytes:
    """Return a copy index as the bytes of a file."""
    header = _Header(
        version=VERSION,
        settings=index.settings,
        pieces=index.pieces,
        counts=index.counts,
        yardstick=index.yardstick,
    )
    text = json.dumps(configio.to_mapping(header), sort_keys=True).encode()
    firsts = np.cumsum([0, *index.counts[:-1]])[np.array(index.counts) > 0]
    steps = np.diff(index.times, prepend=np.uint32(0))  # wraps around; reading wraps back
    steps[firsts] = index.times[firsts]
    body = b"".join(
        (
            _planes(index.hashes, _HASH_BYTES),
            _planes(steps, 4),
            index.sealed_pitch.tobytes(),
            index.sealed_duration.tobytes(),
        )
    )
    return _MAGIC + struct.pack("<I", len(text)) + text + zlib.compress(body, 9)


def index_from_bytes(data: bytes, where: str = INDEX_FILE) -> CopyIndex:
    """Read what `index_to_bytes` wrote.

    Args:
        data: The file's bytes.
        where: What they are called in an error's sentence.

    Raises:
        CheckpointCorruptError: They are damaged, or of another version.
    """
    try:
        header, packed = _header(data)
        return _index(header, _unpacked(packed, sum(header.counts)))
    except (ValueError, ConfigError, zlib.error, struct.error, RecursionError) as error:
        raise CheckpointCorruptError(
            f"The copy index {where} is damaged: {error}.", hint=COPY_AGAIN
        ) from error


def load_copy_index(model: str | Path) -> CopyIndex:
    """Load the copy index of a checkpoint.

    Args:
        model: A shipped model's name, a checkpoint directory, or a training run.

    Raises:
        CheckpointError: There is no such checkpoint, it has no copy index, or it is damaged.
    """
    folder = resolve_checkpoint(model)
    manifest = read_manifest(folder)
    if INDEX_FILE not in manifest.files:
        raise CheckpointError(
            f"The model {manifest.name} carries no copy index ({INDEX_FILE}).",
            hint="docs/evaluation.md tells how one is built from the training corpus.",
            code="no-copy-index",
        )
    return index_from_bytes(read_checked(folder, manifest, INDEX_FILE), f"of {folder}")


def _header(data: bytes) -> tuple[_Header, bytes]:
    if not data.startswith(_MAGIC):
        raise ValueError("it does not begin as one")
    (length,) = struct.unpack_from("<I", data, len(_MAGIC))
    begin = len(_MAGIC) + 4
    if begin + length > len(data):
        raise ValueError("it ends within its header")
    header = configio.from_mapping(_Header, json.loads(data[begin : begin + length]))
    if header.version != VERSION:
        raise ValueError(f"it is of version {header.version}, not {VERSION}")
    if min(header.counts, default=0) < 0 or sum(header.counts) > MAX_ENTRIES:
        raise ValueError("its counts are out of range")
    return header, data[begin + length :]


def _unpacked(packed: bytes, n_entries: int) -> bytes:
    # Never more than the header says: a forged file must not fill the memory.
    size = n_entries * _BYTES_AN_ENTRY
    unpacker = zlib.decompressobj()
    body = unpacker.decompress(packed, size + 1)
    if len(body) != size or not unpacker.eof or unpacker.unused_data:
        raise ValueError("its columns are not as long as its header says")
    return body


def _index(header: _Header, body: bytes) -> CopyIndex:
    n = sum(header.counts)
    raw = np.frombuffer(body, dtype=np.uint8)
    hashes, steps, pitch, duration = np.split(raw, np.cumsum((_HASH_BYTES * n, 4 * n, n)).tolist())
    running = np.cumsum(_from_planes(steps, 4), dtype=np.uint64)
    starts = np.cumsum([0, *header.counts])[:-1]
    before = np.concatenate([np.zeros(1, dtype=np.uint64), running])[starts]
    times = running - np.repeat(before, header.counts)
    return CopyIndex(
        settings=header.settings,
        pieces=header.pieces,
        counts=header.counts,
        hashes=_from_planes(hashes, _HASH_BYTES),
        times=times.astype(np.uint32),
        sealed_pitch=pitch,
        sealed_duration=duration,
        yardstick=header.yardstick,
    )


def _planes(values: np.ndarray, n_bytes: int) -> bytes:
    """Return the lowest bytes of all values, then the next ones, and so on."""
    return values.astype("<u4").view(np.uint8).reshape(-1, 4)[:, :n_bytes].T.tobytes()


def _from_planes(raw: np.ndarray, n_bytes: int) -> np.ndarray:
    whole = np.zeros((raw.size // n_bytes, 4), dtype=np.uint8)
    whole[:, :n_bytes] = raw.reshape(n_bytes, -1).T
    return whole.view("<u4").reshape(-1)
