"""The members of zip and tar.gz files, one after another: regular files only."""

from __future__ import annotations

import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from musicgen.errors import DatasetError

_DAMAGED = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,  # a password, or a method of compression that Python lacks
    ValueError,
)
_UNIX, _KIND, _REGULAR = 3, 0o170000, 0o100000


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One file inside an archive.

    Attributes:
        name: As the archive has it.
        read: Returns at most so many of its bytes.
    """

    name: str
    read: Callable[[int], bytes]


def members(archive: Path) -> Iterator[tuple[Member, int | None]]:
    """Yield each regular file of an archive, with the number of all members where it is known.

    Links, devices and folders are passed over.

    Raises:
        DatasetError: The archive is damaged, locked by a password, or neither zip nor tar.gz.
    """
    with explained(archive), open(archive, "rb") as file:
        is_zip = file.read(2) == b"PK"
    yield from _zip_members(archive) if is_zip else _tar_members(archive)


@contextmanager
def explained(archive: Path) -> Iterator[None]:
    """Say in a sentence why an archive cannot be read."""
    try:
        yield
    except _DAMAGED as error:
        told = str(error)[:120] or type(error).__name__
        raise DatasetError(
            f"{archive.name} is damaged, or no archive: {told}.",
            hint="Remove it and fetch it again.",
            code="damaged-archive",
        ) from error


def read_member(archive: Path, name: str, most_bytes: int) -> bytes | None:
    """Return one file of a zip, or None where it has none of that name.

    Raises:
        DatasetError: The archive is damaged.
    """
    with explained(archive), zipfile.ZipFile(archive) as opened:
        if name not in opened.namelist():
            return None
        with opened.open(name) as file:
            return file.read(most_bytes)


def _zip_members(archive: Path) -> Iterator[tuple[Member, int | None]]:
    with explained(archive):
        opened = zipfile.ZipFile(archive)
    with opened:
        infos = opened.infolist()
        for info in infos:
            kind = (info.external_attr >> 16) & _KIND
            is_link = info.create_system == _UNIX and kind not in (0, _REGULAR)
            if not info.filename.endswith("/") and not is_link:
                yield (
                    Member(name=info.filename, read=_reader(archive, opened.open, info)),
                    len(infos),
                )


def _tar_members(archive: Path) -> Iterator[tuple[Member, int | None]]:
    with explained(archive):
        opened: Any = tarfile.open(archive, "r:gz")  # noqa: SIM115  closed below
    with opened:
        while True:
            with explained(archive):
                info = opened.next()
            if info is None:
                return
            # What was read is forgotten: the list of Lakh's members alone is hundreds of MB.
            opened.members = []
            if info.isreg():
                yield Member(name=info.name, read=_reader(archive, opened.extractfile, info)), None


def _reader(archive: Path, open_member: Callable[[Any], Any], info: Any) -> Callable[[int], bytes]:
    def read(most_bytes: int) -> bytes:
        with explained(archive), open_member(info) as file:
            return file.read(most_bytes)

    return read
