"""Names for uploaded files: of any script, leading nowhere, taken by every system."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

_LONGEST: Final = 60
_DEVICES: Final = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)  # on Windows


def harmless_names(names: Sequence[str]) -> list[str]:
    """Return a file name for each name, no two of them alike on any system.

    Args:
        names: As they came with the files.
    """
    found: list[str] = []
    taken: set[str] = set()
    for name in map(_harmless, names):
        stem, dot, kind = name.partition(".")
        own, number = name, 1
        while _seen_as(own) in taken:
            number += 1
            own = f"{stem}-{number}{dot}{kind}"
        taken.add(_seen_as(own))
        found.append(own)
    return found


def _harmless(name: str) -> str:
    """Return a file name that any system takes, and that leads nowhere."""
    stem, dot, suffix = name.replace("\\", "/").rsplit("/", 1)[-1].rpartition(".")
    kept = re.sub(r"[^\w -]+", "-", stem if dot else suffix).strip(" -")[:_LONGEST].rstrip()
    kept = kept or "music"
    if _DEVICES.fullmatch(kept):
        kept = f"{kept}-"
    kind = re.sub(r"[^A-Za-z0-9]+", "", suffix)[:5].lower() if dot else ""
    return f"{kept}.{kind}" if kind else kept


def _seen_as(name: str) -> str:
    """Return what a system sees that tells neither capitals nor ways to write a letter apart."""
    return unicodedata.normalize("NFKC", name).casefold()
