"""Music as a stream: read the prompt, then make one event after another.

An event costs one step of the trunk and one of each of the K heads. Random numbers come from the
caller's generator on the CPU, K for every draw: a take does not depend on the device, on other
takes, or on how far anybody listens. Nothing global changes, between two events least of all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch

from musicgen.engine import Engine
from musicgen.generation.context import Context
from musicgen.generation.endings import (
    N_ENDINGS,
    Mark,
    end_chance,
    finished,
    make_with_chosen_ending,
)
from musicgen.generation.events import (
    Event,
    EventMade,
    Prefilled,
    SteppedBack,
    StreamEvent,
)
from musicgen.generation.guards import LoopWatch
from musicgen.generation.length import LengthPlan
from musicgen.generation.rules import NoteRules, Rules
from musicgen.generation.settings import SamplingSettings
from musicgen.generation.values import event_values
from musicgen.tokens import EventClock, PlayedEvent, Tokenizer

HEAT, HEAT_EVENTS = 1.1, 8
"""How warm, and for how many events, the draw is after a step back."""

STEPS_BACK, STEPS_BACK_A_SECOND = 12, 0.1
"""How often a take may step back: so many times, and more in a longer one (flat: fourfold)."""

DRAWN_AT_ONCE = 64
"""Random numbers taken from the generator in one call, which costs more than they do: they are the
same as those taken one by one."""


def stream_events(
    engine: Engine,
    tokenizer: Tokenizer,
    prompt_ids: np.ndarray | None = None,
    *,
    plan: LengthPlan,
    generator: torch.Generator,
    settings: SamplingSettings = SamplingSettings(),
    held_keys: Mapping[int, float] | None = None,
    n_endings: int = N_ENDINGS,
) -> Iterator[StreamEvent]:
    """Make music, event by event; closing the iterator ends it.

    Args:
        engine: The model, ready to decode; it is only read.
        tokenizer: Whose events it was trained on.
        prompt_ids: Events (T, K) to go on from, the start event first; None starts from nothing.
        plan: Where the new music begins, and how long it is to be.
        generator: A generator on the CPU, this take's own.
        settings: The filters of the draw.
        held_keys: Until when (seconds) the prompt's notes hold keys beyond the cut.
        n_endings: How often the last part is made, to choose the best ending of them; 0 ends where
            the time is up. Without a length to be met, and in flat schemes, it counts for nothing.

    Yields:
        `Prefilled`; `EventMade`, with `SteppedBack` between; `Finished`.

    Raises:
        GenerationError: The model gave no numbers.
        ConfigError: The settings name an attribute that there is not.
    """
    stream = MusicInMaking(engine, tokenizer, plan, settings, generator)
    yield stream.prefill(prompt_ids, held_keys or {})
    if n_endings and stream.events_are_notes and plan.seeks_ending:
        yield from make_with_chosen_ending(stream, plan, n_endings=n_endings)
    else:
        while (made := stream.step()) is not None:
            yield made
        yield finished(stream)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """What had been heard of a take after `n_made` new events: enough to go on from there."""

    n_made: int
    clock: EventClock
    rules: Rules
    watch: LoopWatch


class MusicInMaking:
    """The state of one take."""

    def __init__(
        self,
        engine: Engine,
        tokenizer: Tokenizer,
        plan: LengthPlan,
        settings: SamplingSettings,
        generator: torch.Generator,
    ) -> None:
        self._tokenizer, self._plan = tokenizer, plan
        self._generator, self._drawn = generator, list[float]()
        self._n_attributes = tokenizer.n_attributes
        self._legal, self._end_id = tokenizer.legal(0, ()), tokenizer.end_event[0]
        self._settings = settings.resolve(tokenizer.attribute_names)
        self._hot = tuple(each.heated(HEAT) for each in self._settings)
        self._hot_until = 0
        self._steps, self._may_wait = engine.begin(), engine.takes_a_thread > 1
        self._context = Context(self._steps)
        self._made: list[tuple[Event, PlayedEvent]] = []
        self._n_waited = 0  # of these the first, which are no choice of the model's
        self._to_withdraw = 0
        self.notices: Counter[str] = Counter()
        self.reason = ""
        self.end_chance: float | None = None
        self.events_are_notes = event_values(tokenizer) is not None

    def prefill(self, prompt_ids: np.ndarray | None, held_keys: Mapping[int, float]) -> Prefilled:
        """Read the prompt, or the start event alone."""
        tokenizer, plan = self._tokenizer, self._plan
        ids = np.array([tokenizer.start_event]) if prompt_ids is None else prompt_ids
        now_s = float(tokenizer.decode_events(ids).onset_s[-1])
        values = event_values(tokenizer)
        if values is None:
            self._rules = Rules(tokenizer, plan, now_s=now_s)
        else:
            self._rules = NoteRules(tokenizer, plan, values, now_s=now_s, held_keys=held_keys)
        events_a_note = 4 if values is None else 1
        self._watch = LoopWatch(events_a_note)
        self._steps_back_left = events_a_note * (
            STEPS_BACK + int(STEPS_BACK_A_SECOND * plan.wanted_s)
        )
        self._clock_s, self._prompt_ids = now_s, ids
        self._clock = tokenizer.clock(now_s, after=ids)
        self._places = [self._place()]  # those that were gone back to, and the beginning
        self._n_prompt = len(ids)
        self._context.extend(ids)
        n_seen = len(ids) - self._context.first_seen
        return Prefilled(seen_events=n_seen, steps=self._steps)

    @property
    def rings_s(self) -> float:
        """How long the music sounds beyond its last onset."""
        return self._rules.rings_s

    def mark(self) -> Mark:
        """Return the present place."""
        return Mark(
            n_made=len(self._made),
            notices=tuple(self.notices.items()),
            steps_back_left=self._steps_back_left,
            hot_until=self._hot_until,
        )

    def played(self, n_made: int) -> list[PlayedEvent]:
        """Return the first new events."""
        return [played for _, played in self._made[:n_made]]

    def step(self) -> EventMade | SteppedBack | None:
        """Make one event, or withdraw some; None when there is no more."""
        self.end_chance = None
        if self._to_withdraw:
            return self._step_back(len(self._made) - self._to_withdraw, "loop")
        if self.reason:
            return None
        if len(self._made) - self._n_waited >= self._plan.max_events:
            self.reason = "event_limit"
            return None
        rest = self._rules.waiting()
        if rest is not None:
            return self._wait(rest)
        event = self._draw()
        played = self._clock.push(event)
        if played.pitch is not None and played.onset_s < self._plan.start_s - 1e-6:
            # A flat scheme tells the time after the fact. What came before the cut is moved there.
            self._clock_s += self._plan.start_s - played.onset_s
            clock = self._tokenizer.clock(self._clock_s, after=self._prompt_ids)
            self._places = [replace(self._places[0], clock=clock)]
            self._hear_again()
            played = self._clock.push(event)
        complaint = self._rules.complaint(played)
        if complaint and self._may_step_back(complaint):
            return self._step_back(self._after_last_note(), complaint)
        if played.is_end:
            self.reason = "end"
        elif played.onset_s >= self._plan.target_s:
            self.reason = "length"
            return None
        return self._take(event, played)

    def _wait(self, rest: Event) -> EventMade:
        """Let the clock come nearer to the cut, however far off that is; rests are no loop."""
        self._n_waited += 1
        return self._add(rest, self._clock.push(rest))

    def _take(self, event: Event, played: PlayedEvent) -> EventMade:
        made = self._add(event, played)
        looping = self._watch.push(event, played.pitch)
        if looping and self._may_step_back("loop"):
            self._to_withdraw = looping
        elif self._may_wait and not self.reason:
            self._append_new()  # which costs nothing yet: other takes' events may come to it
        return made

    def _add(self, event: Event, played: PlayedEvent) -> EventMade:
        index = len(self._made)
        self._made.append((event, played))
        self._rules.play(played)
        return EventMade(index=index, event=event, played=played, clock_s=self._clock_s)

    def _may_step_back(self, why: str) -> bool:
        if self._steps_back_left:
            return True
        self.notices[f"{why}-left"] = 1
        return False

    def _step_back(self, index: int, why: str) -> SteppedBack:
        """Withdraw the new events from `index` on, and be less choosy for a few events."""
        self.notices[why] += 1
        self._steps_back_left -= 1
        self._to_withdraw = 0
        self._hot_until = index + HEAT_EVENTS
        self._withdraw(index)
        return SteppedBack(index=index, why=why)

    def _withdraw(self, index: int) -> None:
        del self._made[index:]
        self._n_waited = min(self._n_waited, index)
        while self._places[-1].n_made > index:
            self._places.pop()
        self._hear_again()
        if self._places[-1].n_made < index:
            self._places.append(self._place())
        self._context.step_back(min(self._n_prompt + index, len(self._context)))

    def go_back(self, mark: Mark) -> None:
        """Withdraw what came after a place, to go on differently; nothing there was wrong."""
        self._withdraw(mark.n_made)
        self.notices = Counter(dict(mark.notices))
        self._steps_back_left, self._hot_until = mark.steps_back_left, mark.hot_until
        self.reason, self.end_chance = "", None

    def _place(self) -> _Place:
        return _Place(
            n_made=len(self._made),
            clock=self._clock.copy(),
            rules=self._rules.copy(),
            watch=self._watch.copy(),
        )

    def _hear_again(self) -> None:
        """Let clock, rules and watch hear what came after the last place kept, and nothing else."""
        place = self._places[-1]
        self._clock, self._rules = place.clock.copy(), place.rules.copy()
        self._watch = place.watch.copy()
        for number in range(place.n_made, len(self._made)):
            event, played = self._made[number]
            self._clock.push(event)
            self._rules.play(played)
            if number >= self._n_waited:
                self._watch.push(event, played.pitch)

    def _after_last_note(self) -> int:
        index = len(self._made)
        while index and self._made[index - 1][1].pitch is None:
            index -= 1
        return index

    def _draw(self) -> Event:
        """Choose the K attributes of the next event, one after another."""
        self._append_new()  # only now is the last event read: whoever listens need not wait for it
        filters = self._hot if len(self._made) < self._hot_until else self._settings
        event: Event = ()
        for k, uniform in enumerate(self._uniforms(self._n_attributes)):
            settings = filters[k]
            logits = self._steps.logits(k, event)
            allowed = self._rules.allowed(k, event, self._clock)
            chosen = self._steps.draw(logits, allowed, settings, uniform)
            if k == 0 and self._rules.reached:
                self.end_chance = end_chance(logits, self._legal, self._end_id)
            for why, fine in self._rules.objections(k, event, self._clock):
                if not fine[chosen] and (allowed & fine).any():
                    self.notices[why] += 1
                    allowed = allowed & fine
                    chosen = self._steps.draw(logits, allowed, settings, self._uniforms(1)[0])
            event = (*event, chosen)
        return event

    def _append_new(self) -> None:
        """Append the events that the context has not got yet."""
        new = [event for event, _ in self._made[len(self._context) - self._n_prompt :]]
        if len(new) > 1:  # rests up to the cut
            self._context.extend(np.array(new))
        elif new:
            self._context.append(new[0])

    def _uniforms(self, n: int) -> list[float]:
        """Return the next n of the take's random numbers, in [0, 1)."""
        while len(self._drawn) < n:
            more = torch.rand(DRAWN_AT_ONCE, generator=self._generator, dtype=torch.float64)
            self._drawn += more.tolist()
        uniforms, self._drawn = self._drawn[:n], self._drawn[n:]
        return uniforms
