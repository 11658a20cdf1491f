"""Which events each step reads: a function of seed and step, of nothing else.

Legend: N events of the corpus, K attributes, B windows a step, T events a window predicts.

In every epoch each piece is cut into windows at another phase, and one window more begins at its
first event, since every generation begins there. Windows are read from the pieces one after
another without padding; the last of a piece may run into the next one, behind its start event.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from musicgen.corpus import Piece
from musicgen.errors import CorpusError


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """The part of every step's windows that one of several processes reads.

    Attributes:
        index: Which process, from 0.
        of: How many there are.
    """

    index: int = 0
    of: int = 1

    def rows(self, n_windows: int) -> range:
        """Return which of a step's windows these are; the shares differ by one at most."""
        return range(self.index * n_windows // self.of, (self.index + 1) * n_windows // self.of)


WHOLE = Share()


class WindowSampler:
    """Gives the batch of any step, in any order."""

    def __init__(
        self,
        events: np.ndarray,
        pieces: Sequence[Piece],
        *,
        seq_len: int,
        batch_size: int,
        seed: int,
    ) -> None:
        """Prepare.

        Args:
            events: The training events (N, K).
            pieces: Where each piece begins and how long it is.
            seq_len: T; shortened where the corpus is shorter.
            batch_size: B.
            seed: Names the order.

        Raises:
            CorpusError: There are fewer than two events.
        """
        if len(events) < 2:
            raise CorpusError("There is not one event to predict.", hint="Add longer pieces.")
        self._events, self._seed, self.batch_size = events, seed, batch_size
        self.seq_len = min(seq_len, len(events) - 1)
        self._starts = np.array([piece.start for piece in pieces])
        self._inner = np.array([piece.n_events // self.seq_len for piece in pieces])
        self.windows_an_epoch = int(len(pieces) + self._inner.sum())
        self.events_an_epoch = self.windows_an_epoch * self.seq_len
        self.events_a_step = batch_size * self.seq_len
        self._epoch, self._order = -1, np.zeros(0, dtype=np.int64)

    def batch(self, step: int, share: Share = WHOLE) -> np.ndarray:
        """Return the events (B, T + 1, K), int64, of a step, counted from 0, or a share of them."""
        chosen, rows = share.rows(self.batch_size), self.seq_len + 1
        batch = np.empty((len(chosen), rows, self._events.shape[1]), dtype=np.int64)
        for place, row in enumerate(chosen):
            start = self._start(step * self.batch_size + row)
            batch[place] = self._events[start : start + rows]
        return batch

    def _start(self, index: int) -> int:
        epoch, within = divmod(index, self.windows_an_epoch)
        if epoch != self._epoch:
            self._epoch, self._order = epoch, self._epoch_starts(epoch)
        return int(self._order[within])

    def _epoch_starts(self, epoch: int) -> np.ndarray:
        """Return the first rows of the epoch's windows, in the order in which they are read."""
        random = np.random.default_rng((self._seed, epoch))
        phases = random.integers(0, self.seq_len, len(self._starts))
        inner = [
            start + phase + self.seq_len * np.arange(count)
            for start, phase, count in zip(self._starts, phases, self._inner, strict=True)
        ]
        starts = np.concatenate([self._starts, *inner])
        # Nothing stands behind the last piece: its last window moves back to end with it.
        starts = np.minimum(starts, len(self._events) - self.seq_len - 1)
        return random.permutation(starts)


def validation_rows(n_windows: int, n_wanted: int) -> list[int]:
    """Choose which of all held-out windows are looked at, spread evenly: always the same."""
    chosen = np.linspace(0, max(0, n_windows - 1), min(n_windows, n_wanted))
    return np.unique(chosen.astype(int)).tolist()
