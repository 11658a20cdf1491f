"""The same music in another key, tempo or touch, told in the piano scheme's events.

Arrays: T events, K = 4 attributes.
"""

from __future__ import annotations

import numpy as np

from musicgen.tokens.base import Variation
from musicgen.tokens.piano_vocabulary import (
    FIRST_GAP,
    FIRST_LENGTH,
    FIRST_PITCH,
    FIRST_SHARED,
    FIRST_VELOCITY,
    LENGTHS,
    MAX_GAP_STEPS,
    VOCAB_SIZES,
    length_ids,
)

LOWEST_KEY, HIGHEST_KEY = 21, 108
"""Of a piano; music that goes beyond is moved no further out."""


def vary(ids: np.ndarray, variation: Variation) -> np.ndarray:
    """Return events (T, 4) of the same music, varied; see `Tokenizer.vary`."""
    varied = ids.copy()
    gap, pitch, velocity, length = varied.T
    if variation.stretch != 1.0:
        gap[:] = _stretched_gaps(gap, variation.stretch)
        # What is released with another note stays so: that is told by the note, not by time. Rarely
        # that note has ended before, since lengths are rounded; then the event says nothing.
        timed = (length >= FIRST_LENGTH) & (length < FIRST_SHARED)
        steps = LENGTHS[length[timed] - FIRST_LENGTH] * variation.stretch
        length[timed] = length_ids(np.rint(steps).astype(np.int64))
    is_note = pitch >= FIRST_PITCH
    if variation.semitones and is_note.any():
        keys = pitch[is_note] - FIRST_PITCH
        lowest, highest = min(LOWEST_KEY, keys.min()), max(HIGHEST_KEY, keys.max())
        semitones = np.clip(variation.semitones, lowest - keys.min(), highest - keys.max())
        pitch[is_note] += semitones
    if variation.velocity_bins:
        louder = velocity[is_note] + variation.velocity_bins
        velocity[is_note] = np.clip(louder, FIRST_VELOCITY, VOCAB_SIZES[2] - 1)
    return varied


def _stretched_gaps(gap: np.ndarray, stretch: float) -> np.ndarray:
    """Stretch gap ids (T,): rounded from the first onset on, so that no error adds up.

    Onsets that differ stay different, or the order of notes would not be that of an encoded piece.
    """
    timed = gap >= FIRST_GAP
    steps = np.where(timed, gap - FIRST_GAP, 0)
    onsets = np.rint(np.cumsum(steps) * stretch).astype(np.int64)
    stretched = np.maximum(np.diff(onsets, prepend=0), steps > 0)
    return np.where(timed, FIRST_GAP + np.minimum(stretched, MAX_GAP_STEPS), gap)
