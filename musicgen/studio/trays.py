"""Music that visitors laid down to train on: found again by who laid it, over a reload.

A tray is a folder beside the runs, and becomes a run's own when that begins. Its owner stands in it
as a hash of their cookie: the cookie is a secret, and a file's content is none.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from musicgen.errors import TrainingError
from musicgen.files import is_there
from musicgen.studio.desk import unwritable
from musicgen.studio.models import NAME, ORDER
from musicgen.studio.naming import harmless_names

MUSIC: Final = "music"
KEPT_S: Final = 24 * 3600.0
MOST_BYTES: Final = 1 << 30
_OWNER: Final = "laid-by"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tray:
    """What a visitor laid down.

    Attributes:
        music: The folder of the files.
        names: Of the files, in order.
        n_bytes: Of all of them.
        is_begun: Whether a run was made of it: its files stay as they are then.
    """

    music: Path
    names: tuple[str, ...]
    n_bytes: int
    is_begun: bool


class Trays:
    """All visitors' trays, one a visitor; what nobody trained on for a day makes room.

    Args:
        folder: The folder of all runs, where they lie.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._laying = threading.Lock()

    def of(self, visitor: str) -> Tray | None:
        """Return what a visitor laid down last, or None.

        Args:
            visitor: Their secret name.
        """
        owner = _hashed(visitor)
        names = (place.name for place in self._places() if _owner_of(place) == owner)
        newest = max(names, default=None)
        if newest is None:
            return None
        try:
            return _tray(self._folder / newest / MUSIC)
        except OSError:
            return None  # it is being removed

    def add(self, visitor: str, files: Sequence[tuple[str, bytes]]) -> Tray:
        """Lay files beside those that the visitor laid before, under harmless names.

        Of a tray that a run was made of a new one is made, with the same files.

        Args:
            visitor: Their secret name.
            files: Their names as they came, and their bytes.

        Raises:
            TrainingError: They are too large together, or the studio's folder takes no files.
        """
        with self._laying:
            self._sweep()
            before = self.of(visitor)
            _check_size(sum(len(data) for _, data in files) + (before.n_bytes if before else 0))
            taken = [] if before is None else list(before.names)
            names = harmless_names([*taken, *(name for name, _ in files)])[len(taken) :]
            if before is not None and not before.is_begun:
                music = before.music
            else:
                music = new_place(self._folder) / MUSIC
                _copy_music(None if before is None else before.music, music)
            written = [(music / name, data) for name, (_, data) in zip(names, files, strict=True)]
            try:
                for path, data in written:
                    path.write_bytes(data)
                (music.parent / _OWNER).write_text(_hashed(visitor), encoding="ascii")
            except OSError as error:
                for path, _ in written:
                    with suppress(OSError):
                        path.unlink(missing_ok=True)
                raise unwritable(music, error) from error
            if before is not None and before.is_begun:
                _disown(before.music.parent)
        return _tray(music)

    def clear(self, visitor: str) -> None:
        """Let go what a visitor laid down; a run that was made of it keeps its own."""
        tray = self.of(visitor)
        if tray is None:
            return
        if tray.is_begun:
            _disown(tray.music.parent)
        else:
            shutil.rmtree(tray.music.parent, ignore_errors=True)

    def _places(self) -> tuple[Path, ...]:
        with suppress(OSError):
            return tuple(place for place in self._folder.iterdir() if NAME.fullmatch(place.name))
        return ()

    def _sweep(self) -> None:
        """Remove what was laid long ago and never trained on."""
        for place in self._places():
            with suppress(OSError):
                folders = [each for each in (place, place / MUSIC) if is_there(each)]
                touched_s = max(folder.stat().st_mtime for folder in folders)
                if not is_there(place / ORDER) and time.time() - touched_s > KEPT_S:
                    shutil.rmtree(place, ignore_errors=True)


def new_place(folder: Path) -> Path:
    """Make a folder, named by the time and so that nobody can guess it: it is an address.

    Raises:
        TrainingError: The studio's folder takes no files.
    """
    place = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(16)}"
    try:
        place.mkdir(parents=True)
    except OSError as error:
        raise unwritable(place, error) from error
    return place


def laid_again(music: Path, folder: Path) -> Path:
    """Return a new place whose music is that of a run; it is its visitor's tray from now on.

    Args:
        music: Of the run, which may be removed afterwards.
        folder: The folder of all runs.

    Raises:
        TrainingError: The studio's folder takes no files.
    """
    place = new_place(folder)
    _copy_music(music, place / MUSIC)
    with suppress(OSError):  # it may have no owner any more
        os.replace(music.parent / _OWNER, place / _OWNER)
    return place


def _copy_music(source: Path | None, target: Path) -> None:
    """Make a folder with the files of another one.

    Raises:
        TrainingError: The studio's folder takes no files.
    """
    try:
        target.mkdir()
        for file in () if source is None else source.iterdir():
            try:
                os.link(file, target / file.name)  # neither is ever changed
            except OSError:
                shutil.copyfile(file, target / file.name)
    except OSError as error:
        raise unwritable(target, error) from error


def _check_size(n_bytes: int) -> None:
    if n_bytes > MOST_BYTES:
        raise TrainingError(
            f"These files have {n_bytes / 1e9:.1f} GB together; {MOST_BYTES / 1e9:.1f} GB are the "
            "most.",
            hint="Put them into a folder of this computer, and give that instead.",
            code="music-too-large",
        )


def _tray(music: Path) -> Tray:
    files = sorted(music.iterdir())
    return Tray(
        music=music,
        names=tuple(file.name for file in files),
        n_bytes=sum(file.stat().st_size for file in files),
        is_begun=is_there(music.parent / ORDER),
    )


def _hashed(visitor: str) -> str:
    return hashlib.sha256(b"musicgen music of " + visitor.encode()).hexdigest()


def _owner_of(place: Path) -> str:
    with suppress(OSError, UnicodeError):
        return (place / _OWNER).read_text(encoding="ascii")
    return ""


def _disown(place: Path) -> None:
    with suppress(OSError):
        (place / _OWNER).unlink(missing_ok=True)
