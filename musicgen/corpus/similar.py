"""Pairs of like pieces among many, without comparing each with each.

The numbers of a MinHash are cut into bands; pieces that agree in a whole band are candidates. Those
with a share J of common shingles are with probability 1 − (1 − J³)⁹⁶: 0.5 at J = 0.2, 0.97 at 0.33,
0.998 at 0.4 (Leskovec, Rajaraman and Ullman, "Mining of Massive Datasets", chapter 3).

Legend: N pieces, P numbers of a MinHash, C pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from musicgen.corpus.components import Components
from musicgen.corpus.fingerprints import N_MINHASH, Fingerprint, likeness

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from musicgen.corpus.music import Music

BANDS, ROWS = 96, 3
LEAST_SHARE = 0.33
"""Of their shingles taken together, that two pieces must share to be held the same music.

Where one note in twenty was changed they share more than half, where one in ten, two fifths; two
performances of one composition share a tenth mostly, and 0.32 at most (docs/corpus.md)."""
LEAST_COMMON = 4
"""Shingles that they must share at least: less is chance, or too short to tell."""
_SURELY_UNLIKE = 0.15  # by the MinHash, whose standard error is 0.03
_ALL_PAIRS = 32  # pieces in a bucket, or found alike, up to which all pairs are looked at
_NEIGHBOURS = 8  # in a larger one: each piece and its nearest in the MinHashes' order
_CHUNK = 8192


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Pair:
    """Two pieces that are alike: their numbers, the smaller first, and the share of shingles."""

    first: int
    second: int
    share: float


def similar_pairs(music: Sequence[Music]) -> list[Pair]:
    """Return the pairs of pieces that are the same music as it is played, or as it is written."""
    best: dict[tuple[int, int], Pair] = {}
    played = [piece.played for piece in music]
    written = [piece.written or piece.played for piece in music]
    has_tempi = any(piece.written is not None for piece in music)
    for pair in [*_similar(played), *(_similar(written) if has_tempi else ())]:
        key = (pair.first, pair.second)
        if key not in best or pair.share > best[key].share:
            best[key] = pair
    return sorted(best.values())


def share_of(one: Music, other: Music) -> float:
    """Return the share that makes two pieces the same music, or 0 where they are not."""
    views = [(one.played, other.played)]
    if one.written is not None or other.written is not None:
        views.append((one.written or one.played, other.written or other.played))
    return max(_enough(*view) for view in views)


def _enough(one: Fingerprint, other: Fingerprint) -> float:
    like = likeness(one, other)
    return like.share if like.share >= LEAST_SHARE and like.common >= LEAST_COMMON else 0.0


def _similar(fingerprints: Sequence[Fingerprint]) -> list[Pair]:
    """Return the pairs with like fingerprints.

    Where very many pieces are alike, not every pair of them is compared; those that are join them.
    """
    numbers = [n for n, each in enumerate(fingerprints) if len(each.sample) >= LEAST_COMMON]
    if len(numbers) < 2:
        return []
    minhash = np.stack([fingerprints[number].minhash for number in numbers])
    components = Components(len(numbers))
    labels = components.labels()
    compared = np.zeros(0, dtype=np.int64)
    pairs: list[Pair] = []
    for band in range(BANDS):
        found = np.setdiff1d(_candidates(minhash, band), compared)
        found = found[_open(found, labels)]
        found = found[_agree(minhash, found)]
        compared = np.union1d(compared, found)
        before = len(pairs)
        for first, second in np.stack(_both(found, len(numbers)), axis=1).tolist():
            share = _enough(fingerprints[numbers[first]], fingerprints[numbers[second]])
            if share:
                pairs.append(Pair(first=numbers[first], second=numbers[second], share=share))
                components.join(first, second)
        if len(pairs) > before:
            labels = components.labels()
    return pairs


def _open(pairs: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which pairs (C,) say anything new: not those within a large class of like pieces."""
    first, second = _both(pairs, len(labels))
    size = np.bincount(labels, minlength=len(labels))
    return (labels[first] != labels[second]) | (size[labels[first]] <= _ALL_PAIRS)


def _candidates(minhash: NDArray[np.uint32], band: int) -> NDArray[np.int64]:
    """Return the pairs that agree in a band, as first · N + second, int64 (C,)."""
    n_pieces = len(minhash)
    columns = minhash[:, band * ROWS : (band + 1) * ROWS]
    # Ties are put in the order of whole MinHashes' neighbours: the next columns, around the end.
    others = [
        minhash[:, (band * ROWS + step) % N_MINHASH] for step in range(ROWS + 3, ROWS - 1, -1)
    ]
    order = np.lexsort((*others, *columns.T))
    ordered = columns[order]
    new = (ordered[1:] != ordered[:-1]).any(axis=1)
    borders = np.concatenate(([0], np.flatnonzero(new) + 1, [n_pieces]))
    parts = list(_pairs_in_buckets(order, borders))
    if not parts:
        return np.zeros(0, dtype=np.int64)
    pairs = np.sort(np.concatenate(parts), axis=1)
    return pairs[:, 0] * n_pieces + pairs[:, 1]


def _pairs_in_buckets(
    order: NDArray[np.int64], borders: NDArray[np.int64]
) -> Iterator[NDArray[np.int64]]:
    large = np.flatnonzero(np.diff(borders) > 1)
    for start, stop in zip(borders[large].tolist(), borders[large + 1].tolist(), strict=True):
        bucket = order[start:stop]
        reach = len(bucket) - 1 if len(bucket) <= _ALL_PAIRS else _NEIGHBOURS
        for step in range(1, reach + 1):
            yield np.stack((bucket[:-step], bucket[step:]), axis=1)
        if reach == _NEIGHBOURS:
            yield np.stack((np.full(len(bucket) - 1, bucket[0]), bucket[1:]), axis=1)


def _agree(minhash: NDArray[np.uint32], pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which pairs (C,) their whole MinHashes do not rule out."""
    first, second = _both(pairs, len(minhash))
    agree = np.zeros(len(pairs), dtype=bool)
    for start, stop in pairwise([*range(0, len(pairs), _CHUNK), len(pairs)]):
        equal = minhash[first[start:stop]] == minhash[second[start:stop]]
        agree[start:stop] = equal.mean(axis=1) >= _SURELY_UNLIKE
    return agree


def _both(pairs: NDArray[np.int64], n_pieces: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return pairs // n_pieces, pairs % n_pieces
