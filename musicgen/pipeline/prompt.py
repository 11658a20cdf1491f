"""The music to go on from: what of it is used, what of that the model can take in.

Shapes: T events, K attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from musicgen.errors import PromptError
from musicgen.midi import MidiDocument, Prompt, cut_prompt, describe, note_table

if TYPE_CHECKING:
    from musicgen.tokens import Tokenizer


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReadyPrompt:
    """A prompt as the model takes it in.

    Attributes:
        prompt: The part of the file that is used, as the file has it.
        ids: (T, K) int64: its events, the start event first and no end event.
        held_keys: Until when (seconds) a key is down that is still down at the cut.
        notes: Notes of the part, drums too.
        end_s: End of its last note.
        warnings: What was repaired, and what the model does not hear.
    """

    prompt: Prompt
    ids: np.ndarray
    held_keys: Mapping[int, float] = field(repr=False)
    notes: int
    end_s: float
    warnings: tuple[str, ...]


def ready_prompt(
    document: MidiDocument, tokenizer: Tokenizer, seconds: float | None
) -> ReadyPrompt:
    """Cut a file and turn what is left into events.

    Args:
        document: The file.
        tokenizer: The model's.
        seconds: How much of the file is used; None for all of it.

    Raises:
        PromptError: Nothing is left that the model could hear.
    """
    prompt = cut_prompt(document, seconds)
    if prompt.drums_only:
        where = "" if seconds is None else f" in its first {seconds:g} s"
        has_more = any(not track.is_drum for track in describe(document).tracks)
        raise PromptError(
            f"{document.name} holds nothing but drums{where}: the model plays the piano and has "
            "nothing to go on from.",
            hint="Choose music with at least one pitched note"
            + (", or use more of the file." if has_more else "."),
            code="drums-only",
        )
    held = prompt.notes.select(prompt.notes.end_s > prompt.cut_s)
    held_keys: dict[int, float] = {}
    for key, end_s in zip(held.pitch.tolist(), held.end_s.tolist(), strict=True):
        held_keys[key] = max(end_s, held_keys.get(key, 0.0))
    return ReadyPrompt(
        prompt=prompt,
        ids=tokenizer.encode(prompt.score, end=False),
        held_keys=held_keys,
        notes=sum(track.notes for track in prompt.tracks),
        end_s=float(note_table(prompt.score, include_drums=True).end_s.max()),
        warnings=tuple(warning.message for warning in prompt.warnings),
    )
