"""The attention lab's door: the lessons, and one on a few events of a piece.

Shapes: T events, K attributes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from musicgen.errors import ConfigError
from musicgen.lesson import (
    MAX_TOKENS,
    Lesson,
    Others,
    Terms,
    largest_terms,
    layer_lesson,
    next_event_bits,
    printed_lesson,
    sentence_lesson,
    words_in,
)
from musicgen.midi import read_midi
from musicgen.pipeline.prompt import ready_prompt
from musicgen.pipeline.take import Take

if TYPE_CHECKING:
    from musicgen.pipeline.music import MusicPipeline

__all__ = [
    "MAX_EVENTS",
    "MAX_TOKENS",
    "Lesson",
    "MusicLesson",
    "Others",
    "Terms",
    "largest_terms",
    "music_lesson",
    "printed_lesson",
    "sentence_lesson",
    "words_in",
]

MAX_EVENTS = 10


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MusicLesson:
    """What a layer computes over some events, and what the mask is worth to the whole model.

    Attributes:
        lesson: The layer's steps; its first token is the first event that was read, which is the
            start event but of a late part of a long piece.
        n_layers: How many layers the model has.
        start_s: Onset of the first of the piece's events.
        point: Row and column of the lesson that were asked for; None without.
        bits_masked: Bits the model needs for each next event of those it reads.
        bits_open: The same with no mask in any layer.
    """

    lesson: Lesson
    n_layers: int
    start_s: float
    point: tuple[int, int] | None
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
    reads_from: int | None = None,
    point: tuple[int, int] | None = None,
) -> MusicLesson:
    """Return what the model computes when it reads a few events of a piece.

    By itself it reads nothing before them, so every number is on the page. With `reads_from` it
    reads what came before, too, as where the attention of whole pieces is shown: the same events
    have that pass's numbers then, and what is not shown of it comes in sums.

    Args:
        pipeline: The model.
        source: A MIDI file, or a take of this model.
        start_s: From which second of the piece on; its last events where that is too late.
        events: How many events, 1 to `MAX_EVENTS`; the start event comes before them.
        layer: Which layer, 0 the first.
        causal: Whether that layer's mask stands.
        reads_from: Number of the first event that is read, 0 the start event; a later one where
            the model's window does not reach so far. None for the shown events alone.
        point: Numbers of an event that looks and of one that is looked at, to be shown whatever
            the others are; left out where there are none such. Only with `reads_from`.

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
    window = range(first, min(first + events, len(ids)))
    if reads_from is None:
        point, read = None, np.concatenate([ids[:1], ids[window.start : window.stop]])
    else:
        n_sees = pipeline.model.config.max_seq_len
        if point is not None and not reads_from <= point[1] <= point[0] < len(ids):
            point = None
        if point is not None and point[0] < reads_from + n_sees:
            # The number that is asked for is one of this very pass: what it does not see goes.
            window = range(window.start, min(window.stop, reads_from + n_sees))
        last = max([*window[-1:], *(point or ())])
        reads_from = max(0, min(reads_from, first), last + 1 - n_sees)
        if point is not None and point[1] < reads_from:
            point = None
        read = ids[reads_from : last + 1]
    lesson = layer_lesson(pipeline.model, tokenizer, read, layer=layer, causal=causal)
    where = None
    if reads_from is not None:
        shown = {0, *(event - reads_from for event in (*window, *(point or ())))}
        places = sorted(place for place in shown if place >= 0)
        lesson = lesson.only(places)
        if point is not None:
            row, column = (places.index(event - reads_from) for event in point)
            where = (row, column)
    return MusicLesson(
        lesson=lesson,
        n_layers=n_layers,
        start_s=float(onset_s[min(first, len(ids) - 1)]),
        point=where,
        bits_masked=next_event_bits(pipeline.model, read),
        bits_open=next_event_bits(pipeline.model, read, causal=False),
    )
