"""The quality card of a take: what can be measured of it, beside what real music gives.

Shapes: N notes, T events, K attributes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from musicgen.checkpoint import read_manifest
from musicgen.errors import CheckpointError
from musicgen.evaluation import Faults, Ranges, find_faults, heard_notes, ranges_of, surprise
from musicgen.evaluation.bits import sliding_windows
from musicgen.evaluation.copies import CopyReport
from musicgen.midi import MidiDocument, NoteTable, read_midi
from musicgen.pipeline.take import Take

if TYPE_CHECKING:
    from musicgen.pipeline.music import MusicPipeline


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityCard:
    """What can be measured of a piece. How it sounds is for the listener to say.

    Attributes:
        ranges: Its figures beside the corpus of the shipped reference.
        bits_per_note: How surprised its own model is by it; None for a piece without a note.
        held_out_bits_per_note: The same of music that it never saw, as its makers measured it; None
            where they did not.
        faults: Loops, silences, notes held for ever.
        copies: The longest passage it shares with the model's training music; None where the model
            carries no index of that.
    """

    ranges: Ranges
    bits_per_note: float | None
    held_out_bits_per_note: float | None
    faults: Faults
    copies: CopyReport | None

    @property
    def n_faults(self) -> int:
        """All faults together."""
        return self.faults.loops + self.faults.silences + self.faults.long_notes

    @property
    def is_copied(self) -> bool:
        """Whether it shares a longer passage with the training music than any unseen music does."""
        return self.copies is not None and bool(self.copies.beyond)

    def as_dict(self) -> dict[str, Any]:
        """Return the card as plain data, for `--json`."""
        return {**asdict(self), "share_inside": self.ranges.share_inside}


def best_of(cards: Sequence[QualityCard]) -> int:
    """Return which of several takes is the likest to real music, by what can be measured.

    One without a copied passage comes before one with it, then the one with fewer faults, then the
    one with more figures inside the corpus's range; of equals the first.

    Raises:
        ValueError: There are none.
    """
    return min(
        range(len(cards)),
        key=lambda i: (cards[i].is_copied, cards[i].n_faults, -cards[i].ranges.share_inside),
    )


def quality_card(
    pipeline: MusicPipeline, source: Take | MidiDocument | bytes | Path
) -> QualityCard:
    """Measure a take of a model, or any music beside it.

    Args:
        pipeline: The model.
        source: A take, of which the new notes alone count; or a MIDI file, all of which counts.

    Raises:
        MidiReadError: The file cannot be read.
        TokenizerError: It holds music that the model's tokens cannot tell.
        CheckpointError: The model's index of its training music is damaged.
        ConfigError: The shipped reference cannot be used.
    """
    if not isinstance(source, Take):
        source = source if isinstance(source, MidiDocument) else read_midi(source)
    notes = _counted(source)
    return QualityCard(
        ranges=ranges_of(notes),
        bits_per_note=_bits_per_note(pipeline, source, len(notes)),
        held_out_bits_per_note=_held_out(pipeline),
        faults=find_faults(notes),
        copies=_copies(pipeline, source),
    )


def _counted(source: Take | MidiDocument) -> NoteTable:
    if isinstance(source, MidiDocument):
        return heard_notes(source.score)
    new = source.new_notes
    start_s = source.prompt_seconds
    shifted = replace(new, onset_s=new.onset_s - start_s, end_s=new.end_s - start_s)
    return heard_notes(shifted)


def _bits_per_note(
    pipeline: MusicPipeline, source: Take | MidiDocument, n_notes: int
) -> float | None:
    """Return the bits of the counted events a counted note, each predicted from all before it."""
    if not n_notes:
        return None
    tokenizer = pipeline.tokenizer
    ids = source.ids if isinstance(source, Take) else tokenizer.encode(source.score)
    first = max(1, source.new_from) if isinstance(source, Take) else 1
    windows = [
        replace(window, first_scored=max(window.first_scored, first))
        for window in sliding_windows(0, len(ids), pipeline.model.config.max_seq_len)
        if window.start + window.n_rows > first
    ]
    found = surprise(pipeline.model, np.asarray(ids), windows, batch_size=4)
    return float(found.bits().sum()) / n_notes


def _held_out(pipeline: MusicPipeline) -> float | None:
    if pipeline.folder is None:
        return None
    figures = read_manifest(pipeline.folder).training.get("figures")
    bits = figures.get("bits_per_note") if isinstance(figures, dict) else None
    return bits if isinstance(bits, float) else None


def _copies(pipeline: MusicPipeline, source: Take | MidiDocument) -> CopyReport | None:
    try:
        return pipeline.check_copies(source)
    except CheckpointError as error:
        if error.code == "no-copy-index":
            return None
        raise
