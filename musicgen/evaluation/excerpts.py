"""Pieces as a model's tokens give them, and excerpts of equal length cut from them.

Real and generated music go the same way: the sustain pedal is folded into the notes' lengths, then
the piano scheme encodes and decodes them. So neither is told from the other by its grid of 10 ms,
its 32 velocities, its rounded lengths or its pedal events.

Shapes: N notes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from musicgen.corpus import list_music
from musicgen.errors import MidiReadError, TokenizerError
from musicgen.midi import NoteTable, read_midi
from musicgen.tokens import get_tokenizer

if TYPE_CHECKING:
    from symusic.core import ScoreTick

SCHEME = "piano"
"""The token scheme through which all music goes before it is measured."""

ENOUGH = 0.95  # of an excerpt's length: takes are allowed to end so early
_SLACK_S = 1e-6  # onsets lie on a grid of 10 ms, but as floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Excerpt:
    """Some seconds of a piece.

    Attributes:
        piece: What the piece is called; excerpts of one piece are not independent.
        start_s: Where in the piece it begins.
        seconds: How long it is.
        notes: The notes that begin in it (N,), counted from its start; none ends after it.
    """

    piece: str
    start_s: float
    seconds: float
    notes: NoteTable = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FolderPieces:
    """What a folder holds.

    Attributes:
        folder: Where it was read.
        notes: Of each file with music, by its path below the folder, as `heard_notes` gives them.
        unreadable: Files without music that can be read.
    """

    folder: Path
    notes: Mapping[str, NoteTable] = field(repr=False)
    unreadable: int

    def filling(self, seconds: float) -> int:
        """Return how many pieces are long enough for one excerpt at least."""
        return sum(_fills(notes, seconds) for notes in self.notes.values())

    def excerpts(self, seconds: float) -> list[Excerpt]:
        """Return the excerpts of all pieces, in their order."""
        return [
            excerpt
            for piece, notes in self.notes.items()
            for excerpt in cut_excerpts(notes, piece=piece, seconds=seconds)
        ]


def heard_notes(source: ScoreTick | NoteTable) -> NoteTable:
    """Return the notes of a score (pedal folded) or a table as the piano tokens give them.

    Raises:
        TokenizerError: The music is longer than a day.
    """
    tokenizer = get_tokenizer(SCHEME)
    return tokenizer.decode_events(tokenizer.encode(source)).notes


def cut_excerpt(notes: NoteTable, *, piece: str, start_s: float, seconds: float) -> Excerpt:
    """Cut an excerpt: the notes that begin in it, their ends no later than its own."""
    low, high = np.searchsorted(notes.onset_s, np.array([start_s, start_s + seconds]) - _SLACK_S)
    part = notes.select(slice(int(low), int(high)))
    shifted = NoteTable.of(
        np.maximum(part.onset_s - start_s, 0.0),
        np.minimum(part.end_s - start_s, seconds),
        part.pitch,
        part.velocity,
    )
    return Excerpt(piece=piece, start_s=start_s, seconds=seconds, notes=shifted)


def cut_excerpts(
    notes: NoteTable, *, piece: str, seconds: float, stride_s: float | None = None
) -> Iterator[Excerpt]:
    """Cut a piece into excerpts, from its start.

    Args:
        notes: The piece, as `heard_notes` returns it.
        piece: What it is called.
        seconds: Length of an excerpt.
        stride_s: From the start of one to that of the next; None for `seconds`. An excerpt counts
            if the piece sounds to 95% of it at least.
    """
    start_s = 0.0
    while _fills(notes, seconds, start_s=start_s):
        yield cut_excerpt(notes, piece=piece, start_s=start_s, seconds=seconds)
        start_s += seconds if stride_s is None else stride_s


def _fills(notes: NoteTable, seconds: float, *, start_s: float = 0.0) -> bool:
    end_s = float(notes.end_s.max(initial=0.0))
    return end_s >= start_s + ENOUGH * seconds - _SLACK_S


def read_pieces(folder: Path) -> Iterator[tuple[int, int] | FolderPieces]:
    """Read a folder's pieces; yield (files read, files in all), then the pieces.

    Args:
        folder: MIDI files at any depth.

    Raises:
        CorpusError: There is no such folder, or no MIDI file in it.
    """
    paths = list_music(folder)
    found: dict[str, NoteTable] = {}
    for done, path in enumerate(paths, start=1):
        # What cannot be read is counted: the number of files less that of the pieces.
        with suppress(MidiReadError, TokenizerError):
            found[path.relative_to(folder).as_posix()] = heard_notes(read_midi(path).score)
        yield done, len(paths)
    yield FolderPieces(folder=folder, notes=found, unreadable=len(paths) - len(found))
