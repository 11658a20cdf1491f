"""Music as it is written: beats, a tempo map, a meter, a key and pedal, made into a score.

Shapes: N notes, P pedal presses, C tempo changes. A quarter note is the unit of time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from symusic.core import (
    ControlChangeTick,
    KeySignatureTick,
    NoteTickList,
    TempoTick,
    TimeSignatureTick,
    TrackTick,
)
from symusic.core import ScoreTick as Score

from musicgen.midi.notes import SUSTAIN

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sheet:
    """One piano piece in written time.

    Attributes:
        name: The track's name.
        notes: Onset and length in quarters, pitch, velocity; float (N, 4).
        pedals: Where the sustain pedal goes down and comes up, in quarters; float (P, 2).
        tempos: Quarter and quarters a minute from there on, ascending from 0; float (C, 2).
        meter: Beats a bar and the note that is one beat.
        sharps: The key signature's sharps, or flats as negative numbers, -7 to 7.
        minor: Whether the key is a minor one.
    """

    name: str
    notes: ArrayLike
    pedals: ArrayLike = ()
    tempos: ArrayLike = ((0.0, 120.0),)
    meter: tuple[int, int] = (4, 4)
    sharps: int = 0
    minor: bool = False


def sheet_to_score(sheet: Sheet, *, ticks_per_quarter: int = 480) -> Score:
    """Return the score of a sheet: one track; each note lasts at least one tick.

    Raises:
        ValueError: A note lies before 0.
    """
    notes = np.asarray(sheet.notes, dtype=np.float64).reshape(-1, 4)
    start = np.rint(notes[:, 0] * ticks_per_quarter).astype(np.int32)
    end = np.rint((notes[:, 0] + notes[:, 1]) * ticks_per_quarter).astype(np.int32)
    if (start < 0).any():
        raise ValueError("a note of the sheet begins before 0")
    length = np.maximum(end - start, 1)
    # Struck at once, the shorter first: so a file gives them back (see notes_to_score).
    order = np.lexsort((length, notes[:, 2], start))
    score = Score(ticks_per_quarter)
    track = TrackTick(sheet.name, 0, False)
    track.notes = NoteTickList.from_numpy(
        start[order], length[order], *(notes[order, column].astype(np.int8) for column in (2, 3))
    )
    for down, up in np.asarray(sheet.pedals, dtype=np.float64).reshape(-1, 2):
        track.controls.append(ControlChangeTick(round(down * ticks_per_quarter), SUSTAIN, 127))
        track.controls.append(ControlChangeTick(round(up * ticks_per_quarter), SUSTAIN, 0))
    score.tracks.append(track)
    for quarter, qpm in np.asarray(sheet.tempos, dtype=np.float64).reshape(-1, 2):
        score.tempos.append(TempoTick(round(quarter * ticks_per_quarter), mspq=round(60e6 / qpm)))
    score.time_signatures.append(TimeSignatureTick(0, *sheet.meter))
    score.key_signatures.append(KeySignatureTick(0, sheet.sharps, int(sheet.minor)))
    return score
