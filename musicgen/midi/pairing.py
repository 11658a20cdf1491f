"""Which event ends which note, and what happens to notes that nothing ends.

Shapes: E events, N notes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from musicgen.midi.events import Events, Row

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from musicgen.midi.decode import Repairs

_SILENCERS = (120, 123, 124, 125, 126, 127)  # controllers that end all notes of their channel


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """Notes by the events that make them.

    Attributes:
        start: Index of each note's start, int64 (N,).
        stop: Index of its end, int64 (N,).
        unended: Indices of starts that no event ends.
        keys: Each event's track, channel and pitch as one number, int32 (E,).
    """

    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    unended: NDArray[np.int64]
    keys: NDArray[np.int32]


def pair_notes(events: Events) -> Pairing:
    """Pair starts and ends of each key of each channel of each track: first started, first ended.

    An end without a start counts for nothing. All keys are done at once, in O(E log E), so that
    thousands of nested starts cost no more than a melody.
    """
    keys = (events.track * 16 + (events.status & 0x0F)) * 128 + events.data1
    # Sixteen bits, where they suffice, are sorted without comparisons.
    sortable = keys.astype(np.uint16) if len(events.end_ticks) <= 32 else keys
    is_start = events.starts()
    note_events = np.flatnonzero(is_start | events.stops())
    order = note_events[np.argsort(sortable[note_events], kind="stable")]
    if not len(order):
        return Pairing(start=order, stop=order, unended=order, keys=keys)
    key, up = keys[order], is_start[order]
    first = np.concatenate(([True], key[1:] != key[:-1]))
    group = np.cumsum(first) - 1

    # The number of open notes is a walk that cannot go below 0: an end has a note to end unless it
    # takes the walk to a new low. Each group's walk begins so far below the last one's that one
    # running minimum serves them all.
    step = np.where(up, 1, -1)
    total = np.cumsum(step)
    ground = -group * (len(order) + 1)
    walk = total - (total - step)[first][group] + ground
    lowest = np.minimum.accumulate(np.minimum(walk, ground))
    before = np.where(first, ground, np.concatenate(([0], lowest[:-1])))
    ends_one = ~up & (lowest == before)

    starts = np.flatnonzero(up)
    of_group = group[starts]
    rank = np.arange(len(starts)) - np.searchsorted(of_group, of_group)
    paired = rank < np.bincount(group[ends_one], minlength=group[-1] + 1)[of_group]
    return Pairing(
        start=order[starts[paired]],
        stop=order[ends_one],
        unended=np.sort(order[starts[~paired]]),
        keys=keys,
    )


def end_open_notes(events: Events, pairing: Pairing, repairs: Repairs) -> Events:
    """Give each note that nothing ends an end of its own.

    That is: a controller that silences its channel, or the next start of the same key, and
    otherwise a quarter note later, but not past the track's end.
    """
    silence = _silences(events)
    affected = np.isin(pairing.keys, np.unique(pairing.keys[pairing.unended]))
    affected &= events.starts() | events.stops()
    is_start = events.starts()
    open_: dict[int, int] = {}  # key → index of its sounding start
    rows: list[Row] = []
    keep = np.ones(len(events), dtype=bool)

    def close(index: int, latest: int) -> None:
        """End the note that starts at `index`, by `latest`; a note left without length goes."""
        tick = int(events.tick[index])
        channel = int(events.status[index]) & 0x0F
        silences = silence.get((int(events.track[index]), channel), _NOTHING)
        after = silences[np.searchsorted(silences, tick, side="right") :][:1]
        stop = min(tick + events.division, latest, *after.tolist())
        if stop > tick:
            row = Row(
                track=int(events.track[index]),
                tick=stop,
                status=0x80 | channel,
                data1=int(events.data1[index]),
                data2=64,
            )
            rows.append(row)
        else:
            keep[index] = False

    for index in np.flatnonzero(affected).tolist():
        key = int(pairing.keys[index])
        sounding = open_.pop(key, None)
        if is_start[index]:
            if sounding is not None:
                close(sounding, int(events.tick[index]))
            open_[key] = index
    for index in open_.values():
        end = int(events.end_ticks[events.track[index]])
        close(index, end if end > events.tick[index] else int(events.tick[index]) + events.division)
    repairs.warn(
        "unended-notes", f"{len(pairing.unended)} notes that nothing ends were given an end."
    )
    rows.sort(key=lambda row: (row.track, row.tick))
    return events.select(keep).insert(rows)


_NOTHING = np.zeros(0, dtype=np.int64)


def _silences(events: Events) -> dict[tuple[int, int], NDArray[np.int64]]:
    """Return the ticks at which all notes of a track's channel are ended by a controller."""
    at = np.flatnonzero(events.is_message(0xB) & np.isin(events.data1, _SILENCERS))
    place = events.track[at] * 16 + (events.status[at] & 0x0F)
    return {(int(p) // 16, int(p) % 16): events.tick[at[place == p]] for p in np.unique(place)}
