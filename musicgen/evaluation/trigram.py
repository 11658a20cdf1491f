"""A trigram over the flattened attributes: the yardstick below which a model must lie.

Legend: N events, K attributes, V ids of an attribute.

Each attribute is predicted from the two attributes before it in the flat order, which for the
first attributes of an event are the last ones of the event before. Interpolated with bigram,
unigram and uniform by Witten and Bell's rule (1991): a context that was followed by many different
ids trusts itself less.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from musicgen.evaluation.bits import Surprise


class Trigram:
    """Counts of one, two and three attributes in a row, attribute by attribute."""

    def __init__(self, vocab_sizes: Sequence[int]) -> None:
        """Start with no counts."""
        self._sizes = tuple(vocab_sizes)
        self._counts: list[list[dict[int, int]]] = []

    def fit(self, pieces: Sequence[np.ndarray]) -> Trigram:
        """Count the events (N, K) of the training pieces; return self."""
        self._counts = []
        for k in range(len(self._sizes)):
            orders = []
            for order in (1, 2, 3):
                keys = np.concatenate([self._keys(ids, k, order) for ids in pieces])
                values, counts = np.unique(keys, return_counts=True)
                orders.append(dict(zip(values.tolist(), counts.tolist(), strict=True)))
            self._counts.append(orders)
        return self

    def surprise(self, pieces: Sequence[np.ndarray]) -> Surprise:
        """Sum the negative log-likelihood of every event but the first of each piece."""
        nats = np.zeros(len(self._sizes))
        for k, size in enumerate(self._sizes):
            probability = np.full(sum(max(0, len(ids) - 1) for ids in pieces), 1.0 / size)
            for order in (1, 2, 3):
                keys = np.concatenate([self._keys(ids, k, order) for ids in pieces])
                probability = self._interpolate(k, order, keys, probability)
            nats[k] = -np.log(probability).sum()
        return Surprise(nats=nats, n_events=sum(max(0, len(ids) - 1) for ids in pieces))

    def counts(self, k: int, order: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what was counted of attribute `k` after `order` − 1 others.

        Returns:
            The keys `context · V_k + id`, ascending, and how often each came, both int64.
        """
        table = self._counts[k][order - 1]
        keys = np.fromiter(table.keys(), dtype=np.int64, count=len(table))
        return keys, np.fromiter(table.values(), dtype=np.int64, count=len(table))

    def _interpolate(self, k: int, order: int, keys: np.ndarray, below: np.ndarray) -> np.ndarray:
        counts, size = self._counts[k][order - 1], self._sizes[k]
        totals: dict[int, int] = {}
        kinds: dict[int, int] = {}
        for key, count in counts.items():
            context = key // size
            totals[context] = totals.get(context, 0) + count
            kinds[context] = kinds.get(context, 0) + 1
        contexts = keys // size
        seen = _look_up(counts, keys)
        total, kind = _look_up(totals, contexts), _look_up(kinds, contexts)
        weight = np.maximum(total + kind, 1.0)
        return np.where(total > 0, (seen + kind * below) / weight, below)

    def _keys(self, ids: np.ndarray, k: int, order: int) -> np.ndarray:
        """Return one number for each (context, id) of attribute k in events 1 … N − 1."""
        flat = ids.astype(np.int64).reshape(-1)
        n_attributes = len(self._sizes)
        at = np.arange(1, len(ids)) * n_attributes + k
        key = np.zeros(len(at), dtype=np.int64)
        for back in range(order - 1, -1, -1):
            # With one attribute a piece's second event has only one before it.
            position = np.maximum(at - back, 0)
            key = key * self._sizes[(k - back) % n_attributes] + flat[position]
        return key


def _look_up(table: dict[int, int], keys: np.ndarray) -> np.ndarray:
    unique, inverse = np.unique(keys, return_inverse=True)
    return np.array([table.get(key, 0) for key in unique.tolist()], dtype=np.float64)[inverse]
