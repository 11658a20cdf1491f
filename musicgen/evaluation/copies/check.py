"""The copy check: the longest passage that notes share with a corpus, and what to make of it.

That a copy is judged by what real music shares with the same corpus is the idea of the originality
report (Yin, Reuben, Stepney, Collins, "Measuring when a music generation algorithm copies too
much", SN Computer Science 3, 2022).

Legend: N notes of the take, H hits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from musicgen.corpus.outline import LOWER, UPPER, fingerprints
from musicgen.evaluation.copies.chain import Hits, chains
from musicgen.evaluation.copies.index import CopyIndex, Yardstick

if TYPE_CHECKING:
    from musicgen.midi import NoteTable

STRETCHES = (0.5, 0.6, 0.71, 0.84, 1.0, 1.19, 1.41, 1.68, 2.0)
"""The take is read with windows of these multiples: what was stretched by one of them has the very
same outline, and what lies between is met from both sides."""
MOST_TRANSPOSED = 24
FASTEST = 2.5
_CANDIDATES = 24
_NEAR = 0.75
"""Passages with this share of the longest one's notes, at the same place of the take, are held to
be the same music in other performances or repeats; the one whose timing fits best is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedPassage:
    """A passage of a take that stands in a piece of the corpus too.

    Attributes:
        notes: Notes of the take's melody and bass lines that agree with the piece.
        seconds: From the first of them to the last.
        take_start_s: Where the first stands in the take.
        take_end_s: Where the last one stands in the take.
        piece: File name of the piece.
        piece_start_s: Where the first stands in the piece.
        piece_end_s: Where the last stands in the piece.
        transposition: Semitones by which the take lies higher.
        tempo: Seconds of the piece a second of the take: above 1 the take is faster.
        timing_ms: How far the onsets lie from one steady tempo (root mean square): about 10 for a
            copy of the very performance, hundreds for another one of the same music.
        also_in: Other pieces that hold the same passage.
    """

    notes: int
    seconds: float
    take_start_s: float
    take_end_s: float
    piece: str
    piece_start_s: float
    piece_end_s: float
    transposition: int
    tempo: float
    timing_ms: float
    also_in: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyReport:
    """What a take shares with the training corpus.

    Attributes:
        passage: The longest shared passage; None where not one fingerprint agrees.
        yardstick: The same figure for held-out music of about the take's length; None where the
            index has none.
        beyond: Whether the passage is longer than any of held-out music; None without a yardstick.
        verdict: What to make of it, in a sentence.
    """

    passage: SharedPassage | None
    yardstick: Yardstick | None
    beyond: bool | None
    verdict: str

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain data, for `--json`."""
        return asdict(self)


def find_copies(index: CopyIndex, notes: NoteTable) -> CopyReport:
    """Return the longest passage that notes share with the corpus of an index.

    Args:
        index: The corpus's fingerprints.
        notes: The notes (N,) in seconds.
    """
    passage = _longest(index, notes)
    length_s = float(notes.onset_s[-1] - notes.onset_s[0]) if len(notes) else 0.0
    yardstick = _yardstick_for(index.yardstick, length_s)
    beyond = None if yardstick is None else bool(passage and passage.notes > yardstick.notes_max)
    return CopyReport(
        passage=passage,
        yardstick=yardstick,
        beyond=beyond,
        verdict=_verdict(passage, yardstick),
    )


def _longest(index: CopyIndex, notes: NoteTable) -> SharedPassage | None:
    hits = _hits(index, notes)
    best = sorted(chains(hits), key=lambda found: -found[0])[:_CANDIDATES]
    # A chain may count some notes twice; what is estimated at less than half cannot win.
    best = [found for found in best if found[0] >= best[0][0] / 2]
    passages = [_passage(index, notes, hits.select(np.array(chain))) for _, chain in best]
    if not passages:
        return None
    passages.sort(key=lambda passage: (-passage.notes, passage.timing_ms))
    longest = passages[0]
    same = [
        passage
        for passage in passages
        if passage.notes >= _NEAR * longest.notes
        and passage.take_start_s < longest.take_end_s
        and longest.take_start_s < passage.take_end_s
    ]
    closest = min(same, key=lambda passage: (passage.timing_ms / passage.notes, passage.piece))
    others = sorted({passage.piece for passage in same} - {closest.piece})
    return SharedPassage(**{**asdict(closest), "also_in": tuple(others)})


def _hits(index: CopyIndex, notes: NoteTable) -> Hits:
    """Return all agreements (H,) that a transposed and stretched copy could make."""
    settings = index.settings
    found = [
        fingerprints(
            notes.onset_s,
            notes.pitch,
            window_s=settings.window_s * stretch,
            line=line,
            gram=settings.gram,
        )
        for line in (UPPER, LOWER)
        for stretch in STRETCHES
    ]
    hashes = np.concatenate([part.hashes for part in found])
    rows = np.concatenate([part.rows for part in found])
    # Read with several windows, most of the outline comes out the same.
    _, once = np.unique(hashes + rows[:, 0].astype(np.uint64), return_index=True)
    hashes, rows = hashes[once], rows[once]
    asked, entries = index.look_up(hashes)
    hashes, rows = hashes[asked], rows[asked]
    take_s, take_end_s = notes.onset_s[rows[:, 0]], notes.onset_s[rows[:, -1]]
    hits = Hits(
        rows=rows,
        take_s=take_s,
        take_end_s=take_end_s,
        piece=index.piece_of(entries),
        piece_s=index.seconds_of(entries),
        transposition=notes.pitch[rows[:, 0]] - index.pitch_of(entries, hashes),
        rate=index.duration_of(entries, hashes) / np.maximum(take_end_s - take_s, 0.02),
    )
    plausible = (np.abs(hits.transposition) <= MOST_TRANSPOSED) & (
        np.abs(np.log(hits.rate)) <= math.log(FASTEST)
    )
    return hits.select(plausible).in_order()


def _passage(index: CopyIndex, notes: NoteTable, chain: Hits) -> SharedPassage:
    rows = np.unique(chain.rows)
    start_s, end_s = float(notes.onset_s[rows[0]]), float(notes.onset_s[rows[-1]])
    tempo, timing_ms = _timing(chain)
    piece_start_s = float(chain.piece_s[0])
    return SharedPassage(
        notes=len(rows),
        seconds=round(end_s - start_s, 3),
        take_start_s=round(start_s, 3),
        take_end_s=round(end_s, 3),
        piece=index.pieces[int(chain.piece[0])],
        piece_start_s=round(piece_start_s, 2),
        piece_end_s=round(piece_start_s + tempo * (end_s - start_s), 2),
        transposition=int(chain.transposition[0]),
        tempo=round(tempo, 3),
        timing_ms=round(timing_ms, 1),
    )


def _timing(chain: Hits) -> tuple[float, float]:
    """Return the rate of a chain, and how far (ms) its onsets lie from it."""
    take_s = chain.take_s - chain.take_s.mean()
    piece_s = chain.piece_s - chain.piece_s.mean()
    spread = float((take_s**2).sum())
    if spread < 0.25:  # two hits at one place tell no tempo
        return float(np.exp(np.log(chain.rate).mean())), 0.0
    tempo = float((take_s * piece_s).sum()) / spread
    return tempo, 1000 * float(np.sqrt(np.mean((piece_s - tempo * take_s) ** 2)))


def _yardstick_for(rows: Sequence[Yardstick], length_s: float) -> Yardstick | None:
    """Return the row whose excerpts are nearest to a length, as a ratio."""
    if not rows:
        return None
    return min(rows, key=lambda row: abs(math.log(row.excerpt_s / max(length_s, 1.0))))


def _verdict(passage: SharedPassage | None, yardstick: Yardstick | None) -> str:
    if passage is None:
        return "No passage is shared with the training corpus."
    shared = (
        f"{passage.notes} notes in {passage.seconds:.1f} s from {passage.take_start_s:.1f} s on "
        f"are shared with {passage.piece} from {passage.piece_start_s:.1f} s on"
    )
    if yardstick is None:
        return f"{shared}; what held-out music shares has not been measured."
    if passage.notes > yardstick.notes_max:
        return (
            f"{shared}: more than any held-out music shares with the corpus "
            f"(at most {yardstick.notes_max}). This is a copy."
        )
    if passage.notes > yardstick.notes_95:
        return (
            f"{shared}: much, but within what held-out music shares with the corpus "
            f"(95%: at most {yardstick.notes_95:.0f}; most: {yardstick.notes_max})."
        )
    return (
        f"{shared}: as held-out music does too (95% share at most {yardstick.notes_95:.0f} notes)."
    )
