"""Music as events for a model, and back: see docs/tokens.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musicgen.tokens.base import DecodedEvents, EventClock, PlayedEvent, Tokenizer, Variation
from musicgen.tokens.piano import PianoTokenizer
from musicgen.tokens.registry import FLAT_SCHEMES, SCHEMES, get_tokenizer, tokenizer_from_json

if TYPE_CHECKING:
    from musicgen.tokens.flat import FlatTokenizer, train_flat_tokenizer

__all__ = [
    "FLAT_SCHEMES",
    "SCHEMES",
    "DecodedEvents",
    "EventClock",
    "FlatTokenizer",
    "PianoTokenizer",
    "PlayedEvent",
    "Tokenizer",
    "Variation",
    "get_tokenizer",
    "tokenizer_from_json",
    "train_flat_tokenizer",
]


def __getattr__(name: str) -> object:
    # The flat schemes import miditok, and that imports torch: two seconds for those who ask.
    if name in ("FlatTokenizer", "train_flat_tokenizer"):
        from musicgen.tokens import flat

        return getattr(flat, name)
    raise AttributeError(f"module 'musicgen.tokens' has no attribute {name!r}")
