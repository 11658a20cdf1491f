"""How much the end of some music sounds like one: whether what rings last is the key's own chord.

A model is little of a judge of that: it thinks an end about as probable on any chord. Real pieces
do not end on any; how their ends differ from all other places in them is what counts here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from musicgen.corpus.keys import key_correlations, sounding_seconds, tonic_of
from musicgen.midi import NoteTable
from musicgen.tokens import PlayedEvent

KEY_FROM_S = 20.0
"""The key is told from so much of the music before its end."""

RINGS_S = 0.5
"""What sounds within so long before the end of all sound rings to the end."""

ODDS = (0.15, 0.79, 7.5)
"""By signs of a close: how much more often real music has them at its end than anywhere.

Of 400 pieces of maestro/train 10, 19 and 71% end with none, one and both; of places drawn evenly
from the same pieces 67, 24 and 9% have them (`docs/lab_log.md`)."""

_MAJOR, _MINOR = (0, 4, 7), (0, 3, 7)


def closure(played: Sequence[PlayedEvent]) -> int:
    """Return how many signs of a close music has where it would end, 0 to 2.

    One is the key's tonic as the lowest of what rings to the end, the other that nothing but notes
    of the tonic triad does. The key is the one of 24 whose profile fits best.

    Args:
        played: The music up to there, in its order; without a note there is no close.
    """
    notes = _notes(played)
    if not len(notes):
        return 0
    end_s = float(notes.end_s.max())
    edges_s = np.array([end_s - KEY_FROM_S, end_s])
    key = int(key_correlations(sounding_seconds(notes, edges_s)[0]).argmax())
    last = notes.pitch[notes.end_s > end_s - RINGS_S]
    triad = [(tonic_of(key) + step) % 12 for step in (_MAJOR if key < 12 else _MINOR)]
    has_tonic_below = int(last.min()) % 12 == tonic_of(key)
    return int(has_tonic_below) + int(np.isin(last % 12, triad).all())


def _notes(played: Sequence[PlayedEvent]) -> NoteTable:
    """Return the notes; a key that is struck again ends its earlier note."""
    told = [(each.pitch, each.onset_s, each.end_s) for each in played if each.pitch is not None]
    pitch, onset_s, end_s = np.array(told, dtype=np.float64).reshape(-1, 3).T
    order = np.argsort(pitch, kind="stable")  # each key's strokes one after another
    earlier, later = order[:-1], order[1:]
    again_s = np.where(pitch[earlier] == pitch[later], onset_s[later], np.inf)
    end_s[earlier] = np.minimum(end_s[earlier], again_s)
    return NoteTable.of(onset_s, end_s, pitch.astype(np.int64), np.ones(len(pitch), np.int64))
