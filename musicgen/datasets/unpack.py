"""From an archive to a folder of music: MIDI files, the texts on its terms, the table of its split.

Nothing else is taken: no links, no programs, no sound. A name that leads elsewhere refuses the
archive.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from musicgen.datasets.archives import Member, members, read_member
from musicgen.datasets.names import below, fit_path, inner_path, numbered, same_name
from musicgen.datasets.table import Dataset
from musicgen.errors import DatasetError
from musicgen.midi.folder import MIDI_SUFFIXES

SPLITS = ("train", "validation", "test")
_TEXTS = ("license", "licence", "readme", "copying", "notice", "citation", "disclaimer")
_TEXT_SUFFIXES = ("", ".txt", ".md", ".rst", ".cff")
_MB = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What an archive may hold, lest a small file fill the disk.

    Attributes:
        members: Files of any kind.
        file_bytes: Of a MIDI file; larger ones are left out.
        text_bytes: Of a text, and of the table of the split times ten.
        total_bytes: Of all that is written.
    """

    members: int = 1_000_000
    file_bytes: int = 32 * _MB
    text_bytes: int = _MB
    total_bytes: int = 20_000 * _MB


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpacking:
    """How far the archive is unpacked.

    Attributes:
        done: Members looked at.
        total: Members there are; None where the archive does not say beforehand.
    """

    done: int
    total: int | None


@dataclass(slots=True, kw_only=True)
class Unpacked:
    """What an archive held.

    Attributes:
        by_split: MIDI files written by split; "" for those without one.
        copies: MIDI files left out as the bytes of another of the same name.
        left_out: MIDI files left out by the corpus's own pattern.
        outside: MIDI files of which the table of the split says nothing.
        oversized: MIDI files above the limit.
        total_bytes: Written.
    """

    by_split: Counter[str] = field(default_factory=Counter)
    copies: int = 0
    left_out: int = 0
    outside: int = 0
    oversized: int = 0
    total_bytes: int = 0

    @property
    def n_files(self) -> int:
        """MIDI files written."""
        return self.by_split.total()


def unpack(
    archive: Path, dataset: Dataset, folder: Path, *, limits: Limits = Limits()
) -> Iterator[Unpacking | Unpacked]:
    """Unpack a corpus's archive into a folder; yield how far it is, then what it held.

    Args:
        archive: A zip or tar.gz file.
        dataset: Whose archive it is.
        folder: An empty folder.
        limits: What it may hold.

    Raises:
        DatasetError: The archive is damaged, unsafe, too large or without music.
        OSError: The folder cannot be written.
    """
    work = _Work(archive, dataset, folder, limits)
    for done, (member, total) in enumerate(members(archive), start=1):
        if done > limits.members:
            raise _too_much(archive, f"{limits.members:,} files")
        work.take(member)
        yield Unpacking(done=done, total=total)
    if not work.found.n_files:
        raise DatasetError(
            f"{archive.name} holds no MIDI files where {dataset.title} has them.",
            hint="Is it another archive? The publisher's page names the right one.",
            code="no-music",
        )
    yield work.found


class _Work:
    """One unpacking: where things go, and what has come."""

    def __init__(self, archive: Path, dataset: Dataset, folder: Path, limits: Limits) -> None:
        self.found = Unpacked()
        self._archive, self._dataset, self._folder, self._limits = archive, dataset, folder, limits
        self._taken: dict[str, PurePosixPath] = {}
        self._splits = _read_splits(archive, dataset, limits)

    def take(self, member: Member) -> None:
        """Write a member that is wanted."""
        path = inner_path(member.name, self._archive.name)
        if "__MACOSX" in path.parts or path.name.startswith("._"):
            return
        inside = below(path, self._dataset.root)
        if inside is not None and path.name.lower().endswith(MIDI_SUFFIXES):
            self._take_music(member, inside)
        elif len(path.parts) <= 3 and _is_text(path.name.lower()):
            self._take_text(member, PurePosixPath(path.name), self._limits.text_bytes)
        elif inside is not None and str(inside) == self._dataset.split_table:
            self._take_text(member, inside, self._limits.text_bytes * 10)

    def _take_music(self, member: Member, inside: PurePosixPath) -> None:
        if any(fnmatchcase(f"/{inside}", pattern) for pattern in self._dataset.left_out):
            self.found.left_out += 1
            return
        split = "" if self._splits is None else self._splits.get(str(inside))
        if split is None:
            self.found.outside += 1
            return
        data = member.read(self._limits.file_bytes + 1)
        if len(data) > self._limits.file_bytes:
            self.found.oversized += 1
        elif self._write(fit_path(PurePosixPath(split, inside)), data):
            self.found.by_split[split] += 1
        else:
            self.found.copies += 1

    def _take_text(self, member: Member, path: PurePosixPath, most_bytes: int) -> None:
        data = member.read(most_bytes + 1)
        if len(data) <= most_bytes:
            self._write(fit_path(path), data)

    def _write(self, path: PurePosixPath, data: bytes) -> bool:
        """Write a file, beside one of the same name; False where that holds the same bytes."""
        wanted, number = path, 1
        while (taken := self._taken.get(same_name(path))) is not None:
            if path == taken and (self._folder / path).read_bytes() == data:
                return False
            number += 1
            path = numbered(wanted, number)
        self.found.total_bytes += len(data)
        if self.found.total_bytes > self._limits.total_bytes:
            raise _too_much(self._archive, f"{self._limits.total_bytes:,} bytes")
        self._taken[same_name(path)] = path
        target = self._folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        return True


def _is_text(name: str) -> bool:
    return name.startswith(_TEXTS) and PurePosixPath(name).suffix in _TEXT_SUFFIXES


def _read_splits(archive: Path, dataset: Dataset, limits: Limits) -> Mapping[str, str] | None:
    """Return each file's split as the corpus's own table has it; None for a corpus without one."""
    if dataset.split_table is None:
        return None
    name = str(PurePosixPath(dataset.root, dataset.split_table))
    data = read_member(archive, name, limits.text_bytes * 10)
    rows = (
        [] if data is None else list(csv.DictReader(io.StringIO(data.decode("utf-8", "replace"))))
    )
    found = {row.get("midi_filename") or "": row.get("split") or "" for row in rows}
    splits = {name: split for name, split in found.items() if name and split in SPLITS}
    if not splits:
        raise DatasetError(
            f"{archive.name} has no table {dataset.split_table} that tells its split.",
            hint="Is it another archive? The publisher's page names the right one.",
            code="no-split",
        )
    return splits


def _too_much(archive: Path, what: str) -> DatasetError:
    return DatasetError(
        f"{archive.name} unpacks to more than {what}: that is not the corpus.",
        hint="Do not use this archive.",
        code="unsafe-archive",
    )
