"""Writing a folder whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from musicgen.files import is_folder, is_there


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files to a sibling folder, synced, then put it in the place of `folder`.

    Where `folder` is a link, the folder it leads to is written.

    Raises:
        OSError: It cannot be written, or what lies there is no folder; what was there before is
            still there.
    """
    if is_there(folder) and not is_folder(folder):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    folder = Path(os.path.realpath(folder))
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        for name, data in files.items():
            _write_synced(partial / name, data)
        partial.chmod(0o755)
        _replace_folder(partial, folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _write_synced(path: Path, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _replace_folder(new: Path, folder: Path) -> None:
    """Put `new` in the place of `folder`; no system swaps two folders in one step."""
    if not is_there(folder):
        os.replace(new, folder)
        return
    old = folder.with_name(f".{folder.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    os.replace(folder, old)
    os.replace(new, folder)
    shutil.rmtree(old, ignore_errors=True)


def put_back(folder: Path) -> None:
    """Undo a replacement that a killed process had begun: the old folder set aside, no new one.

    Raises:
        OSError: It cannot be renamed.
    """
    folder = Path(os.path.realpath(folder))
    old = folder.with_name(f".{folder.name}.old")
    if is_there(old) and not is_there(folder):
        os.replace(old, folder)


def remove_partial(parent: Path, name: str) -> None:
    """Remove what killed processes left of folders whose names are as the pattern `name` says."""
    for path in parent.glob(f".{name}.*"):
        shutil.rmtree(path, ignore_errors=True)
