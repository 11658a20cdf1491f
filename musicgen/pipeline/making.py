"""A take while it is being made: progress, stop and keep, and the finished file."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from musicgen.engine import Engine, StepDecoder
from musicgen.errors import GenerationError
from musicgen.generation import (
    EventMade,
    Finished,
    Prefilled,
    SettledEvents,
    SteppedBack,
    StreamEvent,
    event_values,
    fit_ending,
)
from musicgen.midi import NoteTable
from musicgen.pipeline.ingredients import Ingredients
from musicgen.pipeline.progress import Progress, settled_until
from musicgen.pipeline.report import (
    event_warnings,
    length_warnings,
    notice_warnings,
    seen_warning,
)
from musicgen.pipeline.take import Take
from musicgen.tokens import PlayedEvent

EVENTS_A_PROGRESS = 8
MOST_S_A_PROGRESS = 0.2
"""After so many events, or so much time, a stream reports: whoever stops it waits no longer."""


class TakeStream(Iterator["Progress | Take"]):
    """Yields `Progress`, and the `Take` last. One thread at a time may ask it.

    Attributes:
        engine: What decodes it, if that is known.
        by_turns: Whether one thread makes it and others by turns: then their turns count as time
            that it takes.
    """

    def __init__(
        self,
        ingredients: Ingredients,
        events: Iterator[StreamEvent],
        *,
        engine: Engine | None = None,
    ) -> None:
        """Make of `events` the take of `ingredients`."""
        self.engine = engine
        self.by_turns = False
        self._ingredients = ingredients
        self._events = events
        self._made: list[EventMade] = []
        self._notes: list[PlayedEvent] = []
        self._prefilled: Prefilled | None = None
        self._finished: Finished | None = None
        self._take: Take | None = None
        self._spent_s, self._n_made, self._furthest_s = 0.0, 0, 0.0
        self._n_steps = 0  # events made and steps back: at which of them it was stopped
        self._stepped_at_s = 0.0
        self._begin_report()
        # Where an event is no note, what a note is may be known only at the end.
        is_note = event_values(ingredients.tokenizer) is not None
        self._settled = SettledEvents(ingredients.plan) if is_note else None

    def __iter__(self) -> TakeStream:
        return self

    def __next__(self) -> Progress | Take:
        """Return the next progress; the take when it is done.

        Raises:
            GenerationError: The model gave no numbers, or not one note.
            StopIteration: The take was returned, or the stream closed.
        """
        self._begin_report()
        told = None
        while told is None:
            told = self.step()
        return told

    @property
    def steps(self) -> StepDecoder | None:
        """What decodes it; None before its first step."""
        return None if self._prefilled is None else self._prefilled.steps

    def step(self) -> Progress | Take | None:
        """Make at most one event; return what `__next__` would, or None where it would go on.

        Raises:
            GenerationError: The model gave no numbers, or not one note.
            StopIteration: The take was returned, or the stream closed.
        """
        if self._take is not None:
            raise StopIteration
        began_s = self._stepped_at_s if self.by_turns else time.perf_counter()
        event = next(self._events)
        self._stepped_at_s = now_s = time.perf_counter()
        if isinstance(event, Prefilled):
            self._prefilled = event
            return self._progress()
        if self._n_made:  # the prompt may be read for the first event, which counts as no time
            self._spent_s += now_s - began_s
        if self._settled is not None:
            self._settled.take(event)
        if isinstance(event, Finished):
            return self._finished_by(event)
        self._take_in(event)
        self._n_steps += 1
        if self._n_steps == self._ingredients.recipe.stopped_after:
            self.close()
            return self._finish_with_notes("stopped")
        self._n_unreported += 1
        if self._n_unreported < EVENTS_A_PROGRESS and now_s < self._report_at_s:
            return None
        self._begin_report()
        return self._progress()

    def _begin_report(self) -> None:
        self._n_unreported, self._report_at_s = 0, time.perf_counter() + MOST_S_A_PROGRESS

    def _take_in(self, event: EventMade | SteppedBack) -> None:
        if isinstance(event, EventMade):
            self._made.append(event)
            if event.played.pitch is not None:
                self._notes.append(event.played)
            self._n_made += not event.again
        else:
            del self._made[event.index :]
            played = [made.played for made in self._made]
            self._notes = [each for each in played if each.pitch is not None]

    def _finished_by(self, event: Finished) -> Take:
        self._finished = event
        return self._finish_with_notes(event.reason)

    def _finish_with_notes(self, reason: str) -> Take:
        if not self._has_notes:
            raise GenerationError(
                f"The model made no note in {self._ingredients.plan.wanted_s:g} seconds.",
                hint="Use a model that was trained longer, or a longer piece.",
                code="no-notes-made",
            )
        return self._finish(reason)

    def finish(self) -> Take | None:
        """Stop, and return the take so far; None before its first note."""
        self.close()
        if self._take is None and self._has_notes:
            self._finish("stopped")
        return self._take

    @property
    def _has_notes(self) -> bool:
        return bool(self._notes)

    def close(self) -> None:
        """Stop, and forget what was made."""
        close = getattr(self._events, "close", None)
        if close is not None:
            close()

    def _progress(self) -> Progress:
        plan = self._ingredients.plan
        now_s = self._made[-1].played.onset_s if self._made else plan.start_s
        self._furthest_s = max(self._furthest_s, min(now_s - plan.start_s, plan.wanted_s))
        n_settled = 0 if self._settled is None else self._settled.count()
        settled = tuple(self._made[:n_settled])
        return Progress(
            seconds_made=self._furthest_s,
            seconds_wanted=plan.wanted_s,
            notes=len(self._notes),
            settled_s=settled_until(settled, plan.start_s),
            tries_endings=self._settled is not None and self._settled.tries_endings,
            ingredients=self._ingredients,
            settled_events=settled,
        )

    def _finish(self, reason: str) -> Take:
        ingredients, prefilled = self._ingredients, self._prefilled
        if prefilled is None:
            raise RuntimeError("a take cannot finish before it has begun")
        plan, prompt, before = ingredients.plan, ingredients.prompt, ingredients.ids_before
        recipe = replace(
            ingredients.recipe, stopped_after=self._n_steps if reason == "stopped" else None
        )
        decoded, notes = ingredients.decode(self._made)
        notices = Counter(dict(self._finished.notices if self._finished else ()))
        notes, held = fit_ending(notes, plan, ring=reason == "length")
        notices["ending-held"] = int(held)

        warnings = [*ingredients.engine_warnings, *(prompt.warnings if prompt else ())]
        warnings += seen_warning(before, prefilled.seen_events) if prompt else []
        warnings += self._length_warnings(reason, notes)
        warnings += notice_warnings(notices) + event_warnings(decoded.repairs)
        counted = sum(
            n for why, n in notices.items() if not (why == "ending" or why.endswith("-left"))
        )
        self._take = Take(
            midi=ingredients.file(notes, recipe),
            notes=len(notes) + (prompt.notes if prompt and not recipe.only_new else 0),
            seconds=ingredients.end_s(notes),
            prompt_seconds=prompt.prompt.cut_s if prompt else 0.0,
            prompt_notes=prompt.notes if prompt else 0,
            seed=recipe.seed,
            finish_reason=reason,
            events=len(self._made),
            events_per_s=(self._n_made - 1) / self._spent_s if self._spent_s else 0.0,
            engine=recipe.engine,
            model=recipe.model,
            model_sha256=recipe.model_sha256,
            repairs=decoded.n_repairs + counted,
            warnings=tuple(warnings),
            ids=np.concatenate([before, ingredients.ids_of(self._made)]),
            new_from=len(before),
            new_notes=notes,
        )
        return self._take

    def _length_warnings(self, reason: str, notes: NoteTable) -> list[str]:
        plan, prompt = self._ingredients.plan, self._ingredients.prompt
        return length_warnings(
            reason,
            wanted_s=plan.seconds,
            new_s=float(notes.end_s.max(initial=plan.start_s)) - plan.start_s,
            prompt_rings_s=0.0
            if prompt is None or self._ingredients.only_new
            else prompt.end_s - plan.start_s,
        )
