"""From a file to its events, in one process or several.

T events   K attributes
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from musicgen.corpus import workers
from musicgen.corpus.examine import SERIAL_FILES, read_sources, read_usable, tasks_of
from musicgen.corpus.music import MIN_NOTES, Music, measure
from musicgen.corpus.report import Refusal
from musicgen.corpus.sources import Source, shown_name
from musicgen.errors import MusicgenError
from musicgen.tokens import Tokenizer, tokenizer_from_json


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScannedPiece:
    """One readable file.

    Attributes:
        path: Relative to the folder.
        ids: Its events (T, K), uint16.
        n_notes: Its notes.
        digest: SHA-256 of the events.
        music: What is known of the file.
    """

    path: str
    ids: np.ndarray
    n_notes: int
    digest: str
    music: Music


def scan_files(
    paths: list[Path], root: Path, tokenizer: Tokenizer, *, n_workers: int | None = None
) -> Iterator[ScannedPiece | Refusal]:
    """Read and encode files in their order, over the machine's cores where that pays.

    Args:
        paths: The files.
        root: The folder their names are given relative to.
        tokenizer: How music becomes events.
        n_workers: Processes; None for one a core, 1 for none beside this one.

    Raises:
        CorpusError: A process ended before its work was done.
    """
    sources = [
        Source(name=shown_name(root, str(path)), path=str(path), entry=None, size=-1, mtime_ns=0)
        for path in paths
    ]
    yield from scan_sources(sources, tokenizer, n_workers=n_workers)


def scan_sources(
    sources: Sequence[Source], tokenizer: Tokenizer, *, n_workers: int | None = None
) -> Iterator[ScannedPiece | Refusal]:
    """Read and encode sources; see `scan_files`."""
    n_workers = workers.cores() if n_workers is None else n_workers
    if n_workers == 1 or len(sources) <= SERIAL_FILES:
        for task in tasks_of(sources):
            yield from _scan(task, tokenizer)
        return
    work = partial(_scan_in_worker, tokenizer_json=tokenizer.to_json())
    yield from workers.in_processes(work, tasks_of(sources), n_workers)


def _scan_in_worker(task: Sequence[Source], tokenizer_json: str) -> list[ScannedPiece | Refusal]:
    return list(_scan(task, tokenizer_from_json(tokenizer_json)))


def _scan(task: Sequence[Source], tokenizer: Tokenizer) -> Iterator[ScannedPiece | Refusal]:
    for source, data in read_sources(task):
        read = data if isinstance(data, Refusal) else read_usable(source, data)
        if isinstance(read, Refusal):
            yield read
            continue
        try:
            ids = tokenizer.encode(read.document.score)
        except MusicgenError as error:
            yield Refusal(path=source.name, code=error.code, message=error.message)
            continue
        n_notes = tokenizer.n_notes(ids)
        if n_notes < MIN_NOTES:
            message = (
                f"{n_notes} of its notes can be encoded; fewer than {MIN_NOTES} teach nothing."
            )
            yield Refusal(path=source.name, code="too-short", message=message)
            continue
        ids = ids.astype(np.uint16)
        yield ScannedPiece(
            path=source.name,
            ids=ids,
            n_notes=n_notes,
            digest=hashlib.sha256(ids.tobytes()).hexdigest(),
            music=measure(read.document, read.notes),
        )
