"""A folder of music looked over before anybody trains on it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from musicgen.corpus import HELD_SHARE, Diagnosis, ScanProgress, check_place, diagnose
from musicgen.errors import CorpusError
from musicgen.studio.places import studio_home
from musicgen.studio.status import without_options
from musicgen.training import TrainingRecipe
from musicgen.training.fine_tuning import offer


def look_over(folder: str | Path) -> Iterator[ScanProgress | Diagnosis]:
    """Look at every file of a folder; yield progress, then what becomes of each.

    What was learned is kept: a second look reads only what has changed.

    Raises:
        CorpusError: There is no such folder, or nothing in it can be used.
    """
    name = hashlib.sha256(os.fsencode(os.path.realpath(folder))).hexdigest()[:32]
    cache = studio_home() / "scans" / f"{name}.npz"
    yield from diagnose(Path(folder), cache=cache)


def refusal(folder: str | Path) -> CorpusError | None:
    """Return why a folder cannot be looked over at all; None where it can be tried."""
    try:
        check_place(Path(folder))
    except CorpusError as error:
        return error
    return None


def advice(found: Diagnosis) -> str:
    """Return a sentence for who would train a new model on so little music; "" for enough.

    Args:
        found: The music.
    """
    parts = {"train": 1.0, "within": 1.0 - HELD_SHARE}  # as the run that follows will count them
    n_notes = round(sum(line.notes * parts.get(line.split, 0.0) for line in found.files))
    return without_options(offer(TrainingRecipe(), n_notes)) if n_notes else ""
