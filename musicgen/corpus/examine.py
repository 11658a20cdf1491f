"""From a source to what is known of it: read, judged, measured; in one process or several.

Legend: N notes, T events, K attributes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING
from zipfile import ZipFile

from musicgen.corpus import workers
from musicgen.corpus.archives import opened_archive, read_entry
from musicgen.corpus.music import Music, fault_of, measure
from musicgen.corpus.report import Refusal
from musicgen.corpus.sources import Source
from musicgen.errors import CorpusError, MidiReadError, MusicgenError
from musicgen.midi import MidiDocument, NoteTable, file_bytes, note_table, read_midi

if TYPE_CHECKING:
    from collections.abc import Iterable

SERIAL_FILES = 24
"""Starting worker processes costs about as long as reading this many files."""
_FILES_A_TASK, _ENTRIES_A_TASK = 8, 64  # an archive's table of contents is read once a task
_WEB_PAGES = (b"<!doctype html", b"<html", b"<head", b"<body")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Examined:
    """What became of one source.

    Attributes:
        name: The source's.
        sha256: Of the file's bytes; empty where they could not be read.
        found: What is known of it, or why it is left out.
    """

    name: str
    sha256: str
    found: Music | Refusal


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Readable:
    """A source that was read: the document and its notes without drums (N,)."""

    document: MidiDocument
    notes: NoteTable


def examine_all(sources: Sequence[Source], *, n_workers: int | None = None) -> Iterator[Examined]:
    """Examine sources in their order, over the machine's cores where that pays.

    Args:
        sources: The files.
        n_workers: Processes; None for one a core, 1 for none beside this one.

    Raises:
        CorpusError: A process ended before its work was done.
    """
    n_workers = workers.cores() if n_workers is None else n_workers
    if n_workers == 1 or len(sources) <= SERIAL_FILES:
        for task in tasks_of(sources):
            yield from _examine(task)
        return
    yield from workers.in_processes(_examine, tasks_of(sources), n_workers)


def tasks_of(sources: Sequence[Source]) -> Iterator[tuple[Source, ...]]:
    """Cut sources into tasks: a few files, or some more entries of one archive."""
    for archive, group in groupby(sources, key=lambda s: "" if s.entry is None else s.path):
        together = list(group)
        step = _ENTRIES_A_TASK if archive else _FILES_A_TASK
        for first in range(0, len(together), step):
            yield tuple(together[first : first + step])


def read_sources(
    sources: Iterable[Source],
) -> Iterator[tuple[Source, bytes | Refusal]]:
    """Yield the bytes of each source, or why they cannot be read; archives are opened once."""
    with ExitStack() as stack:
        archives: dict[str, ZipFile] = {}
        for source in sources:
            try:
                if source.entry is None:
                    yield source, file_bytes(source.path)
                    continue
                if source.path not in archives:
                    archives[source.path] = stack.enter_context(opened_archive(source.path))
                yield source, read_entry(archives[source.path], source.entry)
            except (MidiReadError, CorpusError) as error:
                yield source, _refusal(source, error)


def read_usable(source: Source, data: bytes) -> Readable | Refusal:
    """Read a source's bytes; whatever makes them useless becomes a refusal."""
    try:
        document = read_midi(data, name=source.name)
        notes = note_table(document.score)
    except MusicgenError as error:
        if error.code == "not-midi" and data[:512].lstrip().lower().startswith(_WEB_PAGES):
            message = "This is a web page saved under a MIDI file's name, not music."
            return Refusal(path=source.name, code="web-page", message=message)
        return _refusal(source, error)
    fault = fault_of(document, notes)
    if fault is not None:
        return Refusal(path=source.name, code=fault[0], message=fault[1])
    return Readable(document=document, notes=notes)


def _examine(task: Sequence[Source]) -> list[Examined]:
    examined = []
    for source, data in read_sources(task):
        if isinstance(data, Refusal):
            examined.append(Examined(name=source.name, sha256="", found=data))
            continue
        read = read_usable(source, data)
        found = read if isinstance(read, Refusal) else measure(read.document, read.notes)
        sha256 = hashlib.sha256(data).hexdigest()
        examined.append(Examined(name=source.name, sha256=sha256, found=found))
    return examined


def _refusal(source: Source, error: MusicgenError) -> Refusal:
    return Refusal(path=source.name, code=error.code, message=error.message)
