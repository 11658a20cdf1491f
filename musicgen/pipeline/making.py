"""A take while it is being made: progress, stop and keep, and the finished file."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

import numpy as np

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
from musicgen.pipeline.progress import Progress, settled_until
from musicgen.pipeline.recipe import Recipe
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
        at_once: How many takes of its engine are best made at a time; None: one a core.
    """

    def __init__(
        self, recipe: Recipe, events: Iterator[StreamEvent], *, at_once: int | None = None
    ) -> None:
        """Make of `events` the take of `recipe`."""
        self.at_once = at_once
        self._recipe = recipe
        self._events = events
        self._made: list[EventMade] = []
        self._notes: list[PlayedEvent] = []
        self._prefilled: Prefilled | None = None
        self._finished: Finished | None = None
        self._take: Take | None = None
        self._spent_s, self._n_made, self._furthest_s = 0.0, 0, 0.0
        # Where an event is no note, what a note is may be known only at the end.
        is_note = event_values(recipe.tokenizer) is not None
        self._settled = SettledEvents(recipe.plan) if is_note else None

    def __iter__(self) -> TakeStream:
        return self

    def __next__(self) -> Progress | Take:
        """Return the next progress; the take when it is done.

        Raises:
            GenerationError: The model gave no numbers, or not one note.
            StopIteration: The take was returned, or the stream closed.
        """
        if self._take is not None:
            raise StopIteration
        report_at_s = time.perf_counter() + MOST_S_A_PROGRESS
        for _ in range(EVENTS_A_PROGRESS):
            began = time.perf_counter()
            if began > report_at_s:
                break
            event = next(self._events)
            if isinstance(event, Prefilled):
                self._prefilled = event
                break
            self._spent_s += time.perf_counter() - began
            if self._settled is not None:
                self._settled.take(event)
            if isinstance(event, EventMade):
                self._made.append(event)
                if event.played.pitch is not None:
                    self._notes.append(event.played)
                self._n_made += not event.again
            elif isinstance(event, SteppedBack):
                del self._made[event.index :]
                played = [made.played for made in self._made]
                self._notes = [each for each in played if each.pitch is not None]
            else:
                self._finished = event
                if not self._has_notes:
                    raise GenerationError(
                        f"The model made no note in {self._recipe.plan.wanted_s:g} seconds.",
                        hint="Use a model that was trained longer, or a longer piece.",
                        code="no-notes-made",
                    )
                return self._finish(event.reason)
        return self._progress()

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
        plan = self._recipe.plan
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
            recipe=self._recipe,
            settled_events=settled,
        )

    def _finish(self, reason: str) -> Take:
        recipe, prefilled = self._recipe, self._prefilled
        if prefilled is None:
            raise RuntimeError("a take cannot finish before it has begun")
        plan, prompt, before = recipe.plan, recipe.prompt, recipe.ids_before
        decoded, notes = recipe.decode(self._made)
        notices = Counter(dict(self._finished.notices if self._finished else ()))
        notes, held = fit_ending(notes, plan, ring=reason == "length")
        notices["ending-held"] = int(held)

        warnings = [*recipe.engine_warnings, *(prompt.warnings if prompt else ())]
        warnings += seen_warning(before, prefilled.seen_events) if prompt else []
        warnings += self._length_warnings(reason, notes)
        warnings += notice_warnings(notices) + event_warnings(decoded.repairs)
        counted = sum(
            n for why, n in notices.items() if not (why == "ending" or why.endswith("-left"))
        )
        self._take = Take(
            midi=recipe.file(notes),
            notes=len(notes) + (prompt.notes if prompt and not recipe.only_new else 0),
            seconds=recipe.end_s(notes),
            prompt_seconds=prompt.prompt.cut_s if prompt else 0.0,
            prompt_notes=prompt.notes if prompt else 0,
            seed=recipe.seed,
            finish_reason=reason,
            events=len(self._made),
            events_per_s=self._n_made / self._spent_s if self._spent_s else 0.0,
            engine=recipe.engine,
            model=recipe.model,
            model_sha256=recipe.model_sha256,
            repairs=decoded.n_repairs + counted,
            warnings=tuple(warnings),
            ids=np.concatenate([before, recipe.ids_of(self._made)]),
            new_from=len(before),
            new_notes=notes,
        )
        return self._take

    def _length_warnings(self, reason: str, notes: NoteTable) -> list[str]:
        plan, prompt = self._recipe.plan, self._recipe.prompt
        return length_warnings(
            reason,
            wanted_s=plan.seconds,
            new_s=float(notes.end_s.max(initial=plan.start_s)) - plan.start_s,
            prompt_rings_s=0.0
            if prompt is None or self._recipe.only_new
            else prompt.end_s - plan.start_s,
        )
