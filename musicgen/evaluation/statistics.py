"""What an excerpt is like, in figures that anyone can recompute: see docs/evaluation.md.

Shapes: N notes, G onsets, B bins of a histogram.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from itertools import pairwise

import numpy as np

from musicgen.corpus.keys import key_correlations, sounding_seconds, tonic_of
from musicgen.evaluation.excerpts import Excerpt
from musicgen.evaluation.histograms import HISTOGRAM_EDGES, shares
from musicgen.evaluation.onsets import onsets, sounding_time
from musicgen.evaluation.recurrence import repeated_share, self_similarity
from musicgen.midi import NoteTable

DECIMALS = 6
"""Figures are rounded: equal times on the grid are equal figures, in a file too."""

MOVEMENT_S = 4.0
_MOVEMENT_NOTES = 4
KEY_WINDOW_S, _KEY_HOP_S, _KEY_NOTES = 8.0, 4.0, 8
NEAR_S, FAR_S = (4.0, 15.0), (15.0, float("inf"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """Figures of one excerpt; nan where there are too few notes to have one.

    Attributes:
        notes_per_s: Notes, over the excerpt's length.
        polyphony: Mean of how many notes sound, over the time in which any does.
        onset_notes: Notes an onset.
        pitch_mean: Mean pitch (MIDI number).
        pitch_range: Highest less lowest pitch, in semitones.
        pitch_class_entropy: Of the notes' pitch classes, in bits.
        interval: Mean size of the step from a note to the next, in semitones.
        ioi_s: Median time from an onset to the next.
        ioi_spread: Standard deviation of its binary logarithm.
        length_s: Median length of a note, the pedal's part included.
        ringing_share: Notes that still sound at the second onset after theirs: pedal use.
        velocity_mean: Mean velocity.
        velocity_spread: Standard deviation of the velocity.
        velocity_mean_movement: How far the mean moves from four seconds to the next four.
        velocity_spread_movement: How far the spread does.
        key_clarity: Correlation of the sounding pitch classes with the best key's profile.
        key_stability: Stretches of eight seconds whose best key is the excerpt's.
        repeated_share: Passages of four seconds that sound again.
        similarity_near: How like its best match 4 to 15 s away two seconds' harmony is.
        similarity_far: The same, 15 s and more away.
        longest_silence_s: Longest time without a sound between the first onset and the last end.
        longest_note_s: Length of the longest note, within the excerpt.
    """

    notes_per_s: float
    polyphony: float
    onset_notes: float
    pitch_mean: float
    pitch_range: float
    pitch_class_entropy: float
    interval: float
    ioi_s: float
    ioi_spread: float
    length_s: float
    ringing_share: float
    velocity_mean: float
    velocity_spread: float
    velocity_mean_movement: float
    velocity_spread_movement: float
    key_clarity: float
    key_stability: float
    repeated_share: float
    similarity_near: float
    similarity_far: float
    longest_silence_s: float
    longest_note_s: float

    def as_dict(self) -> dict[str, float]:
        """Return the figures by name, in the order of the fields."""
        return {name: getattr(self, name) for name in STATISTICS}


STATISTICS = tuple(part.name for part in fields(Statistics))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """An excerpt's figures.

    Attributes:
        piece: The piece it is from.
        start_s: Where in the piece it begins.
        statistics: One number each.
        histograms: Shares by name, each (B,) with sum 1; all 0 where there is nothing to count.
    """

    piece: str
    start_s: float
    statistics: Statistics
    histograms: Mapping[str, np.ndarray] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Series:
    """What several figures are made from.

    Attributes:
        onset_s: Where the onsets are (G,).
        size: Notes of each onset (G,), int64.
        ioi_s: From each onset to the next (G − 1,).
        interval: From each note to the next, in semitones (N − 1,).
        key: Best key of the excerpt.
        clarity: Its correlation.
    """

    onset_s: np.ndarray
    size: np.ndarray
    ioi_s: np.ndarray
    interval: np.ndarray
    key: int
    clarity: float


def measure(excerpt: Excerpt) -> Measured:
    """Measure one excerpt."""
    notes, seconds = excerpt.notes, excerpt.seconds
    series = _series(notes, seconds)
    sounding_s = sounding_time(notes)
    return Measured(
        piece=excerpt.piece,
        start_s=excerpt.start_s,
        statistics=_rounded(_statistics(notes, seconds, series, sounding_s)),
        histograms=_histograms(notes, series, sounding_s),
    )


def _rounded(statistics: Statistics) -> Statistics:
    values = statistics.as_dict().items()
    return Statistics(**{name: round(value, DECIMALS) for name, value in values})


def _series(notes: NoteTable, seconds: float) -> _Series:
    onset_s, size = onsets(notes)
    chroma_s = sounding_seconds(notes, np.array([0.0, seconds]))[0]
    correlations = key_correlations(chroma_s)
    key = int(correlations.argmax())
    return _Series(
        onset_s=onset_s,
        size=size,
        ioi_s=np.diff(onset_s),
        interval=np.diff(notes.pitch),
        key=key,
        clarity=float(correlations[key]) if len(notes) else float("nan"),
    )


def _statistics(
    notes: NoteTable, seconds: float, series: _Series, sounding_s: np.ndarray
) -> Statistics:
    mean_movement, spread_movement = _movement(notes, seconds)
    length_s = notes.end_s - notes.onset_s
    any_s = float(sounding_s[1:].sum())
    return Statistics(
        notes_per_s=len(notes) / seconds,
        polyphony=float(length_s.sum()) / any_s if any_s > 0 else float("nan"),
        onset_notes=_mean(series.size),
        pitch_mean=_mean(notes.pitch),
        pitch_range=float(np.ptp(notes.pitch)) if len(notes) else float("nan"),
        pitch_class_entropy=_entropy(np.bincount(notes.pitch % 12, minlength=12)),
        interval=_mean(np.abs(series.interval)),
        ioi_s=_median(series.ioi_s),
        ioi_spread=float(np.log2(series.ioi_s).std()) if len(series.ioi_s) else float("nan"),
        length_s=_median(length_s),
        ringing_share=_ringing_share(notes, series.onset_s),
        velocity_mean=_mean(notes.velocity),
        velocity_spread=float(notes.velocity.std()) if len(notes) else float("nan"),
        velocity_mean_movement=mean_movement,
        velocity_spread_movement=spread_movement,
        key_clarity=series.clarity,
        key_stability=_key_stability(notes, seconds, series.key),
        repeated_share=repeated_share(notes, series.onset_s, seconds),
        similarity_near=self_similarity(notes, seconds, *NEAR_S),
        similarity_far=self_similarity(notes, seconds, *FAR_S),
        longest_silence_s=_longest_silence_s(notes),
        longest_note_s=float(length_s.max()) if len(notes) else float("nan"),
    )


def _histograms(notes: NoteTable, series: _Series, sounding_s: np.ndarray) -> dict[str, np.ndarray]:
    degree = (notes.pitch - tonic_of(series.key)) % 12
    values = {
        "degree": degree,
        "pitch": notes.pitch,
        "interval": series.interval,
        "ioi": series.ioi_s,
        "length": notes.end_s - notes.onset_s,
        "velocity": notes.velocity,
        "onset_notes": series.size,
    }
    found = {name: shares(name, value) for name, value in values.items()}
    found["polyphony"] = shares("polyphony", np.arange(len(sounding_s)), sounding_s)
    return {name: found[name] for name in HISTOGRAM_EDGES}


def _ringing_share(notes: NoteTable, onset_s: np.ndarray) -> float:
    mine = np.searchsorted(onset_s, notes.onset_s, side="right") - 1
    second = mine + 2
    within = second < len(onset_s)
    if not within.any():
        return float("nan")
    return float((notes.end_s[within] > onset_s[second[within]] + 1e-6).mean())


def _movement(notes: NoteTable, seconds: float) -> tuple[float, float]:
    """Return how far mean and spread of the velocity move between neighbouring four seconds."""
    stretch = np.floor((notes.onset_s + 1e-6) / MOVEMENT_S).astype(np.int64)
    n_stretches = int(seconds // MOVEMENT_S)
    notes_in = [notes.velocity[stretch == index] for index in range(n_stretches)]
    moves = [
        (abs(b.mean() - a.mean()), abs(b.std() - a.std()))
        for a, b in pairwise(notes_in)
        if min(len(a), len(b)) >= _MOVEMENT_NOTES
    ]
    if not moves:
        return float("nan"), float("nan")
    of_mean, of_spread = np.mean(moves, axis=0)
    return float(of_mean), float(of_spread)


def _key_stability(notes: NoteTable, seconds: float, key: int) -> float:
    starts_s = np.arange(0.0, seconds - KEY_WINDOW_S + 1e-6, _KEY_HOP_S)
    edges_s = np.arange(0.0, seconds + 1e-6, _KEY_HOP_S)
    chroma = sounding_seconds(notes, edges_s)
    windows = chroma[: len(starts_s)] + chroma[1 : len(starts_s) + 1]
    low = np.searchsorted(notes.onset_s, starts_s - 1e-6)
    high = np.searchsorted(notes.onset_s, starts_s + KEY_WINDOW_S - 1e-6)
    enough = high - low >= _KEY_NOTES
    if not enough.any():
        return float("nan")
    best = key_correlations(windows[enough]).argmax(axis=1)
    return float((best == key).mean())


def _longest_silence_s(notes: NoteTable) -> float:
    if not len(notes):
        return float("nan")
    sounds_to_s = np.maximum.accumulate(notes.end_s)
    return float(max(0.0, (notes.onset_s[1:] - sounds_to_s[:-1]).max(initial=0.0)))


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _median(values: np.ndarray) -> float:
    return float(np.median(values)) if len(values) else float("nan")


def _entropy(counts: np.ndarray) -> float:
    if not counts.sum():
        return float("nan")
    chances = counts[counts > 0] / counts.sum()
    return float(-(chances * np.log2(chances)).sum())
