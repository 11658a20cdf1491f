"""An ending chosen among several.

A piece that stops where its time is up mostly stops in the middle of something. So the last part
is made several times, and after every event from which the wanted length is met the model is asked
how probable an end would be there; by how much more often real music ends like that than not, that
is multiplied (`closure`). Where the product is largest, the piece ends. The model is not changed
and no note is: only which of its own endings is kept.

The parts are drawn one after another from the take's own generator, so a seed still tells the take.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Protocol

import numpy as np

from musicgen.generation.closure import ODDS, closure
from musicgen.generation.events import EventMade, Finished, SteppedBack
from musicgen.generation.length import RELEASE_S, LengthPlan
from musicgen.tokens import PlayedEvent

N_ENDINGS = 6
"""How many last parts are made; what more are worth stands in the lab log."""

TAIL_S, TAIL_SHARE = 6.0, 0.2
"""How long that part is: so many seconds, but no more than this share of the wanted length."""

MOST_EVENTS = 500  # for all last parts: bounds the time where the music is dense
ANOTHER = "another-ending"  # why the stream steps back: nothing is wrong


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A place in a take, and what it had counted when it came there.

    Attributes:
        n_made: How many new events there were.
        notices: What had been noticed, as (why, how often).
        steps_back_left: How often it might still step back.
        hot_until: The event up to which draws are warmer.
    """

    n_made: int
    notices: tuple[tuple[str, int], ...]
    steps_back_left: int
    hot_until: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """Where a piece may end.

    Attributes:
        mark: The place.
        chance: How probable the model thinks an end there.
        own_end: The end event, where the model did end there.
        worth: The chance, times the odds that music which closes like this ends there; 0 until
            that was looked at.
        tail: The events of the last part up to the place; empty until they are asked for.
    """

    mark: Mark
    chance: float
    own_end: EventMade | None
    worth: float = 0.0
    tail: tuple[EventMade, ...] = ()


class TakeInMaking(Protocol):
    """What the search asks of a take that is being made."""

    @property
    def end_chance(self) -> float | None:
        """The probability of an end at the last draw; None where the length was not met."""
        ...

    @property
    def rings_s(self) -> float:
        """How long the music sounds beyond its last onset."""
        ...

    @property
    def reason(self) -> str:
        """Why it is over, or nothing."""
        ...

    def mark(self) -> Mark:
        """Return the present place."""
        ...

    def played(self, n_made: int) -> Sequence[PlayedEvent]:
        """Return the first new events."""
        ...

    def step(self) -> EventMade | SteppedBack | None:
        """Make one event, or withdraw some; None when there is no more."""
        ...

    def go_back(self, mark: Mark) -> None:
        """Withdraw what came after a place, to go on differently."""
        ...


def tail_from_s(plan: LengthPlan) -> float:
    """Return from which onset on, in seconds, music belongs to the last part."""
    return plan.target_s - min(TAIL_S, TAIL_SHARE * plan.wanted_s)


def end_chance(logits: np.ndarray, legal: np.ndarray, end_id: int) -> float:
    """Return how probable the model thinks an end, against all else that an event may begin with.

    Args:
        logits: (V,) scores of the first attribute.
        legal: (V,) bool, the ids that it may take at all, whatever the rules of the moment.
        end_id: The id that ends a piece.
    """
    scores = logits.astype(np.float64) - logits[legal].max()
    return float(np.exp(scores[end_id]) / np.exp(scores[legal]).sum())


