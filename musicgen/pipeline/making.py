"""A take while it is being made: progress, stop and keep, and the finished file."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from musicgen.errors import GenerationError
from musicgen.generation import (
    EventMade,
    Finished,
    LengthPlan,
    Prefilled,
    SteppedBack,
    StreamEvent,
    fit_ending,
)
from musicgen.midi import NoteTable, extend, notes_to_score, score_to_bytes
from musicgen.pipeline.prompt import ReadyPrompt
from musicgen.pipeline.report import (
    event_warnings,
    length_warnings,
    notice_warnings,
    seen_warning,
)
from musicgen.pipeline.take import Take
from musicgen.tokens import PlayedEvent, Tokenizer

EVENTS_A_PROGRESS = 8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Progress:
    """How far a take has come.

    Attributes:
        seconds_made: Seconds of new music so far, at the furthest: it does not fall when the model
            steps back.
        seconds_wanted: Seconds that were asked for.
        notes: New notes so far.
        new: All new notes so far, in the piece's time. A later report may hold fewer: where the
            model began to repeat itself, it steps back, and the last part is made several times.
    """

    seconds_made: float
    seconds_wanted: float
    notes: int
    played: tuple[PlayedEvent, ...] = field(repr=False)

    @property
    def new(self) -> NoteTable:
        """All new notes so far."""
        return _played_notes(self.played)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recipe:
    """What a take is made of, but for the model's own numbers."""

    engine: str
    engine_warnings: tuple[str, ...]
    tokenizer: Tokenizer
    plan: LengthPlan
    seed: int
    model: str
    model_sha256: str
    prompt: ReadyPrompt | None
    only_new: bool


class TakeStream(Iterator["Progress | Take"]):
    """Yields `Progress`, and the `Take` last. One thread at a time may ask it."""

    def __init__(self, recipe: Recipe, events: Iterator[StreamEvent]) -> None:
        """Make of `events` the take of `recipe`."""
        self._recipe = recipe
        self._events = events
        self._made: list[EventMade] = []
        self._notes: list[PlayedEvent] = []
        self._prefilled: Prefilled | None = None
        self._finished: Finished | None = None
        self._take: Take | None = None
        self._spent_s, self._n_made, self._furthest_s = 0.0, 0, 0.0

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
        for _ in range(EVENTS_A_PROGRESS):
            began = time.perf_counter()
            event = next(self._events)
            if isinstance(event, Prefilled):
                self._prefilled = event
                break
            self._spent_s += time.perf_counter() - began
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
        return Progress(
            seconds_made=self._furthest_s,
            seconds_wanted=plan.wanted_s,
            notes=len(self._notes),
            played=tuple(self._notes),
        )

    def _finish(self, reason: str) -> Take:
        recipe, prefilled = self._recipe, self._prefilled
        if prefilled is None:
            raise RuntimeError("a take cannot finish before it has begun")
        tokenizer, plan, prompt = recipe.tokenizer, recipe.plan, recipe.prompt
        new_ids = np.array([made.event for made in self._made], dtype=np.int64)
        new_ids = new_ids.reshape(-1, tokenizer.n_attributes)
        before = prompt.ids if prompt else np.array([tokenizer.start_event], dtype=np.int64)
        decoded = tokenizer.decode_events(new_ids, after=before)
        notices = Counter(dict(self._finished.notices if self._finished else ()))
        notes = self._in_place(decoded.notes)
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
            midi=_file(prompt, notes, only_new=recipe.only_new),
            notes=len(notes) + (prompt.notes if prompt and not recipe.only_new else 0),
            seconds=_end_s(prompt, notes, only_new=recipe.only_new),
            prompt_seconds=prompt.prompt.cut_s if prompt else 0.0,
            prompt_notes=prompt.notes if prompt else 0,
            seed=recipe.seed,
            finish_reason=reason,
            events=len(new_ids),
            events_per_s=self._n_made / self._spent_s if self._spent_s else 0.0,
            engine=recipe.engine,
            model=recipe.model,
            model_sha256=recipe.model_sha256,
            repairs=decoded.n_repairs + counted,
            warnings=tuple(warnings),
            ids=np.concatenate([before, new_ids]),
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

    def _in_place(self, notes: NoteTable) -> NoteTable:
        """Set notes that the decoder read as a piece of their own where they were played."""
        shift = self._made[-1].clock_s if self._made else 0.0
        return NoteTable.of(notes.onset_s + shift, notes.end_s + shift, notes.pitch, notes.velocity)


def _played_notes(played: tuple[PlayedEvent, ...]) -> NoteTable:
    rows = [(p.onset_s, p.end_s, p.pitch, p.velocity) for p in played]
    return NoteTable.of(*np.array(rows, dtype=np.float64).reshape(-1, 4).T)


def _file(prompt: ReadyPrompt | None, notes: NoteTable, *, only_new: bool) -> bytes:
    if prompt is None:
        return score_to_bytes(notes_to_score(notes))
    return extend(prompt.prompt, notes, only_new=only_new)


def _end_s(prompt: ReadyPrompt | None, notes: NoteTable, *, only_new: bool) -> float:
    """Return where the last note of the file ends, to the millisecond of its ticks."""
    end_s = float(notes.end_s.max(initial=0.0))
    if prompt is None:
        return round(end_s, 3)
    if only_new:  # such a file begins at the cut
        return round(max(end_s - prompt.prompt.cut_s, 0.0), 3)
    return max(end_s, prompt.end_s)
