"""Zip archives of MIDI files, read without trusting what they say of themselves.

An archive may announce a million entries, unpack to a thousand times its size, or hold its entries
twice over. So its table of contents is measured before it is read, each entry is held to what a
MIDI file may have, and all entries together to `MOST_BYTES`.
"""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from musicgen import files
from musicgen.errors import CorpusError, MidiReadError
from musicgen.midi import MIDI_SUFFIXES, ReadLimits

MOST_ENTRIES = 200_000
MOST_BYTES = 8 * 2**30
MOST_CONTENTS_BYTES = 64 * 2**20
"""Of the table of contents: Python takes some ten times as much memory for it."""
_END, _END_BYTES, _MOST_COMMENT = b"PK\x05\x06", 22, 65_535
_END_64, _END_64_BYTES = b"PK\x06\x06", 56
_UNKNOWN_16, _UNKNOWN_32 = 2**16 - 1, 2**32 - 1
_HINT = "Unpack it, and give the folder."
_ENCRYPTED = 0x1


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One file of an archive.

    Attributes:
        number: Its place in the table of contents.
        name: As the archive has it.
        size: Bytes it says it unpacks to; more are never unpacked.
        fault: Why it cannot be read, or empty.
    """

    number: int
    name: str
    size: int
    fault: str


def archive_entries(path: str) -> list[Entry]:
    """Return the files of an archive.

    Raises:
        CorpusError: It is no sound zip archive, or goes past a limit.
    """
    with opened_archive(path) as archive:
        infos = archive.infolist()
        if len(infos) > MOST_ENTRIES:
            raise _refused(f"it has {len(infos):,} entries, and the limit is {MOST_ENTRIES:,}")
        entries = [
            Entry(number=number, name=info.filename, size=info.file_size, fault=_fault(info))
            for number, info in enumerate(infos)
            if not info.filename.endswith("/")
        ]
    total = sum(each.size for each in entries if not each.fault and _is_music(each.name))
    if total > MOST_BYTES:
        raise _refused(f"it unpacks to {total:,} bytes, and the limit is {MOST_BYTES:,}")
    return entries


@contextmanager
def opened_archive(path: str) -> Iterator[zipfile.ZipFile]:
    """Open an archive for `read_entry`.

    Raises:
        CorpusError: It is no sound zip archive, or its table of contents is too large.
    """
    try:
        contents = _contents_bytes(path)
        if contents > MOST_CONTENTS_BYTES:
            raise _refused(
                f"its table of contents has {contents:,} bytes, "
                f"and the limit is {MOST_CONTENTS_BYTES:,}"
            )
        archive = zipfile.ZipFile(path)
    except OSError as error:
        raise _refused(files.reason(error)) from error
    except (zipfile.BadZipFile, ValueError, OverflowError) as error:
        raise _refused("it is damaged, or no zip archive") from error
    with archive:
        yield archive


def read_entry(archive: zipfile.ZipFile, number: int, limits: ReadLimits = ReadLimits()) -> bytes:
    """Return the bytes of one entry.

    Raises:
        MidiReadError: It is damaged.
    """
    try:
        with archive.open(archive.infolist()[number]) as file:
            return file.read(limits.max_bytes + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, LookupError) as error:
        raise MidiReadError(
            "This entry of the archive is damaged: it cannot be unpacked.", hint=_HINT
        ) from error


def _fault(info: zipfile.ZipInfo) -> str:
    if not _is_music(info.filename):
        return ""
    if info.flag_bits & _ENCRYPTED:
        return "It is encrypted."
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "It is compressed in a way that is not read."
    if info.file_size > ReadLimits().max_bytes:
        most = ReadLimits().max_bytes
        return f"It unpacks to {info.file_size:,} bytes, and the limit is {most:,}."
    return ""


def _is_music(name: str) -> bool:
    return name.lower().endswith(MIDI_SUFFIXES)


def _contents_bytes(path: str) -> int:
    """Return the size of the table of contents, as the record at the archive's end tells it."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        begin = max(0, size - _END_BYTES - _MOST_COMMENT - _END_64_BYTES - 20)
        file.seek(begin)
        tail = file.read()
    at = tail.rfind(_END)
    if at < 0 or at + _END_BYTES > len(tail):
        raise zipfile.BadZipFile("no end record")
    contents = int.from_bytes(tail[at + 12 : at + 16], "little")
    entries = int.from_bytes(tail[at + 10 : at + 12], "little")
    if contents == _UNKNOWN_32 or entries == _UNKNOWN_16:
        at_64 = tail.rfind(_END_64, 0, at)
        if at_64 >= 0:
            return int.from_bytes(tail[at_64 + 40 : at_64 + 48], "little")
    return contents


def _refused(why: str) -> CorpusError:
    return CorpusError(f"This zip archive cannot be used: {why}.", hint=_HINT)
