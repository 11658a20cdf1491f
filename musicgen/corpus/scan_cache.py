"""What was learned of files, kept between runs, so that a second one reads only what has changed.

One npz file: numbers as arrays, texts as JSON, nothing that could run. Whatever does not fit in it
makes the whole file worthless, and it is made anew.

Legend: N files, M usable ones, P numbers of a MinHash.
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from musicgen import files
from musicgen.configio import strict_json
from musicgen.corpus.fingerprints import N_MINHASH, N_SAMPLE, Fingerprint
from musicgen.corpus.music import VELOCITY_BINS, Music
from musicgen.corpus.report import Refusal
from musicgen.corpus.sources import Source
from musicgen.errors import CorpusError

FORMAT_VERSION = 1
"""Goes up whenever what is learned of a file changes: limits, sentences, fingerprints."""
_MOST_BYTES = 4 * 2**30
_DIGEST_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Known:
    """What was learned of one file, and how to tell that it is still the same.

    Attributes:
        size: In bytes.
        mtime_ns: When it was changed.
        sha256: Of its bytes.
        found: What it holds, or why it is left out.
    """

    size: int
    mtime_ns: int
    sha256: str
    found: Music | Refusal

    def is_of(self, source: Source) -> bool:
        """Whether the source has not changed since."""
        return (self.size, self.mtime_ns) == (source.size, source.mtime_ns)

    def as_found(self, source: Source) -> Music | Refusal:
        """Return what was learned, under the source's present name."""
        if isinstance(self.found, Refusal):
            return replace(self.found, path=source.name)
        return self.found


def load_cache(path: Path) -> tuple[dict[str, Known], str]:
    """Return what is kept by the files' names, and a sentence if it could not be used."""
    if not files.is_file(path):
        return {}, ""
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(info.file_size for info in archive.infolist()) > _MOST_BYTES:
                raise ValueError("larger than anything that is kept")
        with np.load(path, allow_pickle=False) as arrays:
            return _known(arrays), ""
    except (OSError, ValueError, LookupError, TypeError, zipfile.BadZipFile, zlib.error):
        told = f"What was kept of an earlier run ({path}) is damaged or cannot be read"
        return {}, f"{told}; all files were read anew."


