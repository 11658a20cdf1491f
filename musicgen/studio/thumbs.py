"""A take's notes as a picture of a few hundred bytes, made once.

Shapes: N notes.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import numpy as np

from musicgen.studio.take_sheets import THUMB_HEIGHT, THUMB_WIDTH

if TYPE_CHECKING:
    from musicgen.pipeline import Preview

_LEAST_PITCHES = 24  # a piece of few notes is not drawn as a wall


def thumb(seen: Preview) -> str:
    """Return a piano roll of bits: rows from the top, the highest bit of a byte first, in base64.

    Args:
        seen: The piece.
    """
    notes, end_s = seen.notes, max(seen.end_s, 0.1)
    bits = np.zeros((THUMB_HEIGHT, THUMB_WIDTH), dtype=bool)
    if len(notes):
        low, high = int(notes.pitch.min()), int(notes.pitch.max())
        spare = max(0, _LEAST_PITCHES - (high - low)) / 2
        span = high - low + 2 * spare
        rows = np.round((high + spare - notes.pitch) / span * (THUMB_HEIGHT - 1)).astype(int)
        first = np.clip(notes.onset_s / end_s * THUMB_WIDTH, 0, THUMB_WIDTH - 1).astype(int)
        last = np.clip(notes.end_s / end_s * THUMB_WIDTH, 0, THUMB_WIDTH).astype(int)
        for row, begin, end in zip(rows.tolist(), first.tolist(), last.tolist(), strict=True):
            bits[row, begin : max(end, begin + 1)] = True
    return base64.b64encode(np.packbits(bits).tobytes()).decode()
