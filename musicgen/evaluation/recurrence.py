"""What comes again: passages of four seconds nearly as they were, and harmony over longer spans.

Shapes: N notes, G onsets at which passages begin, W stretches of time.
"""

from __future__ import annotations

import numpy as np

from musicgen.corpus.keys import sounding_seconds
from musicgen.midi import NoteTable

PASSAGE_S = 4.0
PASSAGE_STEP_S = 0.1
ALIKE = 0.75
"""Cosine from which on two passages are the same."""

FEWEST_NOTES = 4
"""A passage with fewer is too bare to be called a repetition."""

STRETCH_S = 2.0
_HOP_S = 1.0


def repeated_share(notes: NoteTable, onsets_s: np.ndarray, seconds: float) -> float:
    """Return the share of 4-second passages that sound again within the excerpt.

    A passage begins at each onset and holds the notes that begin in the next four seconds. As a
    vector of keys by tenths of a second (a note between two tenths is shared out between them) it
    is compared by cosine with every passage that begins at least four seconds before or after it.

    Args:
        notes: Of an excerpt (N,).
        onsets_s: Where its onsets are (G,), ascending.
        seconds: Length of the excerpt.
    """
    starts_s = onsets_s[onsets_s <= seconds - PASSAGE_S]
    vectors, enough = _passages(notes, starts_s)
    starts_s, vectors = starts_s[enough], vectors[enough]
    if not len(starts_s):
        return float("nan")
    likeness = vectors @ vectors.T
    apart = np.abs(starts_s[:, None] - starts_s) >= PASSAGE_S - 1e-6
    best = np.where(apart, likeness, 0.0).max(axis=1)
    return float((best >= ALIKE).mean())


def _passages(notes: NoteTable, starts_s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return unit vectors (G, keys · steps) float32, and whether each holds enough notes (G,)."""
    keys, key = np.unique(notes.pitch, return_inverse=True)
    n_steps = round(PASSAGE_S / PASSAGE_STEP_S) + 1
    low = np.searchsorted(notes.onset_s, starts_s - 1e-6)
    high = np.searchsorted(notes.onset_s, starts_s + PASSAGE_S - 1e-6)
    counts = high - low
    row = np.repeat(np.arange(len(starts_s)), counts)
    note = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts) + low[row]
    at = np.maximum(notes.onset_s[note] - starts_s[row], 0.0) / PASSAGE_STEP_S
    step = np.floor(at).astype(np.int64)
    width = len(keys) * n_steps
    place = row * width + key[note] * n_steps + step
    flat = np.bincount(place, weights=1 - (at - step), minlength=len(starts_s) * width)
    flat += np.bincount(place + 1, weights=at - step, minlength=len(flat))
    vectors = flat.reshape(len(starts_s), width).astype(np.float32)
    norm = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(norm > 0, norm, 1), counts >= FEWEST_NOTES


def self_similarity(notes: NoteTable, seconds: float, low_s: float, high_s: float) -> float:
    """Return how like the best earlier or later stretch each stretch of two seconds is.

    A stretch is the seconds that each pitch class sounds in it, less the excerpt's mean; two are
    compared by cosine. The figure is the mean over stretches of the best of those that begin from
    `low_s` up to but not including `high_s` away.
    """
    edges_s = np.arange(0.0, seconds + _HOP_S / 2, _HOP_S)
    chroma = sounding_seconds(notes, edges_s)
    stretches = chroma[:-1] + chroma[1:]
    stretches = stretches - stretches.mean(axis=0)
    norm = np.linalg.norm(stretches, axis=1, keepdims=True)
    unit = stretches / np.where(norm > 1e-9, norm, 1.0)
    likeness = unit @ unit.T
    lag_s = np.abs(np.subtract.outer(np.arange(len(unit)), np.arange(len(unit)))) * _HOP_S
    wanted = (lag_s >= low_s) & (lag_s < high_s)
    rows = wanted.any(axis=1)
    if not rows.any():
        return float("nan")
    return float(np.where(wanted, likeness, -1.0).max(axis=1)[rows].mean())
