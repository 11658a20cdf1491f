"""What became of the files of a folder: kept, or refused and why."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field

from musicgen.corpus.words import told_changed, told_reasons


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One piece in a corpus.

    Attributes:
        path: Where it was read, relative to the folder.
        split: "train" or "validation".
        start: Row of its first event in the split's file.
        n_events: Its events, the first and the last included.
        n_notes: Its notes.
        seconds: From 0 to the end of its last note.
        digest: SHA-256 of its events: equal music, equal digest.
        warnings: Codes of what was left out or repaired.
        group: Name of the group of like pieces that it belongs to, which lies on one side.
    """

    path: str
    split: str
    start: int
    n_events: int
    n_notes: int
    seconds: float
    digest: str
    warnings: tuple[str, ...] = ()
    group: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """One file that is not in the corpus.

    Attributes:
        path: Where it was read, relative to the folder.
        code: Short name of the reason.
        message: The reason as a sentence.
    """

    path: str
    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusReport:
    """The pieces of a corpus, the files left out, and how the split was made.

    Attributes:
        pieces: What was kept, in the order of the paths.
        refused: What was not.
        split_rule: A sentence on how training and validation pieces were told apart.
        warnings: Sentences on what may flatter the held-out figures.
    """

    pieces: tuple[Piece, ...]
    refused: tuple[Refusal, ...]
    split_rule: str
    warnings: tuple[str, ...] = field(default=())

    def of_split(self, split: str) -> tuple[Piece, ...]:
        """Return the pieces of one split."""
        return tuple(piece for piece in self.pieces if piece.split == split)

    def fingerprint(self) -> str:
        """Return a digest of what is trained on and what is held out, in its order.

        Names and times of the files do not count: a folder that was copied is the same music.
        """
        lines = [f"{piece.split}\0{piece.digest}\0{piece.n_events}\n" for piece in self.pieces]
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    def refused_by_code(self) -> dict[str, int]:
        """Return how many files each reason cost, the commonest first."""
        return dict(Counter(refusal.code for refusal in self.refused).most_common())

    def warned_by_code(self) -> dict[str, int]:
        """Return in how many kept files each thing was left out or repaired."""
        return dict(Counter(code for p in self.pieces for code in p.warnings).most_common())

    def sentence(self) -> str:
        """Say it all in one sentence."""
        train, held = self.of_split("train"), self.of_split("validation")
        length = told_length(sum(piece.seconds for piece in self.pieces))
        notes = sum(piece.n_notes for piece in self.pieces)
        n_pieces = len({piece.path for piece in self.pieces})
        text = f"{told_count(n_pieces, 'piece')}, {notes:,} notes, {length}"
        if len(self.pieces) == n_pieces:  # none is split within itself
            text += f": {len(train):,} to train on, {len(held):,} held out"
        text += f". {self.split_rule}"
        if self.refused:
            by_code = self.refused_by_code()
            text += f" {told_count(len(self.refused), 'file')} left out: {told_reasons(by_code)}."
            if {"duplicate", "near-duplicate"} & set(by_code):
                text += " Of files with the same music one is used."
        warned = self.warned_by_code()
        if warned:
            text += f" Read with changes: {told_changed(warned)}."
        return " ".join((text, *self.warnings))


def told_count(number: int, what: str) -> str:
    """Return a number of things as words."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def told_clock(seconds: float) -> str:
    """Return the length of one piece as words: 45 s, 21 min 19 s."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes:,} min {rest} s" if minutes else f"{rest} s"


def told_length(seconds: float) -> str:
    """Return a length of music as words, in a unit that suits it."""
    if seconds < 100:
        return told_count(round(seconds), "second")
    if seconds < 6000:
        return told_count(round(seconds / 60), "minute")
    return f"{seconds / 3600:,.1f} hours"
