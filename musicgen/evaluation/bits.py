"""Bits a note: how surprised a model is by music it has not seen.

Legend: N events of a piece, K attributes, W windows, T events a window predicts.

Every event but the first of a piece is predicted once, by sliding windows in which it has at least
half a window of context (all there is, in a piece's first window). The negative log-likelihood of
all attributes of all events, rests and the end included, is divided by the number of notes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F

from musicgen.errors import NoNumbersError
from musicgen.model import Decoder


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Rows `start … start + n_rows − 1`, of which those from `first_scored` on are scored."""

    start: int
    n_rows: int
    first_scored: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Surprise:
    """Negative log-likelihoods summed.

    Attributes:
        nats: One sum an attribute (K,), float64.
        n_events: Events that were predicted.
    """

    nats: np.ndarray
    n_events: int

    def bits(self) -> np.ndarray:
        """Return the sums in bits (K,)."""
        return self.nats / math.log(2)


def sliding_windows(start: int, n_events: int, seq_len: int) -> Iterator[Window]:
    """Cover a piece so that each event but the first is scored once.

    Args:
        start: Row of the piece's first event.
        n_events: Its events.
        seq_len: Events T that a window predicts; it reads T + 1 rows.
    """
    if n_events < 2:
        return
    rows = min(seq_len + 1, n_events)
    end = start + rows
    yield Window(start=start, n_rows=rows, first_scored=start + 1)
    hop = max(1, seq_len // 2)
    while end < start + n_events:
        scored_from = end
        end = min(end + hop, start + n_events)
        yield Window(start=end - rows, n_rows=rows, first_scored=scored_from)


@torch.inference_mode()
def surprise(
    decoder: Decoder, events: np.ndarray, windows: Sequence[Window], *, batch_size: int = 16
) -> Surprise:
    """Sum the negative log-likelihood of the windows' scored events.

    Args:
        decoder: The model, on any device.
        events: Rows of events (N, K), integers.
        windows: What to read and score.
        batch_size: Windows read at once.

    Raises:
        NoNumbersError: The model's scores are no numbers, or too large for any.
    """
    device = next(decoder.parameters()).device
    n_attributes = events.shape[1]
    nats, n_events = np.zeros(n_attributes), 0
    for first in range(0, len(windows), batch_size):
        batch = windows[first : first + batch_size]
        longest = max(window.n_rows for window in batch)
        ids = np.zeros((len(batch), longest, n_attributes), dtype=np.int64)
        scored = np.zeros((len(batch), longest - 1), dtype=bool)
        for row, window in enumerate(batch):
            # Shorter windows are filled up at their end, where causal attention cannot see it.
            ids[row, : window.n_rows] = events[window.start : window.start + window.n_rows]
            scored[row, window.first_scored - window.start - 1 : window.n_rows - 1] = True
        tensor = torch.from_numpy(ids).to(device)
        mask = torch.from_numpy(scored).to(device)
        for k, logits in enumerate(decoder(tensor)):
            loss = F.cross_entropy(logits[mask].float(), tensor[:, 1:, k][mask], reduction="sum")
            nats[k] += float(loss)
        n_events += int(scored.sum())
    if not np.isfinite(nats).all():
        raise NoNumbersError
    return Surprise(nats=nats, n_events=n_events)
