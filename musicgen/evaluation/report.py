"""A model measured on a folder of music."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from musicgen.checkpoint import Checkpoint
from musicgen.corpus import list_music, nothing_usable, scan_files
from musicgen.corpus.report import Refusal
from musicgen.evaluation.bits import Window, sliding_windows, surprise

_WINDOWS_A_STEP = 64

TOKENS_A_NOTE_388 = 4.07
"""Tokens a note that the 388-event vocabulary takes on MAESTRO v2 (docs/evaluation.md)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationProgress:
    """How far the measuring is: files read, then windows scored."""

    stage: str
    done: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationReport:
    """What a model makes of a folder.

    Attributes:
        bits_per_note: Bits of all attributes of all events, over the notes.
        bits_by_attribute: The same, split by attribute.
        events_per_note: Events predicted a note.
        notes: Notes read.
        pieces: Files read.
        refused: Files left out, by reason.
        grid_ms: Grid of the onsets.
        velocity_bins: Velocities told apart.
        model: Name of the model.
        model_sha256: Hash of its weights.
    """

    bits_per_note: float
    bits_by_attribute: dict[str, float]
    events_per_note: float
    notes: int
    pieces: int
    refused: dict[str, int]
    grid_ms: float
    velocity_bins: int
    model: str
    model_sha256: str

    @property
    def nats_per_token_388(self) -> float:
        """Nats a token in the Music Transformer's vocabulary of 388 events."""
        return self.bits_per_note * float(np.log(2)) / TOKENS_A_NOTE_388

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as `--json` prints them."""
        facts = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**facts, "nats_per_token_388": self.nats_per_token_388}


def evaluate(
    checkpoint: Checkpoint, folder: Path
) -> Iterator[EvaluationProgress | EvaluationReport]:
    """Measure a model on every usable piece of a folder; yield progress, then the report.

    Args:
        checkpoint: The model.
        folder: MIDI files at any depth; held out from training, or the figures mean little.

    Raises:
        CorpusError: There is no such folder, or nothing usable in it.
    """
    paths = list_music(folder)
    tokenizer = checkpoint.tokenizer
    pieces: list[np.ndarray] = []
    refused: list[Refusal] = []
    notes = 0
    for done, found in enumerate(scan_files(paths, folder, tokenizer), start=1):
        if isinstance(found, Refusal):
            refused.append(found)
        else:
            pieces.append(found.ids)
            notes += found.n_notes
        yield EvaluationProgress(stage="read", done=done, total=len(paths))
    if not pieces:
        raise nothing_usable(folder, refused)
    events = np.concatenate(pieces)
    windows = list(_windows(pieces, checkpoint.decoder.config.max_seq_len))
    nats, n_events = np.zeros(tokenizer.n_attributes), 0
    for first in range(0, len(windows), _WINDOWS_A_STEP):
        part = surprise(checkpoint.decoder, events, windows[first : first + _WINDOWS_A_STEP])
        nats, n_events = nats + part.nats, n_events + part.n_events
        done = min(first + _WINDOWS_A_STEP, len(windows))
        yield EvaluationProgress(stage="score", done=done, total=len(windows))
    by_attribute = nats / np.log(2) / notes
    yield EvaluationReport(
        bits_per_note=float(by_attribute.sum()),
        bits_by_attribute=dict(zip(tokenizer.attribute_names, by_attribute.tolist(), strict=True)),
        events_per_note=n_events / notes,
        notes=notes,
        pieces=len(pieces),
        refused=_by_code(refused),
        grid_ms=tokenizer.grid_ms,
        velocity_bins=tokenizer.velocity_bins,
        model=checkpoint.name,
        model_sha256=checkpoint.sha256,
    )


def _windows(pieces: list[np.ndarray], seq_len: int) -> Iterator[Window]:
    start = 0
    for ids in pieces:
        yield from sliding_windows(start, len(ids), seq_len)
        start += len(ids)


def _by_code(refused: list[Refusal]) -> dict[str, int]:
    codes = [refusal.code for refusal in refused]
    return {code: codes.count(code) for code in sorted(set(codes))}
