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
_FAR = 2**33  # a tick beyond any that a file holds


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
    concerned = np.isin(pairing.keys, np.unique(pairing.keys[pairing.unended]))
    concerned = np.flatnonzero(concerned & (events.starts() | events.stops()))
    order = concerned[np.argsort(pairing.keys[concerned], kind="stable")]
    key, up = pairing.keys[order], events.starts()[order]
    # A start is open unless the next event of its key is an end.
    same_key = np.append(key[1:] == key[:-1], False)
    open_ = up & ~(same_key & np.append(~up[1:], False))
    following = np.append(order[1:], order[-1:])
    track_end = events.end_ticks[events.track[order]]
    track_end = np.where(track_end > events.tick[order], track_end, _FAR)
    latest = np.where(same_key, events.tick[following], track_end)[open_]

    at = order[open_]
    silence = _silence(events, at)
    heard = np.where(silence < _FAR, silence, events.tick[at] + events.division)
    stop = np.minimum(heard, latest)
    lasts = stop > events.tick[at]  # struck again in the same instant, a note has no length
    keep = np.ones(len(events), dtype=bool)
    keep[at[~lasts]] = False
    at, stop = at[lasts], stop[lasts]
    by_time = np.lexsort((stop, events.track[at]))
    rows = [
        Row(track=track, tick=tick, status=0x80 | status & 0x0F, data1=pitch, data2=64)
        for track, tick, status, pitch in zip(
            *(column[by_time].tolist() for column in (events.track[at], stop)),
            *(column[at][by_time].tolist() for column in (events.status, events.data1)),
            strict=True,
        )
    ]
    repairs.warn("unended-notes", f"{len(at)} notes that nothing ends were given an end.")
    return events.select(keep).insert(rows)


def _silence(events: Events, at: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the tick at which a controller next silences each event's channel, or a far one."""
    silencers = np.flatnonzero(events.is_message(0xB) & np.isin(events.data1, _SILENCERS))
    if not len(silencers):
        return np.full(len(at), _FAR)
    place = (events.track.astype(np.int64) * 16 + (events.status & 0x0F)) * _FAR
    moments = np.sort(place[silencers] + events.tick[silencers])
    found = np.searchsorted(moments, place[at] + events.tick[at], side="right")
    moment = moments[np.minimum(found, len(moments) - 1)] - place[at]
    return np.where((found < len(moments)) & (moment >= 0) & (moment < _FAR), moment, _FAR)
