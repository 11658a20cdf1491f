"""What a take is made of, and how its events become a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from musicgen.generation import EventMade, LengthPlan
from musicgen.midi import NoteTable, extend, notes_to_score, score_to_bytes, with_text
from musicgen.pipeline.prompt import ReadyPrompt
from musicgen.pipeline.recipe import Recipe
from musicgen.tokens import DecodedEvents, Tokenizer


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ingredients:
    """What a take is made of, but for the model's own numbers."""

    recipe: Recipe
    engine_warnings: tuple[str, ...]
    tokenizer: Tokenizer
    plan: LengthPlan
    prompt: ReadyPrompt | None

    @property
    def ids_before(self) -> np.ndarray:
        """The events before the new ones, (T, K) int64."""
        if self.prompt is not None:
            return self.prompt.ids
        return np.array([self.tokenizer.start_event], dtype=np.int64)

    def ids_of(self, made: Sequence[EventMade]) -> np.ndarray:
        """Return new events as (T, K) int64."""
        ids = np.array([each.event for each in made], dtype=np.int64)
        return ids.reshape(-1, self.tokenizer.n_attributes)

    def decode(self, made: Sequence[EventMade]) -> tuple[DecodedEvents, NoteTable]:
        """Return new events as the decoder reads them, and their notes in the piece's time."""
        decoded = self.tokenizer.decode_events(self.ids_of(made), after=self.ids_before)
        shift_s = made[-1].clock_s if made else 0.0
        notes = decoded.notes
        onset_s, end_s = notes.onset_s + shift_s, notes.end_s + shift_s
        return decoded, NoteTable.of(onset_s, end_s, notes.pitch, notes.velocity)

    @property
    def only_new(self) -> bool:
        """Whether the prompt is left out of the file."""
        return self.recipe.only_new

    def file(self, notes: NoteTable, recipe: Recipe | None = None) -> bytes:
        """Return the file with these new notes.

        Args:
            notes: The new notes, in the piece's time.
            recipe: What is to stand in the file; None for what is no take yet.
        """
        text = None if recipe is None else recipe.to_text()
        if self.prompt is None:
            data = score_to_bytes(notes_to_score(notes))
            return data if text is None else with_text(data, text)
        return extend(self.prompt.prompt, notes, only_new=self.only_new, text=text)

    def end_s(self, notes: NoteTable) -> float:
        """Return where the last note of the file ends, to the millisecond of its ticks."""
        end_s = float(notes.end_s.max(initial=0.0))
        if self.prompt is None:
            return round(end_s, 3)
        if self.only_new:  # such a file begins at the cut
            return round(max(end_s - self.prompt.prompt.cut_s, 0.0), 3)
        return max(end_s, self.prompt.end_s)
