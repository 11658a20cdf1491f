"""From pieces to a copy index, and the yardstick beside it.

Legend: N notes, E entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from musicgen.corpus import list_music
from musicgen.corpus.outline import LOWER, UPPER, fingerprints
from musicgen.errors import CorpusError, MidiReadError
from musicgen.evaluation.copies.check import find_copies
from musicgen.evaluation.copies.index import (
    TIME_S,
    CopyIndex,
    CopySettings,
    Yardstick,
    duration_seal,
    duration_steps,
    pitch_seal,
    shorten,
)
from musicgen.midi import NoteTable, note_table, read_midi

if TYPE_CHECKING:
    from musicgen.corpus import Corpus
    from musicgen.tokens import Tokenizer

EXCERPT_LENGTHS_S = (30.0, 60.0, 120.0)
_COLUMNS = ("hashes", "times", "sealed_pitch", "sealed_duration")


def folder_pieces(root: Path) -> Iterator[tuple[str, NoteTable]]:
    """Yield name and notes of every readable MIDI file of a folder; drums are left out.

    Raises:
        CorpusError: There is no such folder, or no MIDI file in it.
    """
    for path in list_music(root):
        try:
            notes = note_table(read_midi(path).score)
        except MidiReadError:
            continue  # training leaves it out as well
        yield path.relative_to(root).as_posix(), notes


def corpus_pieces(
    corpus: Corpus, tokenizer: Tokenizer, split: str = "train"
) -> Iterator[tuple[str, NoteTable]]:
    """Yield name and notes of every piece of a run's corpus.

    Args:
        corpus: The corpus.
        tokenizer: The one it was made with.
        split: "train" or "validation".
    """
    events = corpus.events(split)
    for piece in corpus.pieces(split):
        ids = np.asarray(events[piece.start : piece.start + piece.n_events], dtype=np.int64)
        yield piece.path, tokenizer.decode_events(ids).notes


def build_copy_index(
    pieces: Iterable[tuple[str, NoteTable]], settings: CopySettings = CopySettings()
) -> CopyIndex:
    """Build the index of a corpus.

    Args:
        pieces: Name and notes of each piece.
        settings: How fingerprints are taken.

    Raises:
        CorpusError: There is no piece.
    """
    names: list[str] = []
    parts: list[dict[str, np.ndarray]] = []
    for name, notes in pieces:
        names.append(name)
        parts.append(_entries(notes, settings))
    if not names:
        raise CorpusError(
            "There is no piece to build a copy index of.", hint="Give a folder of MIDI files."
        )
    columns = {key: np.concatenate([part[key] for part in parts]) for key in _COLUMNS}
    counts = [len(part["hashes"]) for part in parts]
    _, kinds, places = np.unique(columns["hashes"], return_inverse=True, return_counts=True)
    kept = places[kinds] <= settings.most_places
    piece = np.repeat(np.arange(len(counts)), counts)[kept]
    return CopyIndex(
        settings=settings,
        pieces=tuple(names),
        counts=tuple(np.bincount(piece, minlength=len(names)).tolist()),
        hashes=columns["hashes"][kept],
        times=columns["times"][kept],
        sealed_pitch=columns["sealed_pitch"][kept],
        sealed_duration=columns["sealed_duration"][kept],
    )


def with_yardstick(
    index: CopyIndex,
    pieces: Iterable[tuple[str, NoteTable]],
    lengths_s: Iterable[float] = EXCERPT_LENGTHS_S,
) -> CopyIndex:
    """Return the index with the figures of held-out music: excerpts one after another.

    Args:
        index: The index of the training corpus.
        pieces: Name and notes of pieces that are not in it.
        lengths_s: Lengths of the excerpts.

    Raises:
        CorpusError: No piece is as long as an excerpt.
    """
    found: dict[float, list[tuple[int, float]]] = {length: [] for length in lengths_s}
    for _, notes in pieces:
        for length_s, figures in found.items():
            for excerpt in _excerpts(notes, length_s):
                passage = find_copies(index, excerpt).passage
                figures.append((passage.notes, passage.seconds) if passage else (0, 0.0))
    rows = tuple(_row(length, figures) for length, figures in found.items() if figures)
    if not rows:
        raise CorpusError(
            "No held-out piece is as long as an excerpt.", hint="Give longer or more pieces."
        )
    return replace(index, yardstick=rows)


def _entries(notes: NoteTable, settings: CopySettings) -> dict[str, np.ndarray]:
    """Return the columns of one piece's entries (E,), sorted by time."""
    found = [
        fingerprints(
            notes.onset_s,
            notes.pitch,
            window_s=settings.window_s,
            line=line,
            gram=settings.gram,
            spacing=settings.spacing,
        )
        for line in (UPPER, LOWER)
    ]
    hashes = np.concatenate([part.hashes for part in found])
    rows = np.concatenate([part.rows for part in found])
    first, last = notes.onset_s[rows[:, 0]], notes.onset_s[rows[:, -1]]
    columns = {
        "hashes": shorten(hashes),
        "times": np.rint(first / TIME_S).astype(np.uint32),
        "sealed_pitch": (notes.pitch[rows[:, 0]].astype(np.uint8) + pitch_seal(hashes))
        & np.uint8(127),
        "sealed_duration": duration_steps(last - first) + duration_seal(hashes),
    }
    order = np.argsort(first, kind="stable")
    return {key: column[order] for key, column in columns.items()}


def _excerpts(notes: NoteTable, length_s: float) -> Iterator[NoteTable]:
    end_s = float(notes.onset_s[-1]) if len(notes) else 0.0
    for start_s in np.arange(0, end_s - length_s, length_s).tolist():
        inside = slice(*np.searchsorted(notes.onset_s, (start_s, start_s + length_s)).tolist())
        yield notes.select(inside)


def _row(length_s: float, figures: list[tuple[int, float]]) -> Yardstick:
    notes, seconds = np.array(figures).T
    return Yardstick(
        excerpt_s=length_s,
        excerpts=len(figures),
        notes_50=float(np.percentile(notes, 50)),
        notes_95=float(np.percentile(notes, 95)),
        notes_max=int(notes.max()),
        seconds_50=round(float(np.percentile(seconds, 50)), 2),
        seconds_95=round(float(np.percentile(seconds, 95)), 2),
        seconds_max=round(float(seconds.max()), 2),
    )
