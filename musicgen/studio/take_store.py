"""All visitors' takes on the disk, under a quota: who comes back finds theirs.

A visitor's folder is named by a hash of their cookie: the cookie is a secret that opens the desk,
and a folder's name is none.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from musicgen.errors import TakesError
from musicgen.files import is_folder
from musicgen.studio.take_folder import LOCK, TakeFolder
from musicgen.studio.take_sheets import TakeSheet

FULL: Final = "takes-full"
"""Code of the error where starred takes leave no room."""

_SPARE: Final = 0.05  # of the studio's quota: so much is freed at once, for looking takes time
_SHEET_BYTES: Final = 4096  # about: a sheet and what the disk rounds up


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeQuota:
    """How much is kept; beyond it the oldest takes without a star go first.

    Attributes:
        takes: Of one visitor.
        bytes: Of one visitor.
        all_takes: Of all visitors together.
        all_bytes: Of all visitors together.
    """

    takes: int = 200
    bytes: int = 32 << 20
    all_takes: int = 4000
    all_bytes: int = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    folder: TakeFolder
    name: str
    size: int
    is_starred: bool
    made_s: float


class TakeStore:
    """Every visitor's folder.

    Args:
        root: Where the folders lie.
        quota: How much is kept.
    """

    def __init__(self, root: Path, quota: TakeQuota | None = None) -> None:
        self.root = root
        self.quota = quota or TakeQuota()
        self._keeping = threading.Lock()

    def of(self, visitor: str) -> TakeFolder:
        """Return a visitor's folder.

        Args:
            visitor: Their secret name.
        """
        hashed = hashlib.sha256(b"musicgen takes of " + visitor.encode()).hexdigest()[:32]
        return TakeFolder(self.root / hashed)

    def keep(
        self, folder: TakeFolder, sheet: TakeSheet, midi: bytes, events: np.ndarray
    ) -> TakeSheet:
        """Put a take into a visitor's folder; the oldest without a star make room.

        Raises:
            TakesError: The disk does not take it, or there is no room that starred takes leave.
        """
        size = len(midi) + 4 * events.size + _SHEET_BYTES
        with self._keeping:
            folder.sweep()
            own = _entries((folder,))
            _make_room(own, size, self.quota.takes, self.quota.bytes)
            self._make_room_for_all(size)
            return folder.put(sheet, midi, events)

    def _make_room_for_all(self, size: int) -> None:
        folders = self._folders()
        sizes = [taken for folder in folders for taken in folder.sizes().values()]
        quota = self.quota
        if len(sizes) < quota.all_takes and sum(sizes) + size <= quota.all_bytes:
            return
        for folder in folders:
            folder.sweep()
        _make_room(
            _entries(folders),
            size,
            max(1, int(quota.all_takes * (1 - _SPARE))),
            int(quota.all_bytes * (1 - _SPARE)),
        )
        for folder in folders:
            _remove_if_empty(folder.folder)

    def _folders(self) -> tuple[TakeFolder, ...]:
        with suppress(OSError), os.scandir(self.root) as entries:
            return tuple(TakeFolder(Path(entry.path)) for entry in entries if is_folder(entry.path))
        return ()


def _entries(folders: Iterable[TakeFolder]) -> list[_Entry]:
    """Return all takes, those first that may go first: removed or damaged, then the oldest."""
    found: list[_Entry] = []
    for folder in folders:
        sheets = {sheet.id: sheet for sheet in folder.sheets()}
        for name, size in folder.sizes().items():
            sheet = sheets.get(name)
            found.append(
                _Entry(
                    folder=folder,
                    name=name,
                    size=size,
                    is_starred=sheet is not None and sheet.is_starred,
                    made_s=0.0 if sheet is None else sheet.made_s,
                )
            )
    return sorted(found, key=lambda entry: entry.made_s)


def _make_room(entries: list[_Entry], size: int, most: int, most_bytes: int) -> None:
    """Let the oldest without a star go until one more take finds room.

    Raises:
        TakesError: Starred takes alone leave none; nothing is removed then.
    """
    count, taken = len(entries), sum(entry.size for entry in entries)
    gone: list[_Entry] = []
    for entry in entries:
        if count < most and taken + size <= most_bytes:
            break
        if not entry.is_starred:
            gone.append(entry)
            count, taken = count - 1, taken - entry.size
    if count >= most or taken + size > most_bytes:
        raise TakesError(
            "The drawer is full of starred takes, which make no room.",
            hint="Take a star away, or remove takes that you have at home.",
            code=FULL,
        )
    for folder in {entry.folder.folder: entry.folder for entry in gone}.values():
        folder.drop({entry.name for entry in gone if entry.folder.folder == folder.folder})


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        if os.listdir(folder) == [LOCK]:
            (folder / LOCK).unlink()
            folder.rmdir()
