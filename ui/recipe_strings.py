"""Every English sentence about files that come in, their recipes, and settings in the address."""

from __future__ import annotations

from typing import Final

from musicgen.ui.strings import clock

AGAIN: Final = "Make it again"
AGAIN_HELP: Final = (
    "From what stands in the file: the same model, seed and settings, the same bytes"
)
PROMPT: Final = "Make it again: add the file it goes on from"
PROMPT_HELP: Final = "It is known by its SHA-256, so it has to be that very file."
PROMPT_HERE: Final = "It goes on from **{title}**, which is here."
OTHER_PROMPT: Final = "**{title}** is not the file that it goes on from; its bytes are others."
NO_MODEL: Final = (
    "The model that made it is not here (its SHA-256 begins with {sha256}), so it cannot be made "
    "again."
)
NEVER_SAVED: Final = "Its model was never saved, so it cannot be made again."
TOO_LONG: Final = (
    "It is longer than the {longest} s that the studio makes at a time. `musicgen again FILE` "
    "makes it on the command line."
)
SAME: Final = "**{title}** is this file, byte for byte."
DIFFERS: Final = "**{title}** was made from it."

LEFT_OUT: Final = (
    "The address asks for what is not possible here, so this was left out: {settings}."
)

NOT_HERE: Final = "The file is not here any more."
NOT_HERE_HELP: Final = "Choose it again."


def made_by(*, seed: int, model: str) -> str:
    """Say that musicgen made a file.

    Args:
        seed: Of the take.
        model: What its model is called, escaped.
    """
    return f"musicgen made this: seed {seed}, model {model}."


def used(*, seconds: float, of: float) -> str:
    """Say that only a part of a file is used."""
    return f"Of its {clock(of)} the first {clock(seconds)} are used."


def outside_keys(notes: int) -> str:
    """Say that notes of a file lie below or above all keys of a piano."""
    what = "note lies" if notes == 1 else "notes lie"
    return f"{notes:,} {what} outside a piano's keys; the model has hardly met such."


def repaired(count: int) -> str:
    """Say that a file was repaired, in so many places."""
    return f"{count} things in the file were repaired"