def make_with_chosen_ending(
    take: TakeInMaking, plan: LengthPlan, *, n_endings: int
) -> Iterator[EventMade | SteppedBack | Finished]:
    """Make a take to its end, its last part several times, and keep the best ending.

    Every event is yielded as it is made, so whoever stops listening has a whole take. Where the
    ending that is kept is not the last that was made, its events come again.

    Args:
        take: The take; its prompt is read.
        plan: Its length.
        n_endings: How often the last part is made, at least once.
    """
    search = _Search(plan)
    while True:
        mark, rings_s = take.mark(), take.rings_s
        step = take.step()
        search.look(take, step, mark=mark, rings_s=rings_s)
        if step is not None:
            yield step
        if isinstance(step, SteppedBack) or not take.reason:
            continue
        search.close_tail(take)
        if search.fork is None or take.reason == "event_limit":
            break
        if search.n_tails >= n_endings or search.n_events >= MOST_EVENTS:
            break
        take.go_back(search.fork)
        search.tail = []
        yield SteppedBack(index=search.fork.n_made, why=ANOTHER)
    if search.best is None:
        yield finished(take)
    else:
        yield from _kept(search.best, search.tail)


def finished(take: TakeInMaking) -> Finished:
    """Return what is said of a take that ends where it came to."""
    notices = tuple(sorted(take.mark().notices))
    return Finished(reason=take.reason, notices=notices, end_chance=take.end_chance)


def _kept(best: Ending, there: list[EventMade]) -> Iterator[EventMade | SteppedBack | Finished]:
    """End as was chosen; `there` is the last part that was made last."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(best.tail, there, strict=False))
    n_same = sum(1 for _ in same)
    if n_same < len(there):
        yield SteppedBack(index=there[n_same].index, why=ANOTHER)
    for made in best.tail[n_same:]:
        yield replace(made, again=True)
    reason = "length" if best.own_end is None else "end"
    notices = tuple(sorted(best.mark.notices))
    yield Finished(reason=reason, notices=notices, end_chance=best.chance)


class _Search:
    """What was found so far.

    Attributes:
        fork: Where the last part begins, once it is reached.
        tail: The events since then, in the part that was made last.
        best: The best ending of those that were closed.
        n_tails: How many last parts were made,
        n_events: and how many events, for all of them.
    """

    def __init__(self, plan: LengthPlan) -> None:
        self._tail_from_s = tail_from_s(plan)
        self._endings: list[Ending] = []  # of the part that is being made
        self.fork: Mark | None = None
        self.tail: list[EventMade] = []
        self.best: Ending | None = None
        self.n_tails = self.n_events = 0

    def look(
        self,
        take: TakeInMaking,
        step: EventMade | SteppedBack | None,
        *,
        mark: Mark,
        rings_s: float,
    ) -> None:
        """Take in a step that was made at the place `mark`."""
        if isinstance(step, SteppedBack):
            self._withdraw(step.index)
            return
        if self.fork is None and (step is None or step.played.onset_s >= self._tail_from_s):
            self.fork, self.tail = mark, []
        if self.fork is None:
            return
        own_end = step if step is not None and step.played.is_end else None
        if take.end_chance is not None and (own_end is not None or rings_s >= RELEASE_S):
            self._endings.append(Ending(mark=mark, chance=take.end_chance, own_end=own_end))
        if step is not None:
            self.tail.append(step)
            self.n_events += 1

    def close_tail(self, take: TakeInMaking) -> None:
        """Keep the best ending of this part if none before is as good."""
        self.n_tails += 1
        endings, self._endings = self._endings, []
        if self.fork is None:
            return
        for ending in sorted(endings, key=lambda ending: -ending.chance):
            least = 0.0 if self.best is None else self.best.worth
            if ending.chance * max(ODDS) <= least:
                return  # nor is any after it better, however it closes
            worth = ending.chance * ODDS[closure(take.played(ending.mark.n_made))]
            if worth > least:
                n_events = ending.mark.n_made - self.fork.n_made + (ending.own_end is not None)
                self.best = replace(ending, worth=worth, tail=tuple(self.tail[:n_events]))

    def _withdraw(self, index: int) -> None:
        self.tail = [made for made in self.tail if made.index < index]
        self._endings = [ending for ending in self._endings if ending.mark.n_made <= index]
        if self.fork is not None and index < self.fork.n_made:
            self.fork, self.best = None, None  # what the others go on from is gone
