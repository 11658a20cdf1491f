"""Which pieces are trained on, and which are held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from musicgen.corpus.scan import ScannedPiece

TRAIN_FOLDERS = ("train", "training")
HELD_FOLDERS = ("validation", "valid", "val", "dev")
IGNORED_FOLDERS = ("test", "testing")
HELD_SHARE = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """The outcome.

    Attributes:
        held_out: Paths of the validation pieces.
        ignored: Paths that belong to neither side (a corpus's own test split).
        within: Whether the only piece is split within itself.
        rule: A sentence on how it was done.
    """

    held_out: frozenset[str]
    ignored: frozenset[str] = frozenset()
    within: bool = False
    rule: str


def split_pieces(pieces: Sequence[ScannedPiece]) -> Split:
    """Tell training from validation pieces.

    Folders named train and validation decide where there are any. Else the content decides: a
    piece is held out if the first digits of its digest fall into the last tenth, so that the
    same music lands on the same side whatever else lies in the folder. A small folder always
    holds out one piece, and a single piece is split within itself.
    """
    by_folder = {piece.path: _folder_side(piece.path) for piece in pieces}
    if {"train", "validation"} <= set(by_folder.values()):
        held = frozenset(path for path, side in by_folder.items() if side == "validation")
        ignored = frozenset(path for path, side in by_folder.items() if side == "test")
        rule = "The split is the folder's own (train and validation)."
        return Split(held_out=held, ignored=ignored, rule=rule)
    if len(pieces) == 1:
        rule = "There is one piece, so its last tenth is held out."
        return Split(held_out=frozenset(), within=True, rule=rule)
    ranked = sorted(pieces, key=lambda piece: piece.digest, reverse=True)
    held = [piece.path for piece in ranked if _position(piece) >= 1 - HELD_SHARE]
    held = held or [ranked[0].path]
    if len(held) == len(pieces):
        held.pop()
    rule = "The split is by the music's own fingerprint, about one piece in ten held out."
    return Split(held_out=frozenset(held), rule=rule)


def _position(piece: ScannedPiece) -> float:
    return int(piece.digest[:12], 16) / 16**12


def _folder_side(path: str) -> str:
    for folder in PurePosixPath(path).parts[:-1]:
        name = folder.lower()
        if name in TRAIN_FOLDERS:
            return "train"
        if name in HELD_FOLDERS:
            return "validation"
        if name in IGNORED_FOLDERS:
            return "test"
    return ""
