"""The vocabulary of a flat scheme: which of miditok's tokens each id stands for.

With byte-pair encoding an id stands for several tokens in a row. Reading them needs no miditok.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from musicgen.errors import TokenizerError

#: Positions a beat, at 120 beats a minute: one step of the grid each.
STEPS_PER_BEAT = 50
STEPS_PER_BAR = 4 * STEPS_PER_BEAT
SPECIAL_TOKENS = ("PAD_None", "BOS_None", "EOS_None")

_WORDS = {
    "Bar": "next bar",
    "Position": "position {} of the bar",
    "TimeShift": "{} steps later",
    "Pitch": "key {}",
    "NoteOn": "key {} down",
    "NoteOff": "key {} up",
    "Velocity": "velocity {}",
    "Duration": "for {} steps",
}


@dataclass(frozen=True, slots=True)
class Symbol:
    """One of miditok's tokens: its type, and its value as a number (time in steps)."""

    kind: str
    value: int

    def __str__(self) -> str:
        return _WORDS[self.kind].format(self.value)


Expansion = tuple[Symbol, ...]


def read_vocabulary(tokens_of_id: Any) -> tuple[Expansion, ...]:
    """Read the tokens of each id; those of the special ids 0, 1 and 2 are empty.

    Raises:
        TokenizerError: Not a list of lists of tokens that the flat schemes know.
    """
    if not isinstance(tokens_of_id, list):
        raise _damaged(tokens_of_id)
    for tokens in tokens_of_id:
        if not isinstance(tokens, list):
            raise _damaged(tokens)
    special, others = tokens_of_id[:3], tokens_of_id[3:]
    if special != [[token] for token in SPECIAL_TOKENS]:
        raise _damaged(special)
    return ((),) * 3 + tuple(tuple(_symbol(token) for token in tokens) for tokens in others)


def _symbol(token: Any) -> Symbol:
    kind, _, text = str(token).partition("_")
    if kind not in _WORDS:
        raise _damaged(token)
    if kind == "Bar":
        return Symbol(kind, 1)
    try:
        numbers = [int(number) for number in text.split(".")]
    except ValueError as error:
        raise _damaged(token) from error
    if kind not in ("TimeShift", "Duration"):
        return Symbol(kind, numbers[0])
    if len(numbers) != 3 or numbers[2] < 1:
        raise _damaged(token)
    beats, positions, resolution = numbers
    return Symbol(kind, (beats * resolution + positions) * STEPS_PER_BEAT // resolution)


def _damaged(value: object) -> TokenizerError:
    return TokenizerError(
        f"The flat tokenizer's vocabulary holds {value!r}, which is no token of its scheme.",
        hint="The checkpoint's tokenizer.json is damaged or hand-made: copy the checkpoint again.",
    )
