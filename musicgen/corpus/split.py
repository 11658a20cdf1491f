"""Which pieces are trained on, and which are held out: whole groups of one music at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from musicgen.corpus.music import Music

TRAIN_FOLDERS = ("train", "training")
HELD_FOLDERS = ("validation", "valid", "val", "dev")
IGNORED_FOLDERS = ("test", "testing")
HELD_SHARE = 0.1
_MOST_HELD = 3  # one group in so many, should chance put more of a few into the last tenth

_OWN = "The split is the folder's own (train and validation)."
_ONE_PIECE = "There is one piece, so its last tenth is held out."
_ONE_GROUP = "All pieces hold the same music, so the last tenth of each is held out."
_BY_MUSIC = (
    "What is held out, to try the model on music that it did not learn from, is decided by the "
    "music itself: on average one piece in ten, of a small folder more or fewer. It stays held "
    "out, whatever music you add."
)
_OF_FEW = "Of so few pieces {held} held out, to try the model on music that it did not learn from."


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """The outcome, in the order of the pieces.

    Attributes:
        sides: "train", "validation", "test" (a corpus's own, that belongs to neither) or, where
            each piece is split within itself, "within".
        rule: A sentence on how it was done.
    """

    sides: tuple[str, ...]
    rule: str


def folder_sides(paths: Sequence[str]) -> tuple[str, ...] | None:
    """Return the split that the folder's own layout gives each piece, or None.

    Folders named train and validation decide where there are both; what lies in neither of them
    nor in a folder named test is trained on.
    """
    sides = [_folder_side(path) for path in paths]
    if not {"train", "validation"} <= set(sides):
        return None
    return tuple(side or "train" for side in sides)


def split_by_music(music: Sequence[Music], groups: Sequence[str]) -> Split:
    """Tell training from validation pieces by what they hold.

    A group is held out if the hash of its smallest shingle falls into the last tenth. Twins have
    that shingle in common, so it hardly matters which of them are there: music lands on the same
    side whatever else lies in the folder. A small folder always holds out one group, and never
    more than a third of them; a single one is split within itself.

    Args:
        music: The pieces.
        groups: The name of each one's group.
    """
    smallest: dict[str, int] = {}
    for piece, group in zip(music, groups, strict=True):
        known = [smallest[group]] if group in smallest else []
        smallest[group] = min([*known, _mark(piece)])
    if len(smallest) == 1:
        rule = _ONE_PIECE if len(music) == 1 else _ONE_GROUP
        return Split(sides=("within",) * len(music), rule=rule)
    ranked = sorted(smallest, key=lambda group: (_position(smallest[group]), group), reverse=True)
    by_chance = sum(_position(mark) >= 1 - HELD_SHARE for mark in smallest.values())
    n_held = max(1, min(by_chance, len(ranked) // _MOST_HELD))
    held = set(ranked[:n_held])
    sides = tuple("validation" if group in held else "train" for group in groups)
    if n_held == by_chance:
        return Split(sides=sides, rule=_BY_MUSIC)
    told = "one is" if n_held == 1 else f"{n_held} are"
    return Split(sides=sides, rule=_OF_FEW.format(held=told))


def split_by_folders(sides: Sequence[str]) -> Split:
    """Take the folder's own split."""
    return Split(sides=tuple(sides), rule=_OWN)


def _mark(piece: Music) -> int:
    """Return the smallest shingle, or for music without any (scales, one chord) of its digest."""
    sample = (piece.written or piece.played).sample
    return int(sample[0]) if len(sample) else int(piece.digest[:8], 16)


def _position(mark: int) -> float:
    digest = hashlib.sha256(str(mark).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


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
