"""Every English sentence about a model: its card, its licence, what it was trained on."""

from __future__ import annotations

from typing import Final

from musicgen.ui.strings import note_count

ABOUT: Final = "About this model"
CARD: Final = "The whole model card"
CURVE: Final = "Its losses, step by step"
LICENCES: Final = {
    "CC-BY-NC-SA-4.0": "CC BY-NC-SA 4.0: not for commercial use; with its source named; what is "
    "made of it under the same licence",
}
"""Of weights, in words; another is called by its own name."""
CORPORA: Final = {"maestro": "MAESTRO v2.0.0, piano competitions as they were played"}
"""What music is called that models are published on; another is called by its own name."""
NO_LICENCE: Final = (
    "none is stated: what may be done with it follows from the music it was trained on"
)
MORE_MUSIC: Final = " What the music it was trained on here allows comes on top of that."
SHIPPED: Final = "It ships with musicgen."
HERE: Final = "It was trained here."
ELSEWHERE: Final = "It was given to the studio when that was started."
BITS: Final = (
    "**Bits a note:** {bits:.2f} on music that was kept from it: how much the next note of such "
    "music surprises it, and the fewer the better."
)
BEFORE: Final = " The model that it was begun with, untouched: {before:.2f}."
NO_BITS: Final = "**Bits a note:** not measured: no music was kept from it."


def licence(name: str, *, is_inherited: bool) -> str:
    """Say under which licence a model's weights are.

    Args:
        name: The licence's, escaped; or empty.
        is_inherited: Whether it is that of the model that this one was begun with.
    """
    told = f"**Licence of the weights:** {LICENCES.get(name, name) or NO_LICENCE}."
    return told + (MORE_MUSIC if name and is_inherited else "")


def trained_on(*, title: str, pieces: int, notes: int) -> str:
    """Say what a model was trained on.

    Args:
        title: What its music is called, escaped; or empty.
        pieces: How many there are.
        notes: In all of them.
    """
    count = f"{pieces:,} piece" + ("" if pieces == 1 else "s") + f", {note_count(notes)}"
    return f"**Trained on:** {title}: {count}." if title else f"**Trained on:** {count}."


def training(*, steps: int, begun_with: str) -> str:
    """Say how long a model was trained, and from what on.

    Args:
        steps: Of the optimizer.
        begun_with: The model that it went on from, escaped; or empty.
    """
    origin = f"begun with the model {begun_with}" if begun_with else "begun with random weights"
    return f"**Training:** {steps:,} steps, {origin}."
