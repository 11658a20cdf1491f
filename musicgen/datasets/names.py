"""Names inside archives, made fit for any disk, or refused."""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePosixPath

from musicgen.errors import DatasetError

MAX_PART_BYTES = 200
_UNFIT = re.compile(r'[\x00-\x1f\x7f<>:"|?*]')
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)


def inner_path(name: str, archive: str) -> PurePosixPath:
    """Return the path that a member's name means, as it is written.

    Args:
        name: As the archive has it.
        archive: What the archive is called, for the error's sentence.

    Raises:
        DatasetError: The name leads out of the folder that it is unpacked into.
    """
    # Archives made by old programs on Windows have backslashes.
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or re.match(r"[A-Za-z]:", name) or "\0" in name:
        raise DatasetError(
            f"{archive} holds the name {name[:80]!r}, which leads out of its folder.",
            hint="Do not use this archive.",
            code="unsafe-archive",
        )
    return path


def below(path: PurePosixPath, root: str) -> PurePosixPath | None:
    """Return `path` as it stands below `root`, or None where it does not."""
    if not root:
        return path
    try:
        return path.relative_to(root)
    except ValueError:
        return None


def fit_path(path: PurePosixPath) -> PurePosixPath:
    """Return a path that every system's disk takes: no forbidden characters, no long parts."""
    return PurePosixPath(*(_fit_part(part) for part in path.parts))


def _fit_part(part: str) -> str:
    fit = _UNFIT.sub("_", part).rstrip(" .") or "_"
    if _RESERVED.match(fit):
        fit = f"_{fit}"
    suffix = PurePosixPath(fit).suffix
    encoded = fit.encode("utf-8", "replace")
    if len(encoded) <= MAX_PART_BYTES:
        return encoded.decode()
    room = MAX_PART_BYTES - len(suffix.encode("utf-8", "replace"))
    return encoded[: max(1, room)].decode("utf-8", "ignore") + suffix[:20]


def same_name(path: PurePosixPath) -> str:
    """Return what is equal for names that some system takes for one: letter case, accents."""
    return unicodedata.normalize("NFC", str(path)).casefold()


def numbered(path: PurePosixPath, number: int) -> PurePosixPath:
    """Return `song.mid` as `song-2.mid`."""
    return path.with_name(f"{path.stem}-{number}{path.suffix}")
