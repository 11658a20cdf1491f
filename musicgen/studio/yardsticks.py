"""Figures beside which a run's bits a note mean something."""

from __future__ import annotations

import functools
import math

from musicgen.checkpoint import read_manifest, resolve_checkpoint
from musicgen.errors import CheckpointError
from musicgen.studio.orders import PIANO
from musicgen.tokens import get_tokenizer


@functools.cache
def blind_bits() -> float:
    """Return the bits a note of who knows nothing: every value of a note is equally likely."""
    return sum(math.log2(size) for size in get_tokenizer("piano").vocab_sizes)


@functools.cache
def piano_bits() -> float | None:
    """Return what the shipped model reaches on held-out music of its own corpus, or None."""
    try:
        figures = read_manifest(resolve_checkpoint(PIANO)).training.get("figures")
    except CheckpointError:
        return None
    bits = figures.get("bits_per_note") if isinstance(figures, dict) else None
    return float(bits) if isinstance(bits, int | float) else None
