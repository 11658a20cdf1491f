"""From a corpus's name to a folder that can be trained on."""

from __future__ import annotations

import glob
import json
import os
import shutil
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from musicgen.datasets.download import Checking, Downloading, Remark, Wanted, checked, download
from musicgen.datasets.table import Dataset
from musicgen.datasets.unpack import Unpacked, Unpacking, unpack
from musicgen.datasets.web import Patience, check_address
from musicgen.errors import DatasetError
from musicgen.files import is_file, is_folder, is_there, reason, way_out

SOURCE = "SOURCE.json"
Event = Downloading | Checking | Unpacking | Remark


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A corpus that lies on the disk.

    Attributes:
        folder: Where.
        n_files: MIDI files.
        by_split: MIDI files of each split; empty for a corpus without a split of its own.
        sha256: Sum of the archive it came from.
        is_new: It was not there before.
    """

    folder: Path
    n_files: int
    by_split: dict[str, int]
    sha256: str
    is_new: bool


def fetch(
    dataset: Dataset,
    folder: Path,
    *,
    archive: Path | None = None,
    keep_archive: bool = False,
    patience: Patience = Patience(),
) -> Generator[Event | Fetched, None, None]:
    """Download, check and unpack a corpus; yield how far it is, then what is there.

    The folder is there whole or not at all. Closing the iterator keeps what was downloaded; the
    next call goes on from it. A corpus that is there already is not fetched again.

    Args:
        dataset: Which.
        folder: Where it is to lie; its parent is made.
        archive: The archive, where it was downloaded before; nothing is fetched then.
        keep_archive: Leave the archive beside the folder.
        patience: With the server.

    Raises:
        DatasetError: It cannot be fetched, is not what it should be, or cannot be written.
    """
    there = _there(dataset, folder)
    if there is not None:
        yield there
        return
    if archive is None and dataset.url is None:
        raise _by_hand(dataset)
    with _writing(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
    with _alone(folder):
        if archive is not None:
            yield from _unpack(dataset, archive, folder, is_ours=False)
            return
        archive = folder.with_name(folder.name + _suffix(dataset))
        if not is_file(archive):
            yield from _download(dataset, archive, patience)
        yield from _unpack(dataset, archive, folder, is_ours=True)
        if not keep_archive:
            archive.unlink(missing_ok=True)


def _there(dataset: Dataset, folder: Path) -> Fetched | None:
    """Return the corpus if it lies in the folder; refuse one that holds something else."""
    if not is_there(folder):
        return None
    if not is_folder(folder):
        raise DatasetError(
            f"{folder} is a file.", hint="Choose another name with -o.", code="folder-taken"
        )
    try:
        told = json.loads((folder / SOURCE).read_bytes())
        if told["name"] == dataset.name:
            return Fetched(
                folder=folder,
                n_files=int(told["n_files"]),
                by_split={str(key): int(n) for key, n in told["by_split"].items()},
                sha256=str(told["sha256"]),
                is_new=False,
            )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass  # not a corpus that was fetched whole
    if any(folder.iterdir()):
        raise DatasetError(
            f"{folder} holds something else already.",
            hint="Choose another folder with -o, or remove it.",
            code="folder-taken",
        )
    return None


def _download(
    dataset: Dataset, archive: Path, patience: Patience
) -> Iterator[Downloading | Remark]:
    url = str(dataset.url)
    check_address(url, has_sum=dataset.sha256 is not None)
    wanted = Wanted(
        url=url,
        archive=archive,
        limit_bytes=dataset.limit_bytes,
        is_exact=dataset.size_bytes is not None,
    )
    yield from download(wanted, patience)


def _unpack(
    dataset: Dataset, archive: Path, folder: Path, *, is_ours: bool
) -> Iterator[Event | Fetched]:
    sha256 = ""
    for event in checked(archive):
        if isinstance(event, str):
            sha256 = event
        else:
            yield event
    if dataset.sha256 not in (None, sha256):
        raise _wrong_sum(archive, is_ours)
    remark = _note_sum(dataset, archive, folder, sha256)
    if remark is not None:
        yield remark
    prefix = f".{folder.name}.partial-"
    with _writing(folder):
        for left in folder.parent.glob(f"{glob.escape(prefix)}*"):
            shutil.rmtree(left, ignore_errors=True)  # of a process that was killed
        partial = Path(tempfile.mkdtemp(prefix=prefix, dir=folder.parent))
    try:
        with _writing(folder):
            found = Unpacked()
            for step in unpack(archive, dataset, partial):
                if isinstance(step, Unpacked):
                    found = step
                else:
                    yield step
            _write_source(dataset, partial, found, sha256)
            _put_in_place(partial, folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    yield from _remarks(dataset, found)
    yield Fetched(
        folder=folder,
        n_files=found.n_files,
        by_split={key: n for key, n in found.by_split.items() if key},
        sha256=sha256,
        is_new=True,
    )


def _note_sum(dataset: Dataset, archive: Path, folder: Path, sha256: str) -> Remark | None:
    """Where no sum is known beforehand, hold the archive against the one met first."""
    if dataset.sha256 is not None:
        return None
    noted = folder.with_name(folder.name + _suffix(dataset) + ".sha256")
    before = noted.read_text(encoding="utf-8").split()[:1] if is_file(noted) else []
    if before == [sha256]:
        return None
    with _writing(folder):
        noted.write_text(f"{sha256}  {archive.name}\n", encoding="utf-8")
    if before:
        return Remark(text=f"The archive has changed since it was fetched last: {sha256} now.")
    return Remark(
        text=f"The publisher gives no checksum. What came has SHA-256 {sha256}; {noted} keeps it, "
        "and a later fetch is held against it."
    )


def _wrong_sum(archive: Path, is_ours: bool) -> DatasetError:
    told = ""
    if is_ours:
        aside = archive.with_name(archive.name + ".wrong")
        try:
            os.replace(archive, aside)
            told = f"It is set aside as {aside}."
        except OSError as error:
            told = f"It could not be set aside: {reason(error)}."
    return DatasetError(
        f"{archive} is not the archive that is known here: its SHA-256 is another. {told}".rstrip(),
        hint="Fetch it again. If it stays so, the publisher has changed it: see its page.",
        code="wrong-checksum",
    )


def _write_source(dataset: Dataset, folder: Path, found: Unpacked, sha256: str) -> None:
    told = {
        "name": dataset.name,
        "title": dataset.title,
        "page": dataset.page,
        "url": dataset.url,
        "sha256": sha256,
        "licence": dataset.licence,
        "licence_url": dataset.licence_url,
        "terms": dataset.terms,
        "citation": dataset.citation,
        "n_files": found.n_files,
        "by_split": {key: n for key, n in found.by_split.items() if key},
    }
    (folder / SOURCE).write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


def _put_in_place(partial: Path, folder: Path) -> None:
    partial.chmod(0o755)
    if is_folder(folder):
        folder.rmdir()  # it is empty
    os.replace(partial, folder)


def _remarks(dataset: Dataset, found: Unpacked) -> Iterator[Remark]:
    if found.left_out:
        yield Remark(text=f"{found.left_out:,} files were left out: {dataset.why_left_out}.")
    if found.copies:
        yield Remark(text=f"{found.copies:,} files lay in the archive twice.")
    if found.outside:
        yield Remark(text=f"{found.outside:,} files were left out: {dataset.split_table} has none.")
    if found.oversized:
        yield Remark(text=f"{found.oversized:,} files were left out as too large.")


def _suffix(dataset: Dataset) -> str:
    return ".tar.gz" if (dataset.url or "").endswith(".tar.gz") else ".zip"


def _by_hand(dataset: Dataset) -> DatasetError:
    return DatasetError(
        f"{dataset.title} cannot be fetched by a program: its publisher gives it out on a page.",
        hint=f"Get it at {dataset.page}, then unpack it, or give the archive with --archive.",
        code="by-hand",
    )


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let no other process fetch into the same place."""
    path = folder.with_name(f".{folder.name}.lock")
    lock = FileLock(path)
    try:
        with _writing(folder):
            lock.acquire(timeout=0)
    except Timeout as error:
        raise DatasetError(
            f"Another process is fetching into {folder}.",
            hint="Wait until it has ended, or choose another folder with -o.",
            code="folder-taken",
        ) from error
    try:
        yield
    finally:
        lock.release()
        with suppress(OSError):  # another process may have it open by now
            path.unlink()


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except Timeout:
        raise
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise DatasetError(
            f"{folder} cannot be written: {reason(error)}.",
            hint=way_out(error, "Choose another place with -o."),
            code="unwritable",
        ) from error
