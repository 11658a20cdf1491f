"""One pass of the trunk that keeps its attention weights.

Shapes: B batch, L layers, H heads, T events, S keys, K attributes, N notes.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from musicgen.errors import NoNumbersError
from musicgen.inspection.view import AttentionView
from musicgen.model import AttentionRecord, Decoder
from musicgen.tokens import Tokenizer


class _HalfRecord(AttentionRecord):
    """Keeps each layer's weights as float16 at once: half the memory, enough for a picture."""

    def keep(self, weights: Tensor) -> None:
        super().keep(weights.to(device="cpu", dtype=torch.float16))


@torch.inference_mode()
def look(decoder: Decoder, tokenizer: Tokenizer, ids: np.ndarray) -> AttentionView:
    """Return what the model attends to in a piece, or in its end if it is longer than the window.

    Args:
        decoder: The model; it is only read.
        tokenizer: Whose events `ids` are.
        ids: Events (T, K), the start event first, T ≥ 1.

    Returns:
        The view of the last `max_seq_len` events at most.

    Raises:
        NoNumbersError: The weights are no numbers.
        ValueError: There is no event.
    """
    if len(ids) == 0:
        raise ValueError("there must be at least one event to look at")
    first = max(0, len(ids) - decoder.config.max_seq_len)
    seen = ids[first:]
    record = _HalfRecord()
    device = next(decoder.parameters()).device
    decoder.trunk(torch.as_tensor(seen, dtype=torch.int64, device=device)[None], record=record)

    weights = torch.cat(record.weights).numpy()
    if not np.isfinite(weights).all():
        raise NoNumbersError

    # Decoded whole: the times of a window are those of the piece.
    decoded = tokenizer.decode_events(ids)
    rows = decoded.note_index[first:]
    kept = np.unique(rows[rows >= 0])
    notes = decoded.notes
    columns = (notes.onset_s, notes.end_s, notes.pitch, notes.velocity)
    return AttentionView(
        weights=weights,
        ids=np.array(seen, dtype=np.int64),
        note_index=np.where(rows >= 0, np.searchsorted(kept, rows), -1),
        notes=np.stack([column[kept].astype(np.float64) for column in columns], axis=1),
        first_event=first,
        has_end=tuple(ids[-1].tolist()) == tuple(tokenizer.end_event),
    )
