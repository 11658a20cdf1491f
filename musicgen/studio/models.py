"""Models that were trained in the studio, found without a word of what trains them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from musicgen.files import is_file, is_folder

ORDER: Final = "order.json"
RUN: Final = "run"
_MANIFEST: Final = "manifest.json"
NAME: Final = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{32}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedModel:
    """A model that was trained in the studio.

    Attributes:
        folder: Where it lies; what the pipeline loads.
        title: What its run is called; foreign text.
        begun_s: When its run was begun, in seconds since 1970: it tells models of one title apart.
        written_s: When it was last written, in seconds since 1970: a run that goes on betters it.
    """

    folder: Path
    title: str
    begun_s: float
    written_s: float


def trained_models(folder: Path) -> tuple[TrainedModel, ...]:
    """Return the models in the folder of all runs, newest run first."""
    if not is_folder(folder):
        return ()
    names = sorted((p.name for p in folder.iterdir() if NAME.fullmatch(p.name)), reverse=True)
    found = (trained_model(folder / name) for name in names)
    return tuple(model for model in found if model is not None)


def trained_model(folder: Path) -> TrainedModel | None:
    """Return the model that a run of the studio has so far; None where there is none.

    The run's best; before the first validation its newest checkpoint.
    """
    run = folder / RUN
    steps = sorted((run / "checkpoints").glob(f"step-*/{_MANIFEST}"), reverse=True)
    manifest = next(filter(is_file, (run / "best" / _MANIFEST, *steps)), None)
    if manifest is None:
        return None
    try:
        order = json.loads((folder / ORDER).read_text(encoding="utf-8"))
        title, begun_s = str(order["title"]), float(order["begun_s"])
        written_s = manifest.stat().st_mtime
    except (OSError, ValueError, KeyError, TypeError):
        return None  # it is being removed, or was damaged
    return TrainedModel(folder=manifest.parent, title=title, begun_s=begun_s, written_s=written_s)