def save_cache(path: Path, known: Mapping[str, Known]) -> None:
    """Write what was learned of files by their names; the file is whole or as it was.

    Raises:
        CorpusError: It cannot be written.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path = files.destination(path)
        beside = path.with_name(f".{path.name}.{os.getpid()}.partial")
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("wb") as file:
            np.savez(file, **_arrays(known))  # pyright: ignore[reportArgumentType]
        os.replace(beside, path)
    except OSError as error:
        with suppress(OSError):  # where no file can be, none is left
            beside.unlink(missing_ok=True)
        raise CorpusError(
            f"{path} cannot be written: {files.reason(error)}.",
            hint=files.way_out(error, "Choose another output folder."),
        ) from error


def _arrays(known: Mapping[str, Known]) -> dict[str, np.ndarray]:
    usable = [each.found for each in known.values() if isinstance(each.found, Music)]
    prints = [each for piece in usable for each in (piece.played, piece.written) if each]
    texts = {
        "version": FORMAT_VERSION,
        "names": list(known),
        "refused": [
            [each.found.code, each.found.message] if isinstance(each.found, Refusal) else None
            for each in known.values()
        ],
        "warnings": [list(piece.warnings) for piece in usable],
    }
    return {
        "texts": np.frombuffer(json.dumps(texts).encode("ascii"), dtype=np.uint8),
        "size": np.array([each.size for each in known.values()], dtype=np.int64),
        "mtime_ns": np.array([each.mtime_ns for each in known.values()], dtype=np.int64),
        "sha256": _digests([each.sha256 for each in known.values()]),
        "digest": _digests([piece.digest for piece in usable]),
        "n_notes": np.array([piece.n_notes for piece in usable], dtype=np.int64),
        "seconds": np.array([piece.seconds for piece in usable], dtype=np.float64),
        "key": np.array([piece.key for piece in usable], dtype=np.int64),
        "pitches": _rows([piece.pitches for piece in usable], 128),
        "velocities": _rows([piece.velocities for piece in usable], VELOCITY_BINS),
        "has_tempi": np.array([piece.written is not None for piece in usable], dtype=np.int64),
        "minhash": _rows([each.minhash for each in prints], N_MINHASH),
        "n_shingles": np.array([each.n_shingles for each in prints], dtype=np.int64),
        "n_sample": np.array([len(each.sample) for each in prints], dtype=np.int64),
        "sample": np.concatenate([*(each.sample for each in prints), np.zeros(0, np.uint32)]),
    }


def _known(arrays: Any) -> dict[str, Known]:
    """Read the arrays back.

    Raises:
        ValueError: They do not fit one another.
        LookupError: One is missing.
    """
    texts = strict_json(bytes(arrays["texts"]))
    if texts["version"] != FORMAT_VERSION:
        return {}  # of another version of this program: no damage, but nothing to use either
    names, refused, warnings = texts["names"], texts["refused"], texts["warnings"]
    size, mtime_ns = _column(arrays, "size", len(names)), _column(arrays, "mtime_ns", len(names))
    sha256 = _hex(arrays, "sha256", len(names))
    music = iter(_music(arrays, warnings))
    found = [
        Refusal(path=name, code=str(why[0]), message=str(why[1])) if why else next(music, None)
        for name, why in zip(names, refused, strict=True)
    ]
    if None in found or next(music, None) is not None:
        raise ValueError("not one piece for each usable file")
    return {
        str(name): Known(size=each_size, mtime_ns=each_mtime, sha256=each_sha, found=each_found)
        for name, each_size, each_mtime, each_sha, each_found in zip(
            names, size.tolist(), mtime_ns.tolist(), sha256, found, strict=True
        )
        if each_found is not None
    }


def _music(arrays: Any, warnings: Sequence[Sequence[str]]) -> list[Music]:
    n = len(warnings)
    pitches, velocities = _table(arrays, "pitches", n, 128), _table(arrays, "velocities", n, 32)
    n_notes, keys, has_tempi = (
        _column(arrays, name, n).tolist() for name in ("n_notes", "key", "has_tempi")
    )
    if any(not 0 <= key < 24 for key in keys) or any(each not in (0, 1) for each in has_tempi):
        raise ValueError("a number out of its range")
    seconds = _column(arrays, "seconds", n, np.float64).tolist()
    digests = _hex(arrays, "digest", n)
    prints = iter(_fingerprints(arrays, n + sum(has_tempi)))
    return [
        Music(
            digest=digests[i],
            n_notes=n_notes[i],
            seconds=seconds[i],
            warnings=tuple(str(code) for code in warnings[i]),
            key=keys[i],
            pitches=pitches[i],
            velocities=velocities[i],
            played=next(prints),
            written=next(prints) if has_tempi[i] else None,
        )
        for i in range(n)
    ]


def _fingerprints(arrays: Any, n: int) -> list[Fingerprint]:
    minhash, counts = _table(arrays, "minhash", n, N_MINHASH), _column(arrays, "n_sample", n)
    n_shingles = _column(arrays, "n_shingles", n).tolist()
    sample = np.asarray(arrays["sample"])
    if counts.min(initial=0) < 0 or counts.max(initial=0) > N_SAMPLE:
        raise ValueError("a number out of its range")
    if sample.dtype != np.uint32 or sample.shape != (counts.sum(),):
        raise ValueError("samples that do not fit")
    parts = np.split(sample, np.cumsum(counts)[:-1]) if n else []
    return [
        Fingerprint(minhash=minhash[i], sample=parts[i], n_shingles=n_shingles[i]) for i in range(n)
    ]


def _digests(digests: Sequence[str]) -> np.ndarray:
    joined = b"".join(bytes.fromhex(digest) for digest in digests)
    return np.frombuffer(joined, dtype=np.uint8).reshape(-1, _DIGEST_BYTES)


def _hex(arrays: Any, name: str, n: int) -> list[str]:
    return [row.tobytes().hex() for row in _table(arrays, name, n, _DIGEST_BYTES, np.uint8)]


def _rows(rows: Sequence[np.ndarray], width: int) -> np.ndarray:
    return np.array(rows, dtype=np.uint32).reshape(-1, width)


def _column(arrays: Any, name: str, n: int, dtype: Any = np.int64) -> np.ndarray:
    array = np.asarray(arrays[name])
    if array.shape != (n,) or array.dtype != dtype:
        raise ValueError(f"the array {name} does not fit")
    return array


def _table(arrays: Any, name: str, n: int, width: int, dtype: Any = np.uint32) -> np.ndarray:
    array = np.asarray(arrays[name])
    if array.shape != (n, width) or array.dtype != dtype:
        raise ValueError(f"the array {name} does not fit")
    return array
