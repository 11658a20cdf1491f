"""Measuring habits: which events are of which kind to which note, and how much falls on them.

Shapes: L layers, H heads, T events, C kinds, N notes, B beats, R bars; I rows, J columns of a part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from musicgen.inspection.habits import KINDS, Habits
from musicgen.inspection.view import AttentionView

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_TOGETHER_S = 0.03
_NEAR_BEATS = 0.125  # a thirty-second note of common time: a performance is no closer
_ROWS = 64


def find_habits(
    view: AttentionView, *, beat_s: ArrayLike | None = None, bar_s: ArrayLike | None = None
) -> Habits:
    """Measure what each head looks at from the notes of a piece.

    Rows are those of the notes themselves (`AttentionView.looking_back`).

    Args:
        view: The maps, and whose rows are whose.
        beat_s: Where beats begin, ascending, in seconds (B,), B ≥ 2; None if there are none.
        bar_s: Where bars begin (R,), R ≥ 2; None if there are none.

    Raises:
        ValueError: The view holds no note.
    """
    rows = np.flatnonzero(view.note_index >= 0)
    if not len(rows):
        raise ValueError("there must be a note to look from")
    music = _Music.of(view, beat_s, bar_s)
    n_layers, n_heads = view.weights.shape[:2]
    kinds = music.kinds
    shape = (n_layers * n_heads, len(kinds))
    weights, chance = np.zeros(shape), np.zeros(len(kinds))
    events, back, on_others = (np.zeros(shape[0]) for _ in range(3))
    # Some rows at a time: the masks of all at 2,048 events would take 150 MB.
    for begin in range(0, len(rows), _ROWS):
        part = rows[begin : begin + _ROWS]
        end = int(part[-1]) + 1
        masks = music.masks(part, end)
        seen = view.weights[:, :, part, :end].reshape(shape[0], len(part), end)
        seen = seen.astype(np.float32)
        flat = seen.reshape(shape[0], -1)
        weights += flat @ masks.reshape(len(kinds), -1).T
        chance += (masks / (part + 1)[:, None]).sum(axis=(1, 2))
        events += (1 / np.maximum(np.square(seen).sum(axis=2), 1e-9)).sum(axis=1)
        others, ago_s = music.others(part, end)
        back += flat @ ago_s.ravel()
        on_others += flat @ others.ravel()
    by_head = (n_layers, n_heads)
    with np.errstate(invalid="ignore", divide="ignore"):
        back_s = np.where(on_others > 1e-3 * len(rows), back / on_others, np.nan)
    return Habits(
        kinds=kinds,
        weights=(weights / len(rows)).reshape(*by_head, -1).astype(np.float32),
        chance=(chance / len(rows)).astype(np.float32),
        events=(events / len(rows)).reshape(by_head).astype(np.float32),
        back_s=back_s.reshape(by_head).astype(np.float32),
        n_notes=len(rows),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Music:
    """The events as habits are told by.

    Attributes:
        onset_s: NaN for an event that is no note, (T,); likewise the others.
        pitch: (T,).
        beat: In beats from the start, with fractions (T,); None without beats.
        bar: In bars, with fractions (T,); None without bars.
        a_bar: Beats a bar around each event (T,).
    """

    onset_s: NDArray[np.float64]
    pitch: NDArray[np.float64]
    beat: NDArray[np.float64] | None
    bar: NDArray[np.float64] | None
    a_bar: NDArray[np.float64]

    @classmethod
    def of(cls, view: AttentionView, beat_s: ArrayLike | None, bar_s: ArrayLike | None) -> _Music:
        is_note = view.note_index >= 0
        of_note = view.notes[view.note_index]
        onset_s = np.where(is_note, of_note[:, 0], np.nan)
        beat = None if beat_s is None else _places(onset_s, beat_s)
        bar, a_bar = None, np.ones(len(onset_s))
        if beat_s is not None and bar_s is not None:
            bar = _places(onset_s, bar_s)
            starts = _places(np.asarray(bar_s, dtype=np.float64), beat_s)
            last = np.clip(np.nan_to_num(bar).astype(int), 0, len(starts) - 2)
            a_bar = np.maximum(np.diff(starts)[last], 1e-9)
        return cls(
            onset_s=onset_s,
            pitch=np.where(is_note, of_note[:, 2], np.nan),
            beat=beat,
            bar=bar,
            a_bar=a_bar,
        )

    @property
    def kinds(self) -> tuple[str, ...]:
        missing = {"beat"} if self.beat is None else set()
        missing |= {"bar"} if self.bar is None else set()
        return tuple(kind for kind in KINDS if kind not in missing)

    def masks(self, rows: NDArray[np.int64], end: int) -> NDArray[np.float32]:
        """Return which of the events 0 to `end` are of which kind to `rows`, 0 or 1 (C, I, J)."""
        column = np.arange(end)
        is_past = column < rows[:, None]
        with np.errstate(invalid="ignore"):
            interval = self.pitch[rows][:, None] - self.pitch[:end]
            ago_s = self.onset_s[rows][:, None] - self.onset_s[:end]
            before = np.concatenate(([np.nan], self.pitch[: end - 1]))
            follows = self.pitch[rows][:, None] == before
            found = {
                "first": np.broadcast_to(column == 0, is_past.shape),
                "itself": column == rows[:, None],
                "previous": column == rows[:, None] - 1,
                "together": is_past & (np.abs(ago_s) < _TOGETHER_S),
                "same_key": is_past & (interval == 0),
                "octave": is_past & (interval != 0) & (interval % 12 == 0),
                "after_same": is_past & follows,
            }
            for kind, place, tolerance in (
                ("beat", self.beat, np.full(len(rows), _NEAR_BEATS)),
                ("bar", self.bar, _NEAR_BEATS / self.a_bar[rows]),
            ):
                if place is not None:
                    ago = place[rows][:, None] - place[:end]
                    found[kind] = is_past & (np.abs(ago - 1) <= tolerance[:, None] + 1e-9)
        return np.stack([found[kind] for kind in self.kinds]).astype(np.float32)

    def others(
        self, rows: NDArray[np.int64], end: int
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return which events are earlier notes (I, J), and how far back they lie (I, J)."""
        ago_s = self.onset_s[rows][:, None] - self.onset_s[:end]
        is_other = (np.arange(end) < rows[:, None]) & ~np.isnan(ago_s)
        return is_other.astype(np.float32), np.where(is_other, ago_s, 0).astype(np.float32)


def _places(onset_s: NDArray[np.float64], lines_s: ArrayLike) -> NDArray[np.float64]:
    """Return where onsets (T,) lie among lines, in lines and fractions; NaN stays NaN.

    Raises:
        ValueError: There are fewer than two lines, or they do not ascend.
    """
    lines = np.asarray(lines_s, dtype=np.float64)
    if lines.ndim != 1 or len(lines) < 2 or not (np.diff(lines) > 0).all():
        raise ValueError("beats and bars must be two instants at least, ascending")
    return np.interp(onset_s, lines, np.arange(len(lines)))
