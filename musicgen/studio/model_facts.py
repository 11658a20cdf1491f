"""What a model tells of itself to who would use it: its manifest, and the card that ships with it.

Read from files beside the weights, which stay where they are: nothing is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from musicgen.assets import asset_dir
from musicgen.checkpoint import read_manifest, resolve_checkpoint
from musicgen.files import is_file

_CARD: Final = "README.md"
_CURVE: Final = "curve.png"
_HEADING: Final = re.compile(r"\A# [^\n]*\n+")
_PICTURE: Final = re.compile(r"!\[[^\]]*\]\([^)]*\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """What a model tells of itself.

    Attributes:
        name: What it is called; foreign text.
        licence: Of its weights, or empty.
        steps: Optimizer steps it was trained.
        corpus: Short name of the corpus that it learned from, or empty; foreign text.
        n_pieces: Pieces it was trained on; 0 where nothing is told.
        n_notes: Notes of these.
        bits_per_note: On music that was held out, or None.
        before_bits_per_note: On the same, of the model that it was begun with, or None.
        begun_with: Name of that model, or empty; foreign text.
        card: Its model card in Markdown, of a model that ships with musicgen alone, else empty:
            a card from elsewhere is foreign text. Without its heading and its pictures.
        curve: Its losses as a PNG file that ships with it, or None.
    """

    name: str
    licence: str
    steps: int
    corpus: str
    n_pieces: int
    n_notes: int
    bits_per_note: float | None
    before_bits_per_note: float | None
    begun_with: str
    card: str
    curve: Path | None


def model_facts(model: str | Path) -> ModelFacts:
    """Return what a model tells of itself, by its name or folder.

    Raises:
        CheckpointError: There is none, or its manifest cannot be read.
    """
    folder = resolve_checkpoint(model)
    manifest = read_manifest(folder)
    told = manifest.training
    figures, gain = _mapping(told.get("figures")), _mapping(told.get("gain"))
    bits = (figures.get("bits_per_note"), told.get("validation_bits_per_note"))
    is_shipped = folder.resolve().parent == asset_dir("checkpoints").resolve()
    curve = folder / _CURVE
    return ModelFacts(
        name=manifest.name,
        licence=manifest.licence,
        steps=manifest.step,
        corpus=str(figures.get("folder") or "").partition("/")[0],
        n_pieces=_count(told.get("pieces")),
        n_notes=_count(told.get("notes")),
        bits_per_note=next((found for each in bits if (found := _number(each)) is not None), None),
        before_bits_per_note=_number(gain.get("before_bits_per_note")),
        begun_with=str(told.get("parent_name") or ""),
        card=_card(folder / _CARD) if is_shipped else "",
        curve=curve if is_shipped and is_file(curve) else None,
    )


def _card(path: Path) -> str:
    try:
        return _PICTURE.sub("below.", _HEADING.sub("", path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError):
        return ""  # the facts are told without


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)
