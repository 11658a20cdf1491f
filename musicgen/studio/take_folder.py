"""One visitor's takes on the disk.

ID.mid       the music, as it is taken home
ID.npy       its events, (T, K) int32: what attention is shown of
ID.json      the sheet; written last: a take is there if this is
ID.removed   the sheet of a take that was removed a while ago and can still be had back

Any number of processes may look and write: who changes something holds a lock, every file comes
whole by renaming, and what is damaged is counted and left out. T events of K attributes.
"""

from __future__ import annotations

import hashlib
import io
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from filelock import FileLock, Timeout

from musicgen import configio
from musicgen.errors import ConfigError, TakesError
from musicgen.files import is_there, reason, way_out, write_whole
from musicgen.studio.take_sheets import TAKE_NAME, TakeSheet

LOCK: Final = ".lock"
_SUFFIXES: Final = (".json", ".removed", ".mid", ".npy")
_PATIENCE_S: Final = 5.0
_GONE: Final = "It was removed, or made room for newer ones."
FORGIVING_S: Final = 3600.0
"""So long a removed take can be had back, and files of no take lie about."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoredTake:
    """A take as it lies on the disk.

    Attributes:
        sheet: What is known of it.
        midi: The file, whole.
        events: (T, K) int64; None where they are lost, and attention with them.
    """

    sheet: TakeSheet
    midi: bytes = field(repr=False)
    events: np.ndarray | None = field(repr=False)


class TakeFolder:
    """One visitor's takes. Nothing is made on the disk before the first take is put.

    Args:
        folder: Where they lie.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._reading = threading.Lock()
        self._known: dict[str, tuple[tuple[int, int], TakeSheet | None]] = {}

    def sheets(self) -> tuple[TakeSheet, ...]:
        """Return the sheets of all takes, oldest first; what cannot be read is left out."""
        found = (sheet for sheet in self._look().values() if sheet is not None)
        return tuple(sorted(found, key=lambda sheet: (sheet.made_s, sheet.id)))

    def removed(self) -> tuple[tuple[float, TakeSheet], ...]:
        """Return takes that may come back: when they were removed (since 1970, s), and what."""
        until_s = time.time() - FORGIVING_S
        removed = (
            (status.st_mtime, self._load(name, suffix))
            for name, suffix, status in self._entries()
            if suffix == ".removed" and status.st_mtime > until_s
        )
        return tuple((at_s, sheet) for at_s, sheet in removed if sheet is not None)

    def n_damaged(self) -> int:
        """Return how many takes lie there that cannot be read."""
        return sum(sheet is None for sheet in self._look().values())

    def sizes(self) -> dict[str, int]:
        """Return how many bytes each take has, those that were removed and may come back too."""
        found: dict[str, int] = {}
        for name, _, status in self._entries():
            found[name] = found.get(name, 0) + status.st_size
        return found

    def put(self, sheet: TakeSheet, midi: bytes, events: np.ndarray) -> TakeSheet:
        """Keep a take, and return its sheet with the sums of its files.

        Raises:
            TakesError: The disk does not take it; nothing of it is left there.
        """
        data = _event_bytes(events)
        sheet = replace(sheet, midi_sha256=_sum(midi), events_sha256=_sum(data))
        told = configio.to_json(sheet).encode()
        with self._held(make=True):
            try:
                for suffix, content in ((".mid", midi), (".npy", data), (".json", told)):
                    write_whole(self._path(sheet.id, suffix), content)
            except OSError:
                self._unlink(sheet.id)
                raise
        return sheet

    def read(self, name: str) -> StoredTake:
        """Read a take.

        Raises:
            TakesError: There is none of that name, or its music is damaged.
        """
        sheet = self._sheet(name)
        try:
            midi = self._path(name, ".mid").read_bytes()
        except OSError as error:
            self._sheet(name)  # who makes room takes the sheet first: then it is gone, not broken
            raise TakesError(
                f"The MIDI file of {sheet.title!r} cannot be read: {reason(error)}.", hint=_GONE
            ) from error
        if _sum(midi) != sheet.midi_sha256:
            raise TakesError(
                f"The MIDI file of {sheet.title!r} on the disk is damaged.",
                hint="Remove the take; it cannot be shown.",
                code="take-damaged",
            )
        return StoredTake(sheet=sheet, midi=midi, events=self._events(sheet))

    def change(self, name: str, **changes: Any) -> TakeSheet:
        """Change a sheet, and return the new one.

        Raises:
            TakesError: There is none of that name, or the disk does not take it.
        """
        with self._held():
            sheet = replace(self._sheet(name), **changes)
            write_whole(self._path(name, ".json"), configio.to_json(sheet).encode())
        return sheet

    def remove(self, name: str) -> None:
        """Remove a take; for a while it can be had back.

        Raises:
            TakesError: There is none of that name, or the disk does not allow it.
        """
        self._rename(name, ".json", ".removed")

    def restore(self, name: str) -> TakeSheet:
        """Have a removed take back.

        Raises:
            TakesError: It is gone for good.
        """
        self._rename(name, ".removed", ".json")
        return self._sheet(name)

    def drop(self, names: set[str]) -> None:
        """Remove takes for good.

        Raises:
            TakesError: The disk does not allow it.
        """
        if names:
            with self._held():
                for name in names:
                    self._unlink(name)

    def sweep(self) -> None:
        """Remove what nobody can have back: takes removed a while ago, and halves of files.

        Raises:
            TakesError: The disk does not allow it.
        """
        kinds: dict[str, set[str]] = {}
        newest_s: dict[str, float] = {}
        for name, suffix, status in self._entries():
            kinds.setdefault(name, set()).add(suffix)
            newest_s[name] = max(status.st_mtime, newest_s.get(name, 0.0))
        until_s = time.time() - FORGIVING_S
        old = {name for name, at_s in newest_s.items() if at_s < until_s}
        self.drop({name for name in old if ".json" not in kinds[name]})
        with suppress(OSError):
            for path in self.folder.glob(".*.part"):
                if path.stat().st_mtime < until_s:
                    path.unlink(missing_ok=True)

    def _look(self) -> dict[str, TakeSheet | None]:
        """Return the sheet of each take; None for one that is damaged."""
        found: dict[str, TakeSheet | None] = {}
        entries = self._entries()
        with_music = {name for name, suffix, _ in entries if suffix == ".mid"}
        with self._reading:
            for name, suffix, status in entries:
                if suffix != ".json":
                    continue
                stamp = (status.st_mtime_ns, status.st_size)
                known = self._known.get(name)
                if known is None or known[0] != stamp:
                    known = self._known[name] = (stamp, self._load(name))
                found[name] = known[1] if name in with_music else None
            for name in self._known.keys() - found.keys():
                del self._known[name]
        return found

    def _entries(self) -> list[tuple[str, str, os.stat_result]]:
        found: list[tuple[str, str, os.stat_result]] = []
        # A folder that cannot be read holds nothing for the page; who writes into it is told.
        with suppress(OSError), os.scandir(self.folder) as entries:
            for entry in entries:
                name, suffix = os.path.splitext(entry.name)
                if suffix in _SUFFIXES and TAKE_NAME.fullmatch(name):
                    with suppress(OSError):  # it is being removed, or a link leads nowhere
                        found.append((name, suffix, entry.stat()))
        return found

    def _load(self, name: str, suffix: str = ".json") -> TakeSheet | None:
        try:
            sheet = configio.load_json(self._path(name, suffix), TakeSheet)
        except ConfigError:
            return None
        return sheet if sheet.id == name else None

    def _sheet(self, name: str) -> TakeSheet:
        is_name = TAKE_NAME.fullmatch(name) is not None
        sheet = self._load(name) if is_name and is_there(self._path(name, ".json")) else None
        if sheet is None:
            raise TakesError("This take is not on the disk any more.", hint=_GONE)
        return sheet

    def _events(self, sheet: TakeSheet) -> np.ndarray | None:
        try:
            data = self._path(sheet.id, ".npy").read_bytes()
        except OSError:
            return None
        if _sum(data) != sheet.events_sha256:
            return None
        events = np.load(io.BytesIO(data), allow_pickle=False)
        is_whole = events.ndim == 2 and 0 < sheet.facts.new_from <= len(events)
        return events.astype(np.int64) if is_whole else None

    def _rename(self, name: str, old: str, new: str) -> None:
        if TAKE_NAME.fullmatch(name) is None or not is_there(self._path(name, old)):
            raise TakesError("This take is not on the disk any more.", hint=_GONE)
        with self._held():
            try:
                os.replace(self._path(name, old), self._path(name, new))
            except FileNotFoundError as error:  # another made room just then
                raise TakesError("This take is not on the disk any more.", hint=_GONE) from error
            os.utime(self._path(name, new))  # from now on

    def _path(self, name: str, suffix: str) -> Path:
        return self.folder / f"{name}{suffix}"

    def _unlink(self, name: str) -> None:
        for suffix in _SUFFIXES:  # the sheet first: half a take is none
            self._path(name, suffix).unlink(missing_ok=True)

    @contextmanager
    def _held(self, *, make: bool = False) -> Iterator[None]:
        """Hold the folder against other threads and processes; the disk's errors become ours."""
        try:
            if make:
                self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with FileLock(self.folder / LOCK, timeout=_PATIENCE_S):
                yield
        except Timeout as error:
            raise TakesError(
                "The folder of your takes is held by another program.", hint="Try again."
            ) from error
        except OSError as error:
            raise TakesError(
                f"The studio's folder {self.folder.parent} takes no files: {reason(error)}.",
                hint=way_out(error, "Set MUSICGEN_HOME to a folder that you may write."),
            ) from error


def _event_bytes(events: np.ndarray) -> bytes:
    stored = io.BytesIO()
    np.save(stored, np.asarray(events, dtype=np.int32), allow_pickle=False)
    return stored.getvalue()


def _sum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
