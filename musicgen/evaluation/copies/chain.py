"""Fingerprints that agree, joined to passages.

A shared passage shows as hits on one diagonal: same piece, same transposition, and time moving on
in both at a rate that agrees with the durations of the fingerprints themselves. The best chain of
each diagonal is found by dynamic programming over its hits.

Legend: H hits, G notes a fingerprint, P earlier hits that are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LONGEST_GAP_S = 3.0
_LOOK_BACK = 64
_SLACK_S, _SLACK = 0.1, 0.25
"""How far a hit may lie from where the rate puts it: seconds, and as a share of the step."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Hits:
    """Agreements between a take and a corpus.

    Attributes:
        rows: Indices of the take's notes, int64 (H, G).
        take_s: Onset of the first note in the take, float64 (H,).
        take_end_s: Onset of the last note in the take, float64 (H,).
        piece: Index of the piece, int64 (H,).
        piece_s: Onset of the first note in the piece, float64 (H,).
        transposition: Pitch in the take less pitch in the piece, int64 (H,).
        rate: Seconds of the piece that a second of the take stands for, float64 (H,).
    """

    rows: NDArray[np.int64]
    take_s: NDArray[np.float64]
    take_end_s: NDArray[np.float64]
    piece: NDArray[np.int64]
    piece_s: NDArray[np.float64]
    transposition: NDArray[np.int64]
    rate: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.take_s)

    def select(self, picked: NDArray) -> Hits:
        """Return the hits that a mask or indices pick."""
        return Hits(**{name: getattr(self, name)[picked] for name in self.__dataclass_fields__})

    def in_order(self) -> Hits:
        """Return them by piece and transposition, then by time."""
        return self.select(
            np.lexsort((self.piece_s, self.take_end_s, self.take_s, self.transposition, self.piece))
        )


def chains(hits: Hits) -> Iterator[tuple[int, list[int]]]:
    """Yield the best chain of each diagonal: an estimate of its notes, and the hits in it.

    Args:
        hits: In the order of `Hits.in_order`.
    """
    if not len(hits):
        return
    new = (np.diff(hits.piece) != 0) | (np.diff(hits.transposition) != 0)
    starts = [0, *(np.flatnonzero(new) + 1).tolist(), len(hits)]
    gram = hits.rows.shape[1]
    for start, stop in pairwise(starts):
        if stop - start == 1:
            yield gram, [start]
        else:
            notes, chain = _best_chain(hits, start, stop)
            yield notes, chain


def _best_chain(hits: Hits, start: int, stop: int) -> tuple[int, list[int]]:
    rows, take_s, end_s = (
        column[start:stop] for column in (hits.rows, hits.take_s, hits.take_end_s)
    )
    piece_s, log_rate = hits.piece_s[start:stop], np.log(hits.rate[start:stop])
    notes = np.full(len(rows), rows.shape[1])
    before = np.full(len(rows), -1)
    for now in range(1, len(rows)):
        earlier = slice(max(0, now - _LOOK_BACK), now)
        rate = np.exp((log_rate[earlier] + log_rate[now]) / 2)
        step_s = take_s[now] - take_s[earlier]
        expected_s = rate * step_s
        fits = (
            (take_s[now] - end_s[earlier] <= LONGEST_GAP_S)
            & (np.abs(log_rate[now] - log_rate[earlier]) <= _SLACK)
            & (
                np.abs(piece_s[now] - piece_s[earlier] - expected_s)
                <= _SLACK_S + _SLACK * expected_s
            )
        )
        candidates = np.flatnonzero(fits) + earlier.start
        if not len(candidates):
            continue
        known = (rows[now][None, :, None] == rows[candidates][:, None, :]).any(axis=2).sum(axis=1)
        reached = notes[candidates] + rows.shape[1] - known
        best = int(reached.argmax())
        if reached[best] > notes[now]:
            notes[now], before[now] = reached[best], candidates[best]
    at = int(notes.argmax())
    longest = int(notes[at])
    chain = []
    while at >= 0:
        chain.append(start + at)
        at = int(before[at])
    return longest, chain[::-1]
