"""Output paths: completed, checked and tried out before the work begins, not after it."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from musicgen import files
from musicgen.assets import asset_dir
from musicgen.cli.console import Console
from musicgen.errors import MusicgenError

STARTER_NAMES = (Path("data/starter"), Path("starter"))
OTHER_KINDS = {".wav", ".mp3", ".png", ".npz", ".json", ".txt", ".ogg", ".flac"}


def midi_path(out: Path) -> Path:
    """Return `out` with a MIDI suffix: `song` and `song.v2` become `song.mid`, `song.v2.mid`.

    Raises:
        typer.BadParameter: The suffix is that of another kind of file, or the name is empty.
    """
    if out.suffix.lower() in (".mid", ".midi"):
        return out
    if out.suffix.lower() in OTHER_KINDS:
        raise typer.BadParameter(
            f"{str(out)!r} is not a name for a MIDI file; it should end in .mid.",
            param_hint="'-o'",
        )
    if not out.name:
        raise typer.BadParameter(f"{str(out)!r} names no file.", param_hint="'-o'")
    return out.with_name(out.name + ".mid")


def suffix_among(out: Path, suffixes: Iterable[str]) -> str:
    """Return the suffix of `out` in lower case.

    Raises:
        typer.BadParameter: It is none of `suffixes`.
    """
    if out.name.lower() in suffixes:
        raise typer.BadParameter(
            f"{str(out)!r} is an ending alone: put a name before it, as in 'music{out.name}'.",
            param_hint="'-o'",
        )
    suffix = out.suffix.lower()
    if suffix not in suffixes:
        raise typer.BadParameter(
            f"{str(out)!r} should end in {', '.join(suffixes)}: the ending chooses what is made.",
            param_hint="'-o'",
        )
    return suffix


def take_paths(out: Path, takes: int | None) -> list[Path]:
    """Return the files of the takes: `out` itself, or OUT-1.mid, OUT-2.mid and so on."""
    if takes is None:
        return [out]
    return [out.with_name(f"{out.stem}-{i}{out.suffix}") for i in range(1, takes + 1)]


def try_out(paths: Iterable[Path], *, inputs: Iterable[Path] = ()) -> None:
    """Find out whether each file can be written, before the work, and leave nothing behind.

    Raises:
        typer.BadParameter: A path is one of `inputs`.
        MusicgenError: A path cannot be written.
    """
    inputs = list(inputs)
    for path in paths:
        if any(_is_same(path, source) for source in inputs):
            raise typer.BadParameter(
                f"{str(path)!r} is the input itself; choose another name for the output.",
                param_hint="'-o'",
            )
        with _explained(path):
            _try_to_write(path)


def make_folder_of(path: Path) -> None:
    """Make the folder in which `path` is about to be written, if it is missing.

    Raises:
        MusicgenError: It cannot be made.
    """
    with _explained(path):
        _real_folder(path).mkdir(parents=True, exist_ok=True)  # where a link leads, too
        path.parent.mkdir(parents=True, exist_ok=True)


def music_folder(console: Console, folder: Path) -> Path:
    """Return the folder of music that is meant.

    What is there under that name wins. Where nothing is, `data/starter` and `starter` name the
    pieces that ship: the README's command works in any folder.
    """
    if files.is_there(folder) or folder not in STARTER_NAMES:
        return folder
    shipped = asset_dir("data") / "starter"
    console.note(f"There is no {folder} here; taking the pieces that ship with musicgen.")
    return shipped


def _is_same(path: Path, source: Path) -> bool:
    try:
        return os.path.samefile(path, source)
    except (OSError, ValueError):
        return False


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Say in a sentence why `path` could not be written."""
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise MusicgenError(
            f"{path} cannot be written: {files.reason(error)}.",
            hint=files.way_out(error, "Choose another place for the output with -o."),
            code="unwritable-output",
        ) from error


def _real_folder(path: Path) -> Path:
    """Return the folder of `path`, which need not exist, without links and dots."""
    return Path(os.path.realpath(path.parent))


def _try_to_write(path: Path) -> None:
    folder = _real_folder(path)
    ground = next((each for each in (folder, *folder.parents) if files.is_there(each)), folder)
    if ground == folder:
        _try_in_place(folder / path.name)
        return
    # Out of sight: nothing of it is left, and another run may be making the same folder.
    with tempfile.TemporaryDirectory(prefix=".musicgen-", dir=ground) as trial:
        there = Path(trial, folder.relative_to(ground))
        there.mkdir(parents=True)
        (there / path.name).touch()


def _try_in_place(path: Path) -> None:
    target = files.destination(path)
    if files.is_there(target):
        with target.open("r+b"):
            pass
    elif path.is_symlink():
        raise OSError(errno.ENOENT, "it is a link to a file that is not there")
    else:
        with target.open("xb"):
            pass
        target.unlink()
    # Files are written beside and renamed, so the folder has to take a second file.
    with tempfile.TemporaryFile(dir=target.parent):
        pass


def save(path: Path, data: bytes) -> None:
    """Write `data` so that `path` holds either all of it or what it held before.

    Its folder is made if it is missing. Where `path` is a link, the file it leads to is written.

    Raises:
        MusicgenError: The disk is full, or the file cannot be replaced.
    """
    make_folder_of(path)
    with _explained(path):
        files.write_whole(path, data)
