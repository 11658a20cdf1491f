"""What the ids of an event mean, asked of the tokenizer's own clock.

Rules about time and keys need to know which ids lie after the cut, or which are a key already
down. A tokenizer is asked by playing each id once; nothing here knows how it counts.

Shapes: V the vocabulary of one attribute.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from musicgen.tokens import PlayedEvent, Tokenizer

Event = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EventValues:
    """The ids of a tokenizer whose events have a gap, a pitch and a length.

    Attributes:
        gap: Index of the attribute that moves the clock; it is the first.
        pitch: Index of the attribute that names the key.
        length: Index of the attribute that says how long it sounds.
        gap_s: (V,) seconds that each gap moves the clock; NaN where it is no time.
        key: (V,) the key, 0 to 127, of each pitch; -1 where it is none.
        longest_rest: The silent event that moves the clock furthest.
    """

    gap: int
    pitch: int
    length: int
    gap_s: np.ndarray
    key: np.ndarray
    longest_rest: Event


@lru_cache(maxsize=8)
def event_values(tokenizer: Tokenizer) -> EventValues | None:
    """Return the values of a tokenizer's ids, or None where an event is no note."""
    names = tokenizer.attribute_names
    if names[0] != "gap" or not {"pitch", "length"} <= set(names):
        return None
    pitch, length = names.index("pitch"), names.index("length")
    gap_s = np.full(tokenizer.vocab_sizes[0], np.nan)
    key = np.full(tokenizer.vocab_sizes[pitch], -1)
    for event in _one_of_each(tokenizer, 0):
        gap_s[event[0]] = _play(tokenizer, event).onset_s
    widest = (int(np.nanargmax(gap_s)),)
    rests = []
    for event in _one_of_each(tokenizer, pitch, widest):
        played = _play(tokenizer, event)
        if played.pitch is None:
            rests.append(event)
        else:
            key[event[pitch]] = played.pitch
    return EventValues(
        gap=0,
        pitch=pitch,
        length=length,
        gap_s=gap_s,
        key=key,
        longest_rest=rests[0],
    )


def _one_of_each(tokenizer: Tokenizer, k: int, begin: Event = ()) -> list[Event]:
    """Return a whole event for every id that attribute `k` may take, END left out."""
    begin = _completed(tokenizer, begin, k)
    ids = np.flatnonzero(tokenizer.legal(k, begin))
    ids = ids[ids != tokenizer.end_event[k]]
    return [_completed(tokenizer, (*begin, int(i)), tokenizer.n_attributes) for i in ids]


def _completed(tokenizer: Tokenizer, event: Event, n_attributes: int) -> Event:
    """Fill up an event with the last id that is legal: a note rather than a rest."""
    while len(event) < n_attributes:
        event = (*event, int(np.flatnonzero(tokenizer.legal(len(event), event))[-1]))
    return event


def _play(tokenizer: Tokenizer, event: Event) -> PlayedEvent:
    return tokenizer.clock().push(event)
