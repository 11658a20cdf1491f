"""What became of the files of a folder: kept, or refused and why."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field


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
    """

    path: str
    split: str
    start: int
    n_events: int
    n_notes: int
    seconds: float
    digest: str
    warnings: tuple[str, ...] = ()


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
        hours = sum(piece.seconds for piece in self.pieces) / 3600
        notes = sum(piece.n_notes for piece in self.pieces)
        n_pieces = len({piece.path for piece in self.pieces})  # one may be split within itself
        pieces = "piece" if n_pieces == 1 else "pieces"
        text = (
            f"{n_pieces} {pieces}, {notes:,} notes, {hours:.1f} hours: "
            f"{len(train)} to train on, {len(held)} held out. {self.split_rule}"
        )
        if self.refused:
            reasons = ", ".join(f"{code} {n}" for code, n in self.refused_by_code().items())
            text += f" {len(self.refused)} files left out ({reasons})."
        warned = self.warned_by_code()
        if warned:
            text += " Read with changes: " + ", ".join(f"{c} {n}" for c, n in warned.items()) + "."
        return text
