"""The events of a corpus on disk: one raw file a split, an index beside them.

N events of a split   K attributes
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import numpy as np

from musicgen import configio
from musicgen.corpus.report import CorpusReport, Piece
from musicgen.errors import ConfigError, CorpusError
from musicgen.files import is_file, write_whole

FORMAT_VERSION = 2  # 2 holds the splits' sums
INDEX = "corpus.json"
SPLITS = ("train", "validation")
_MOST_INDEX_BYTES = 2**30
_BLOCK_BYTES = 2**20
_SPOOL = "events.partial"
_DTYPE = np.dtype("<u2")


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusIndex:
    """What `corpus.json` holds.

    Attributes:
        version: Of this format.
        source: Fingerprint of the files it was made from.
        tokenizer: Fingerprint of the tokenizer.
        n_attributes: K.
        sums: SHA-256 of each split's file, in the order of `SPLITS`.
        report: The pieces and the files left out.
    """

    version: int
    source: str
    tokenizer: str
    n_attributes: int
    sums: tuple[str, ...]
    report: CorpusReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """A corpus ready for training.

    Attributes:
        folder: Where it lies.
        index: Its pieces, and what it was made from.
    """

    folder: Path
    index: CorpusIndex

    @property
    def report(self) -> CorpusReport:
        """The pieces and the files left out."""
        return self.index.report

    def events(self, split: str) -> np.ndarray:
        """Return the events of a split (N, K), uint16, read from disk as they are needed."""
        rows = sum(piece.n_events for piece in self.report.of_split(split))
        shape = (rows, self.index.n_attributes)
        if not rows:
            return np.zeros(shape, dtype=_DTYPE)
        return np.memmap(_split_file(self.folder, split), dtype=_DTYPE, mode="r", shape=shape)

    def pieces(self, split: str) -> tuple[Piece, ...]:
        """Return the pieces of a split in the order of their events."""
        return tuple(sorted(self.report.of_split(split), key=lambda piece: piece.start))


@dataclass(slots=True, kw_only=True)
class Spool:
    """Events of pieces on disk until it is known who goes where; a corpus need not fit into memory.

    Attributes:
        n_attributes: K.
        rows: First row of each piece, and the row after the last.
    """

    n_attributes: int
    rows: list[int] = field(default_factory=lambda: [0])
    _file: BinaryIO

    def add(self, ids: np.ndarray) -> None:
        """Write the events (T, K) of a further piece.

        Raises:
            OSError: The disk is full.
        """
        self._file.write(ids.astype(_DTYPE).tobytes())
        self.rows.append(self.rows[-1] + len(ids))

    def read(self, piece: int) -> np.ndarray:
        """Return the events of a piece by its number, uint16 (T, K)."""
        row_bytes = self.n_attributes * _DTYPE.itemsize
        self._file.seek(self.rows[piece] * row_bytes)
        data = self._file.read((self.rows[piece + 1] - self.rows[piece]) * row_bytes)
        return np.frombuffer(data, dtype=_DTYPE).reshape(-1, self.n_attributes)


@contextmanager
def spool(folder: Path, n_attributes: int) -> Iterator[Spool]:
    """Keep events in a folder, which is made if it is missing, as long as the context lasts.

    Raises:
        CorpusError: The folder cannot be written.
    """
    path = folder / _SPOOL
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with open(path, "w+b") as file:
            yield Spool(n_attributes=n_attributes, _file=file)
    except OSError as error:
        raise unwritable(folder, error) from error
    finally:
        with suppress(OSError):  # where no file can be, none is left
            path.unlink(missing_ok=True)
        with suppress(OSError):  # it holds something, unless the music was refused
            folder.rmdir()


def write_split(folder: Path, split: str, pieces: Iterable[np.ndarray]) -> str:
    """Write the events (T, K) of a split's pieces one after another; return the file's SHA-256.

    Raises:
        CorpusError: The file cannot be written.
    """
    digest = hashlib.sha256()
    try:
        with open(_split_file(folder, split), "wb") as file:
            for ids in pieces:
                data = ids.astype(_DTYPE).tobytes()
                digest.update(data)
                file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise unwritable(folder, error) from error
    return digest.hexdigest()


def write_index(folder: Path, index: CorpusIndex) -> None:
    """Write the index last: a corpus without it is unfinished and made again.

    Raises:
        CorpusError: The file cannot be written.
    """
    try:
        write_whole(folder / INDEX, configio.to_json(index).encode("utf-8"))
    except OSError as error:
        raise unwritable(folder, error) from error


def open_corpus(folder: Path) -> Corpus | None:
    """Return the finished corpus in `folder`, or None where there is none that is sound."""
    if not is_file(folder / INDEX):
        return None
    try:
        index = configio.from_mapping(CorpusIndex, _index_data(folder / INDEX), where=INDEX)
    except (ConfigError, OSError, ValueError, RecursionError):
        return None
    if index.version != FORMAT_VERSION or len(index.sums) != len(SPLITS):
        return None
    for split, expected in zip(SPLITS, index.sums, strict=True):
        rows = sum(piece.n_events for piece in index.report.of_split(split))
        n_bytes = rows * index.n_attributes * _DTYPE.itemsize
        file = _split_file(folder, split)
        if not is_file(file) or file.stat().st_size != n_bytes or _sum(file) != expected:
            return None
    return Corpus(folder=folder, index=index)


def _sum(path: Path) -> str | None:
    """Return a file's SHA-256; None where it cannot be read."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while data := file.read(_BLOCK_BYTES):
                digest.update(data)
    except OSError:
        return None
    return digest.hexdigest()


def _index_data(path: Path) -> object:
    # Not by `load_json`, whose limit of size is for settings: this names every file of a corpus.
    with path.open("rb") as file:
        return configio.strict_json(file.read(_MOST_INDEX_BYTES))


def unwritable(folder: Path, error: OSError) -> CorpusError:
    """Return the error for a folder that takes no files."""
    return CorpusError(
        f"The folder {folder} cannot be written: {error.strerror or error}.",
        hint="Choose another output folder, or free some space.",
    )


def _split_file(folder: Path, split: str) -> Path:
    return folder / f"{split}.u16"
