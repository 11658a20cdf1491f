"""Where the music of a folder lies: in files, and in files within zip archives."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from musicgen import files
from musicgen.corpus.archives import archive_entries
from musicgen.corpus.report import Refusal
from musicgen.errors import CorpusError, MusicgenError, NoUsableFilesError
from musicgen.midi import MIDI_SUFFIXES

OTHER_FILE = "other-file"
"""Code of files that neither are called MIDI files nor begin like one: told, but no failure."""
_MAGICS = (b"MThd", b"RIFF")
_COMPANION = "._"  # macOS puts such a file beside each of its own
ZIP_SUFFIX = ".zip"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One file that may hold music.

    Attributes:
        name: Where it lies relative to the folder, as it is shown; parts of archives too.
        path: The file, or the archive that holds it.
        entry: Its number in the archive; None for a file.
        size: Bytes; −1 where the system does not tell.
        mtime_ns: When it, or its archive, was changed.
    """

    name: str
    path: str
    entry: int | None
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What was found.

    Attributes:
        music: Files that may hold music, in the order of their names.
        refused: What is left out already: folders and archives that cannot be read, other files.
    """

    music: tuple[Source, ...]
    refused: tuple[Refusal, ...]


def find_sources(root: Path, *, skip: Path | None = None) -> Sources:
    """Look through a folder, or a zip archive, for files that may hold music.

    Links are followed, each folder once. A file counts if it is called a MIDI file or begins like
    one; archives within archives are not opened.

    Args:
        root: A folder or a zip archive.
        skip: A folder below it that is left out without a word.

    Raises:
        CorpusError: There is no such folder or archive.
        NoUsableFilesError: No file in it may hold music.
    """
    check_place(root)
    found = list(_walk(root, skip)) if files.is_folder(root) else list(_in_archive(str(root), ""))
    music = [each for each in found if isinstance(each, Source)]
    if not music:
        raise _no_music(root, [each for each in found if isinstance(each, Refusal)])
    music = sorted(music, key=lambda source: source.name.split("/"))
    return Sources(
        music=tuple(_with_names_of_their_own(music)),
        refused=tuple(each for each in found if isinstance(each, Refusal)),
    )


def check_place(root: Path) -> None:
    """Refuse what is neither a folder nor called a zip archive, without a look into it.

    Raises:
        CorpusError: It is not there, or some other file.
    """
    if not files.is_there(root):
        raise CorpusError(f"There is no folder {root}.", hint="Check the path.")
    if not files.is_folder(root) and not root.name.lower().endswith(ZIP_SUFFIX):
        raise CorpusError(
            f"{root} is a file, not a folder.", hint="Give the folder it lies in, or a zip archive."
        )


def _with_names_of_their_own(music: list[Source]) -> Iterator[Source]:
    """Number the names that an archive gives several of its entries."""
    met: Counter[str] = Counter()
    for source in music:
        met[source.name] += 1
        times = met[source.name]
        yield source if times == 1 else replace(source, name=f"{source.name} ({times})")


def _no_music(root: Path, refused: list[Refusal]) -> NoUsableFilesError:
    failed = [refusal for refusal in refused if refusal.code != OTHER_FILE]
    what = "none is called .mid, .midi, .kar or .rmi"
    if failed:
        what += f"; {failed[0].path}: {failed[0].message}".rstrip(".")
    return NoUsableFilesError(
        f"No usable MIDI files in {root}: {what}.",
        hint="Give a folder that holds MIDI files, at any depth.",
    )


def _walk(root: Path, skip: Path | None) -> Iterator[Source | Refusal]:
    unreadable: list[OSError] = []
    seen = {_identity(skip)} if skip is not None and files.is_folder(skip) else set()
    for folder, subfolders, names in os.walk(root, onerror=unreadable.append, followlinks=True):
        identity = _identity(folder)
        if identity in seen:
            subfolders.clear()
            continue
        seen.add(identity)
        subfolders.sort()
        for name in sorted(names):
            yield from _file(root, os.path.join(folder, name))
    for error in unreadable:
        name = shown_name(root, error.filename or str(root))
        message = f"This folder cannot be read: {files.reason(error)}."
        yield Refusal(path=name, code="unreadable-folder", message=message)


def _identity(folder: str | Path) -> tuple[int, int] | None:
    try:
        status = os.stat(folder)
    except OSError:  # gone since it was listed: the walk reports it
        return None
    return status.st_dev, status.st_ino


def _file(root: Path, path: str) -> Iterator[Source | Refusal]:
    name = shown_name(root, path)
    if os.path.basename(path).startswith(_COMPANION):
        yield _companion(name)
        return
    lowered = path.lower()
    try:
        status = os.stat(path)
    except OSError:  # a link that leads nowhere; reading it says so
        status = None
    if lowered.endswith(MIDI_SUFFIXES) or (status and _begins_like_midi(path, status)):
        yield Source(
            name=name,
            path=path,
            entry=None,
            size=status.st_size if status else -1,
            mtime_ns=status.st_mtime_ns if status else 0,
        )
    elif lowered.endswith(ZIP_SUFFIX):
        yield from _in_archive(path, name)
    else:
        message = "It is not called a MIDI file and does not begin like one."
        yield Refusal(path=name, code=OTHER_FILE, message=message)


def _companion(name: str) -> Refusal:
    message = "It is a companion that macOS keeps beside a file, and holds no music."
    return Refusal(path=name, code=OTHER_FILE, message=message)


def _begins_like_midi(path: str, status: os.stat_result) -> bool:
    if not stat.S_ISREG(status.st_mode):
        return False
    try:
        with open(path, "rb") as file:
            head = file.read(12)
    except OSError:
        return False
    return head[:4] == _MAGICS[0] or (head[:4] == _MAGICS[1] and head[8:] == b"RMID")


def _in_archive(path: str, name: str) -> Iterator[Source | Refusal]:
    """Yield the music of an archive, or why there is none."""
    try:
        entries = archive_entries(path)
        mtime_ns = os.stat(path).st_mtime_ns
    except (MusicgenError, OSError) as error:
        told = error.message if isinstance(error, MusicgenError) else f"{files.reason(error)}."
        yield Refusal(path=name or os.path.basename(path), code="bad-archive", message=told)
        return
    if not entries:
        told = "This zip archive is empty: it holds no file."
        yield Refusal(path=name or os.path.basename(path), code="bad-archive", message=told)
    for entry in entries:
        inner = f"{name}/{plain(entry.name)}" if name else plain(entry.name)
        if entry.name.rsplit("/", 1)[-1].startswith(_COMPANION):
            yield _companion(inner)
        elif entry.fault:
            yield Refusal(path=inner, code="bad-archive", message=entry.fault)
        elif entry.name.lower().endswith(MIDI_SUFFIXES):
            yield Source(
                name=inner, path=path, entry=entry.number, size=entry.size, mtime_ns=mtime_ns
            )
        else:
            message = "It is not called a MIDI file, and lies in an archive."
            yield Refusal(path=inner, code=OTHER_FILE, message=message)


def shown_name(root: Path, path: str) -> str:
    r"""Return a file's name relative to the folder: with /, and undecodable bytes as \xff."""
    relative = os.path.relpath(path, root).replace(os.sep, "/")
    return plain(relative)


def plain(name: str) -> str:
    r"""Return a name that any text file can hold: lone surrogates become \xff or \udc00."""
    raw = name.encode("utf-8", "surrogateescape" if _is_escaped(name) else "backslashreplace")
    return raw.decode("utf-8", "backslashreplace")


def _is_escaped(name: str) -> bool:
    return all("\udc80" <= char <= "\udcff" for char in name if "\ud800" <= char <= "\udfff")
