"""Which events of a file make the notes of some of its tracks.

Shapes: E events, N notes.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from musicgen.midi.pairing import pair_notes

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from symusic.core import ScoreTick as Score

    from musicgen.midi.events import Events

_DRUM_CHANNEL = 9


def muted_events(score: Score, events: Events, tracks: Collection[int]) -> NDArray[np.bool_]:
    """Return the events that start and end the notes of some tracks, bool (E,).

    A score's tracks are not those of its file, so notes are told by onset, key and velocity; where
    several tracks strike the same at once, by their instrument.

    Args:
        score: The file's score.
        events: The file's events, of the same ticks.
        tracks: Numbers among the score's tracks that have notes, in their order.
    """
    pairing = pair_notes(events)
    program = _program_of(events, pairing.start)
    is_drum = events.channel[pairing.start] == _DRUM_CHANNEL
    rows: dict[tuple[int, int, int], list[int]] = {}
    columns = (events.tick, events.data1, events.data2)
    for row, key in enumerate(
        zip(*(column[pairing.start].tolist() for column in columns), strict=True)
    ):
        rows.setdefault(key, []).append(row)

    muted = np.zeros(len(events), dtype=bool)
    used = [track for track in score.tracks if len(track.notes)]
    for number in sorted(set(tracks) & set(range(len(used)))):
        track = used[number]
        notes = track.notes.numpy()
        for key in zip(
            *(notes[name].tolist() for name in ("time", "pitch", "velocity")), strict=True
        ):
            candidates = rows.get(key)
            if not candidates:
                continue
            mine = (
                row
                for row in candidates
                if is_drum[row] == track.is_drum
                and (track.is_drum or program[row] == track.program)
            )
            row = next(mine, candidates[0])
            candidates.remove(row)
            muted[[pairing.start[row], pairing.stop[row]]] = True
    return muted


def _program_of(events: Events, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the program under which each of the events `starts` (N,) sounds, (N,)."""
    program = np.zeros(len(starts), dtype=np.int64)
    changes = np.flatnonzero(events.is_message(0xC))
    channel = events.channel
    for each in np.unique(channel[changes]).tolist():
        at = changes[channel[changes] == each]
        at = at[np.argsort(events.tick[at], kind="stable")]
        mine = np.flatnonzero(channel[starts] == each)
        last = np.searchsorted(events.tick[at], events.tick[starts[mine]], side="right") - 1
        program[mine] = np.where(last >= 0, events.data1[at][np.maximum(last, 0)], 0)
    return program
