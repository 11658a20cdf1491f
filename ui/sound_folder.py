"""Where a studio's sound lies while it runs; what a killed one left there is removed."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from musicgen.files import is_there

_PREFIX: Final = "musicgen-sound-"
_LOCK: Final = ".lock"
_YOUNG_S: Final = 60.0  # a folder that was just made may not be held yet


class SoundFolder:
    """A folder among the system's temporary ones, held as long as this process uses it.

    Attributes:
        path: Where sound goes.
    """

    def __init__(self) -> None:
        _clear(Path(tempfile.gettempdir()))
        self._folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._lock = FileLock(self._folder / _LOCK)
        self._lock.acquire()
        self.path = self._folder / "sound"
        self.path.mkdir()

    def close(self) -> None:
        """Remove it with all that lies there."""
        self._lock.release()
        shutil.rmtree(self._folder, ignore_errors=True)


def _clear(root: Path) -> None:
    """Remove folders of processes that are gone; whatever cannot be told or removed stays."""
    for folder in root.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if not (_is_ours(folder) and is_there(folder / _LOCK)):
                continue
            try:
                with FileLock(folder / _LOCK, timeout=0):
                    pass
            except Timeout:
                continue  # somebody uses it
            shutil.rmtree(folder)


def _is_ours(folder: Path) -> bool:
    """Say whether a folder is one that this user made, and not just now."""
    facts = folder.lstat()  # in a folder that everybody writes to, a link may lead anywhere
    is_mine = not hasattr(os, "getuid") or facts.st_uid == os.getuid()
    return stat.S_ISDIR(facts.st_mode) and is_mine and time.time() - facts.st_mtime > _YOUNG_S
