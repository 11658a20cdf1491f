"""Downloading an archive so that nothing that came is lost, and holding it against its sum.

NAME.zip.part        what has come so far
NAME.zip.part.json   from where, and which state of the file it is
NAME.zip             all of it
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import TypeVar

from musicgen.datasets.web import Answer, PassingFault, Patience, open_from
from musicgen.errors import DatasetError
from musicgen.files import is_file, reason, way_out

ResultT = TypeVar("ResultT")

CHUNK_BYTES = 1 << 18
_MAGIC = (b"PK\x03\x04", b"\x1f\x8b")
"""How zip and gzip files begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Downloading:
    """How far the download is.

    Attributes:
        done_bytes: On the disk.
        total_bytes: Of the archive; None where nobody says.
    """

    done_bytes: int
    total_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checking:
    """How far the archive is read to make its sum.

    Attributes:
        done_bytes: Read.
        total_bytes: Of the archive.
    """

    done_bytes: int
    total_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """Something to know that is no failure.

    Attributes:
        text: A sentence.
    """

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to come.

    Attributes:
        url: From where.
        archive: Where to.
        limit_bytes: More is not taken.
        is_exact: The archive has just that many bytes.
    """

    url: str
    archive: Path
    limit_bytes: int
    is_exact: bool

    @property
    def part(self) -> Path:
        """Where it grows."""
        return self.archive.with_name(self.archive.name + ".part")

    @property
    def state(self) -> Path:
        """Where it is written down what `part` is a part of."""
        return self.part.with_name(self.part.name + ".json")


def download(wanted: Wanted, patience: Patience) -> Iterator[Downloading | Remark]:
    """Download an archive, or what is missing of it; yield how far it is.

    Whatever stops it, what came is kept, and the next call goes on from there.

    Raises:
        DatasetError: It cannot be had, or not be written.
    """
    tries, has_come = 0, False
    while True:
        before = _length(wanted.part)
        try:
            yield from _try(wanted, patience)
            _write(wanted, lambda: _finish(wanted))
            return
        except PassingFault as fault:
            if fault.has_changed:
                wanted.state.unlink(missing_ok=True)
            if _length(wanted.part) > before:
                tries, has_come = 1, True
            else:
                tries += 1
            # A machine without internet is told so at once; one that just lost it may get it back.
            most = len(patience.waits_s) if has_come or not fault.is_offline else 1
            if tries > most:
                raise _given_up(wanted, fault) from fault
            wait_s = patience.waits_s[tries - 1] if fault.wait_s is None else fault.wait_s
            yield Remark(text=f"Trying again in {wait_s:g} s: {fault.reason}.")
            time.sleep(wait_s)


def _try(wanted: Wanted, patience: Patience) -> Iterator[Downloading | Remark]:
    start, validator = _kept(wanted)
    with open_from(wanted.url, start, validator, timeout_s=patience.timeout_s) as answer:
        if answer.is_whole:
            return
        if start and not answer.start:
            yield Remark(text="The server does not go on where it stopped; starting anew.")
        _check_size(wanted, answer)
        done = answer.start
        yield Downloading(done_bytes=done, total_bytes=answer.total_bytes)
        with _opened(wanted, answer) as file:
            while chunk := answer.read(CHUNK_BYTES):
                if not done:
                    _check_beginning(wanted, chunk)
                done += len(chunk)
                _check_limit(wanted, done)
                _write(wanted, lambda chunk=chunk: file.write(chunk))
                yield Downloading(done_bytes=done, total_bytes=answer.total_bytes)
    if answer.total_bytes is not None and done < answer.total_bytes:
        raise PassingFault("the connection was cut off")


def _kept(wanted: Wanted) -> tuple[int, str]:
    """Return how many bytes are there that can be gone on from, and which state they are of."""
    length = _length(wanted.part)
    try:
        state = json.loads(wanted.state.read_bytes())
        url, validator = state["url"], state["validator"]
    except (OSError, ValueError, KeyError, TypeError):
        return 0, ""  # nothing says what the part is a part of
    if url != wanted.url or not isinstance(validator, str) or not validator:
        return 0, ""
    return length, validator


def _length(path: Path) -> int:
    return path.stat().st_size if is_file(path) else 0


def _opened(wanted: Wanted, answer: Answer) -> FileIO:
    def opened() -> FileIO:
        if not answer.start:
            wanted.part.unlink(missing_ok=True)
            state = {"url": wanted.url, "validator": answer.validator}
            wanted.state.write_text(json.dumps(state), encoding="utf-8")
        return open(wanted.part, "ab", buffering=0)

    return _write(wanted, opened)


def _finish(wanted: Wanted) -> None:
    with open(wanted.part, "rb+") as file:
        os.fsync(file.fileno())
    os.replace(wanted.part, wanted.archive)
    wanted.state.unlink(missing_ok=True)


def _write(wanted: Wanted, action: Callable[[], ResultT]) -> ResultT:
    """Do something to the disk; say in a sentence why it cannot be done."""
    try:
        return action()
    except OSError as error:
        raise DatasetError(
            f"{wanted.part} cannot be written: {reason(error)}. What came is kept.",
            hint=way_out(error, "Choose another place with -o."),
            code="unwritable",
        ) from error


def _check_size(wanted: Wanted, answer: Answer) -> None:
    total = answer.total_bytes
    if total is None:
        return
    if wanted.is_exact and total != wanted.limit_bytes:
        raise DatasetError(
            f"{wanted.url} has {total:,} bytes instead of {wanted.limit_bytes:,}: it is not the "
            "archive that is known here.",
            hint="The publisher may have changed it: see its page, or update musicgen.",
            code="changed",
        )
    _check_limit(wanted, total)
    free = shutil.disk_usage(wanted.archive.parent).free
    if free < total - answer.start:
        raise DatasetError(
            f"{total - answer.start:,} bytes are to come, and {free:,} are free.",
            hint="Free some space on that disk, or choose another one with -o.",
            code="disk-full",
        )


def _check_limit(wanted: Wanted, length: int) -> None:
    if length > wanted.limit_bytes:
        raise DatasetError(
            f"{wanted.url} holds more than the {wanted.limit_bytes:,} bytes that are taken.",
            hint="It is not the archive that is known here: see the publisher's page.",
            code="too-large",
        )


def _check_beginning(wanted: Wanted, chunk: bytes) -> None:
    if not any(chunk[: len(magic)] == magic[: len(chunk)] for magic in _MAGIC):
        raise DatasetError(
            f"{wanted.url} answers with something that is no archive: a web page, mostly.",
            hint="Does this network ask you to log in first? Open a web page in a browser.",
            code="no-archive",
        )


def _given_up(wanted: Wanted, fault: PassingFault) -> DatasetError:
    kept = _length(wanted.part)
    told = f" {kept:,} bytes are kept." if kept else ""
    if fault.is_offline:
        return DatasetError(
            f"Not without internet: {fault.reason}.{told}",
            hint="Connect this machine and give the same command again, or fetch the archive "
            f"elsewhere ({wanted.url}) and give it with --archive.",
            code="no-internet",
        )
    return DatasetError(
        f"{wanted.url} could not be fetched: {fault.reason}, again and again.{told}",
        hint="Give the same command again later: it goes on where it stopped.",
        code="server",
    )


def checked(archive: Path) -> Iterator[Checking | str]:
    """Read an archive; yield how far, then its SHA-256.

    Raises:
        DatasetError: It cannot be read.
    """
    digest = hashlib.sha256()
    done = 0
    try:
        total = archive.stat().st_size
        with open(archive, "rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                digest.update(chunk)
                done += len(chunk)
                yield Checking(done_bytes=done, total_bytes=total)
    except OSError as error:
        raise DatasetError(
            f"{archive} cannot be read: {reason(error)}.",
            hint="Give the archive as it was downloaded.",
            code="unreadable",
        ) from error
    yield digest.hexdigest()
