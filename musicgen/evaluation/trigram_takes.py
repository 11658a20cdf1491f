"""Takes of the trigram: music that is locally right and nothing more, to try a judge on.

A judge of music that cannot tell these from real music says nothing about a better model.

Shapes: K attributes, V ids of an attribute, C (context, id) pairs that were counted.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from musicgen.evaluation.trigram import Trigram
from musicgen.midi import NoteTable
from musicgen.tokens import EventClock, Tokenizer

_MOST_EVENTS_A_SECOND = 200


class TrigramSampler:
    """Draws events from a fitted trigram, attribute by attribute."""

    def __init__(self, trigram: Trigram, tokenizer: Tokenizer) -> None:
        """Take a trigram that was fitted on this tokenizer's events."""
        self._tokenizer = tokenizer
        self._sizes = tuple(tokenizer.vocab_sizes)
        self._orders = [
            [_Counts(*trigram.counts(k, order), size) for order in (1, 2, 3)]
            for k, size in enumerate(self._sizes)
        ]

    def take(self, seconds: float, generator: np.random.Generator) -> NoteTable:
        """Draw a take of about this length; ends that come before are passed over."""
        tokenizer = self._tokenizer
        clock = tokenizer.clock()
        events = [tokenizer.start_event]
        most = round(seconds * _MOST_EVENTS_A_SECOND)
        while clock.now_s < seconds and len(events) < most:
            event = self._event(events, clock, generator)
            if event == tokenizer.end_event:
                continue
            events.append(event)
            clock.push(event)
        return tokenizer.decode_events(np.array(events, dtype=np.int64)).notes

    def _event(
        self,
        events: Sequence[tuple[int, ...]],
        clock: EventClock,
        generator: np.random.Generator,
    ) -> tuple[int, ...]:
        n_attributes = len(self._sizes)
        # What stands before the event in the flat order; the first two attributes need no more.
        flat = [part for event in events[-2:] for part in event]
        for k in range(n_attributes):
            event = tuple(flat[len(flat) - k :] if k else ())
            legal = self._tokenizer.legal(k, event)
            lengths_s = clock.lengths_s(event) if k == n_attributes - 1 else None
            if lengths_s is not None and (sounding := legal & ~np.isnan(lengths_s)).any():
                legal = sounding
            flat.append(self._draw(k, flat, legal, generator))
        return tuple(flat[-n_attributes:])

    def _draw(
        self, k: int, flat: Sequence[int], legal: np.ndarray, generator: np.random.Generator
    ) -> int:
        """Draw an id by Witten and Bell: from the longest context, or from the next shorter one."""
        n_attributes = len(self._sizes)
        for order in (3, 2, 1):
            context = 0
            for back in range(order - 1, 0, -1):
                before = flat[-back] if len(flat) >= back else flat[0]
                context = context * self._sizes[(k - back) % n_attributes] + before
            ids, counts = self._orders[k][order - 1].after(context)
            kinds = len(ids)
            total = int(counts.sum())
            allowed = legal[ids] * counts
            if total and allowed.sum() and generator.random() < total / (total + kinds):
                return int(generator.choice(ids, p=allowed / allowed.sum()))
        return int(generator.choice(np.flatnonzero(legal)))


class _Counts:
    """How often each id followed each context: (C,) keys `context · V + id`, ascending."""

    def __init__(self, keys: np.ndarray, counts: np.ndarray, size: int) -> None:
        self._keys, self._counts, self._size = keys, counts, size

    def after(self, context: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the ids that followed a context, and how often."""
        bounds = np.array([context, context + 1]) * self._size
        low, high = np.searchsorted(self._keys, bounds)
        return self._keys[low:high] - context * self._size, self._counts[low:high]
