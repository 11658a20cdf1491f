"""One process a run: the folder is locked while it trains."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from musicgen import files
from musicgen.errors import TrainingError
from musicgen.files import is_there

LOCK = "run.lock"
_OTHERWISE = "Choose a folder that you may write to."


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """Hold a folder that can be written; the system lets go of it when a process is killed.

    Folders that were made here and hold nothing are removed again.

    Raises:
        TrainingError: Another process holds it, or it cannot be written.
    """
    missing = [each for each in (folder, *folder.parents) if not is_there(each)]
    lock = FileLock(folder / LOCK)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout as error:
        raise TrainingError(
            f"Another process is training in {folder}.",
            hint="Wait until it has ended, stop it, or choose another folder.",
        ) from error
    except OSError as error:
        raise unwritable(folder, error) from error
    try:
        yield
    finally:
        lock.release()
        if missing and [path.name for path in folder.iterdir()] == [LOCK]:
            (folder / LOCK).unlink()
            with suppress(OSError):  # another run may have begun beside it
                for each in missing:
                    each.rmdir()


@contextmanager
def holds(lock: Path) -> Iterator[None]:
    """Hold a file as a sign of life; the system lets go of it when a process is killed.

    Raises:
        TrainingError: Another process holds it, or it cannot be written.
    """
    held = FileLock(lock)
    try:
        held.acquire(timeout=0)
    except Timeout as error:
        raise TrainingError(f"Another process holds {lock}.", hint="Wait until it ends.") from error
    except OSError as error:
        raise unwritable(lock.parent, error) from error
    try:
        yield
    finally:
        held.release()


def is_held(lock: Path) -> bool:
    """Whether a process holds a file as a sign of life."""
    if not is_there(lock):
        return False
    probe = FileLock(lock)
    try:
        probe.acquire(timeout=0)
    except (Timeout, OSError):
        return True
    probe.release()
    return False


def unwritable(folder: Path, error: OSError) -> TrainingError:
    """Return the error for a run's folder that takes no files."""
    return TrainingError(
        f"The run's folder {folder} cannot be written: {files.reason(error)}.",
        hint=f"{files.way_out(error, _OTHERWISE)} What was saved before is still there.",
    )
