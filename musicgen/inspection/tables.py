"""Attention as tables in CSV (UTF-8, comma, a header line), for a spreadsheet or pandas.

Events, layers and heads are counted from 1, as the studio counts them. No text of a file goes in,
so no cell can be taken for a formula.

Shapes: L layers, H heads, T events, N notes, C kinds of habits, G bars.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from musicgen.midi import plain_note_name

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from musicgen.inspection.habits import Habits

_START, _END = "start", "end"
_STEPS = 10_000  # weights have four decimals


def map_csv(
    weights: ArrayLike,
    onset_s: ArrayLike,
    pitch: ArrayLike,
    *,
    first_event: int = 0,
    has_end: bool = False,
) -> bytes:
    """Return a map with the events that look down and those that are looked at across.

    Args:
        weights: (T, T).
        onset_s: When each event sounds (T,); NaN for one that is no note.
        pitch: Of each event (T,); NaN for one that is no note.
        first_event: Number of the first in the whole piece.
        has_end: Whether the last one ends the piece: it and the start are named where notes are.
    """
    square, onsets, pitches = (
        np.asarray(each, dtype=np.float64) for each in (weights, onset_s, pitch)
    )
    numbers = [str(first_event + place + 1) for place in range(len(square))]
    head = ["event", "onset_s", "note", *(f"to_{number}" for number in numbers)]
    names = ["" if np.isnan(key) else plain_note_name(int(key)) for key in pitches.tolist()]
    if not first_event and names[0] == "":
        names[0] = _START
    if has_end:
        names[-1] = _END
    labels = [
        f"{number},{_seconds(onset)},{name}"
        for number, onset, name in zip(numbers, onsets.tolist(), names, strict=True)
    ]
    return _matrix(head, labels, square)


def bars_csv(weights: ArrayLike, names: Sequence[str]) -> bytes:
    """Return means by bar, those that look down and those that are looked at across.

    Args:
        weights: (G, G).
        names: Of the bars, in digits or times.
    """
    return _matrix(["bar", *(f"to_{name}" for name in names)], list(names), np.asarray(weights))


def habits_csv(habits: Habits) -> bytes:
    """Return what every head looks at, a line a head, and what chance would give, in a last one."""
    lines = ["layer,head," + ",".join(habits.kinds) + ",events_at_once,seconds_back"]
    for layer, heads in enumerate(habits.weights):
        for head, weights in enumerate(heads):
            shares = ",".join(f"{weight:.4f}" for weight in weights)
            back = habits.back_s[layer, head]
            lines.append(
                f"{layer + 1},{head + 1},{shares},{habits.events[layer, head]:.2f},"
                + ("" if np.isnan(back) else f"{back:.2f}")
            )
    lines.append("chance,," + ",".join(f"{share:.4f}" for share in habits.chance) + ",,")
    return _file(lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One look from note to note.

    Attributes:
        layer: Counted from 1, or what several are called.
        heads: The same.
        from_s: Onset of the note that looks.
        from_pitch: Its key.
        to_s: Onset of the note that is looked at.
        to_pitch: Its key.
        weight: How much, 0 to 1.
    """

    layer: str
    heads: str
    from_s: float
    from_pitch: int
    to_s: float
    to_pitch: int
    weight: float


def looks_csv(looks: Iterable[Look]) -> bytes:
    """Return looks from note to note, a line each."""
    lines = ["layer,heads,from_onset_s,from_note,to_onset_s,to_note,weight"]
    lines += [
        f"{look.layer},{look.heads},{_seconds(look.from_s)},{plain_note_name(look.from_pitch)},"
        f"{_seconds(look.to_s)},{plain_note_name(look.to_pitch)},{look.weight:.4f}"
        for look in looks
    ]
    return _file(lines)


def _matrix(head: Sequence[str], labels: Sequence[str], weights: NDArray) -> bytes:
    """Return numbers with names; what lies above the diagonal, the future, is left empty."""
    texts = [f"{step / _STEPS:.4f}".rstrip("0").rstrip(".") for step in range(_STEPS + 1)]
    steps = np.rint(np.clip(weights, 0, 1) * _STEPS).astype(np.int64)
    width = len(steps)
    lines = [",".join(head)]
    for row, label in enumerate(labels):
        cells = ",".join([texts[step] for step in steps[row, : row + 1].tolist()])
        lines.append(f"{label},{cells}{',' * (width - row - 1)}")
    return _file(lines)


def _seconds(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.2f}"


def _file(lines: Sequence[str]) -> bytes:
    return ("\r\n".join(lines) + "\r\n").encode("utf-8")
