"""The attention lab's door: the lessons, and one on a few events of a piece.

Shapes: T events, K attributes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from musicgen.errors import ConfigError
from musicgen.lesson import (
    Lesson,
    Terms,
    largest_terms,
    layer_lesson,
    next_event_bits,
    printed_lesson,
    sentence_lesson,
)
from musicgen.midi import read_midi
from musicgen.pipeline.prompt import ready_prompt
from musicgen.pipeline.take import Take

if TYPE_CHECKING:
    from musicgen.pipeline.music import MusicPipeline

__all__ = [
    "MAX_EVENTS",
    "Lesson",
    "MusicLesson",
    "Terms",
    "largest_terms",
    "music_lesson",
    "printed_lesson",
    "sentence_lesson",
]

MAX_EVENTS = 10


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MusicLesson:
    """What a layer computes over some events, and what the mask is worth to the whole model.

    Attributes:
        lesson: The layer's steps; its first token is the start event.
        n_layers: How many layers the model has.
        start_s: Onset of the first of the piece's events.
        bits_masked: Bits the model needs for each next event of these.
        bits_open: The same with no mask in any layer.
    """

    lesson: Lesson
    n_layers: int
    start_s: float
    bits_masked: float
    bits_open: float


def music_lesson(
    pipeline: MusicPipeline,
    source: bytes | Take,
    *,
    start_s: float = 0.0,
    events: int = 6,
    layer: int = 0,
    causal: bool = True,
) -> MusicLesson:
    """Return what the model computes when it reads a few events of a piece, and nothing before.

    Args:
        pipeline: The model.
        source: A MIDI file, or a take of this model.
        start_s: From which second of the piece on; its last events where that is too late.
        events: How many events, 1 to `MAX_EVENTS`; the start event comes before them.
        layer: Which layer, 0 the first.
        causal: Whether that layer's mask stands.

    Raises:
        ConfigError: There is no such layer or number of events.
        MidiReadError: The file cannot be read.
        PromptError: It holds no note that the model could hear.
    """
    n_layers = pipeline.model.config.n_layers
    if not 0 <= layer < n_layers:
        raise ConfigError(f"The model has no layer {layer}: they are 0 to {n_layers - 1}.")
    if not 1 <= events <= MAX_EVENTS:
        raise ConfigError(f"{events} events are not 1 to {MAX_EVENTS}.")
    tokenizer = pipeline.tokenizer
    if isinstance(source, Take):
        ids = source.ids
    else:
        ids = ready_prompt(read_midi(source), tokenizer, None).ids
    onset_s = tokenizer.decode_events(ids).onset_s
    first = int(np.searchsorted(onset_s[1:], start_s)) + 1
    first = max(1, min(first, len(ids) - events))
    chosen = np.concatenate([ids[:1], ids[first : first + events]])
    return MusicLesson(
        lesson=layer_lesson(pipeline.model, tokenizer, chosen, layer=layer, causal=causal),
        n_layers=n_layers,
        start_s=float(onset_s[min(first, len(ids) - 1)]),
        bits_masked=next_event_bits(pipeline.model, chosen),
        bits_open=next_event_bits(pipeline.model, chosen, causal=False),
    )
