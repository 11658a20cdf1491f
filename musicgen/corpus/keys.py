"""Keys: the profiles of Krumhansl and Kessler, and how steadily music keeps to one.

A key is a number: 0 to 11 the major keys from C, 12 to 23 the minor ones.
"""

from __future__ import annotations

import numpy as np

from musicgen.midi import NoteTable

# C. L. Krumhansl, E. J. Kessler: "Tracing the dynamic changes in perceived tonal organization",
# Psychological Review 89 (1982); correlated as in Krumhansl, "Cognitive Foundations of Musical
# Pitch" (1990), chapter 4.
_MAJOR = (6.35, 2.23, 3.48, 2.33, 4.38, 4.09, 2.52, 5.19, 2.39, 3.66, 2.29, 2.88)
_MINOR = (6.33, 2.68, 3.52, 5.38, 2.60, 3.53, 2.54, 4.75, 3.98, 2.69, 3.34, 3.17)


def _profiles() -> np.ndarray:
    rows = [np.roll(profile, tonic) for profile in (_MAJOR, _MINOR) for tonic in range(12)]
    centred = np.array(rows) - np.mean(rows, axis=1, keepdims=True)
    return centred / np.linalg.norm(centred, axis=1, keepdims=True)


_PROFILES = _profiles()


def sounding_seconds(notes: NoteTable, edges_s: np.ndarray) -> np.ndarray:
    """Return how long each pitch class sounds between successive edges (E,): (E − 1, 12)."""
    before = np.clip(
        edges_s[:, None] - notes.onset_s, 0.0, np.maximum(notes.end_s - notes.onset_s, 0.0)
    )
    of_class = np.eye(12)[notes.pitch % 12]
    return np.diff(before @ of_class, axis=0)


def key_correlations(weights: np.ndarray) -> np.ndarray:
    """Return how pitch-class weights (…, 12) correlate with the 24 keys: (…, 24)."""
    centred = weights - weights.mean(axis=-1, keepdims=True)
    norm = np.linalg.norm(centred, axis=-1, keepdims=True)
    return (centred / np.where(norm > 1e-9, norm, 1.0)) @ _PROFILES.T


def tonic_of(key: int) -> int:
    """Return a key's tonic, 0 to 11 from C."""
    return key % 12
