"""Where things lie in a piano roll: long music is broken into rows, as in a score.

Shapes: N notes, R rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MARGIN_PX = 16
LEFT_PX = 74  # the keyboard and its labels
RULER_PX = 22
GAP_PX = 16
LEGEND_PX = 26
PEDAL_PX = 10
TITLE_PX = 30
_ROW_S = 60.0
_ONE_ROW_S = 80.0
_MOST_ROWS = 12
_FEWEST_KEYS = 24
_LOW, _HIGH = 0, 127


@dataclass(frozen=True, slots=True, kw_only=True)
class RollPlan:
    """The layout of a piano roll, in pixels of the picture.

    Attributes:
        width_px: Of the whole picture.
        height_px: Of the whole picture.
        low: The lowest key shown.
        high: The highest key shown.
        row_s: Seconds a row.
        row_tops_px: Where the notes of each row begin, from above, (R,).
        notes_px: Height of a row's notes.
        has_pedal: Whether a strip for the pedal lies below each row's notes.
        legend_top_px: Where the legend begins.
    """

    width_px: int
    height_px: int
    low: int
    high: int
    row_s: float
    row_tops_px: tuple[float, ...]
    notes_px: float
    has_pedal: bool
    legend_top_px: float

    @property
    def key_px(self) -> float:
        """Height of one key."""
        return self.notes_px / (self.high - self.low + 1)

    @property
    def right_px(self) -> float:
        """Where the rows end."""
        return self.width_px - MARGIN_PX

    @property
    def second_px(self) -> float:
        """Width of a second."""
        return (self.right_px - LEFT_PX) / self.row_s

    def row_of(self, seconds: float) -> int:
        """Return the row in which a time lies."""
        return min(max(int(seconds // self.row_s), 0), len(self.row_tops_px) - 1)

    def x(self, seconds: float, row: int) -> float:
        """Return how far to the right a time lies in its row, kept within the row."""
        inside = min(max(seconds - row * self.row_s, 0.0), self.row_s)
        return LEFT_PX + inside * self.second_px

    def y(self, pitch: int, row: int) -> float:
        """Return where a key's lane begins, from above."""
        return self.row_tops_px[row] + (self.high - pitch) * self.key_px


def plan_roll(
    end_s: ArrayLike,
    pitch: ArrayLike,
    *,
    width_px: int = 1600,
    height_px: int | None = None,
    has_pedal: bool = False,
    has_title: bool = False,
) -> RollPlan:
    """Lay out a roll of notes that end at `end_s` (N,) and lie at `pitch` (N,).

    Args:
        end_s: Where the notes end.
        pitch: 0 to 127.
        width_px: Of the picture.
        height_px: Of the picture; by default what its rows need.
        has_pedal: Leave room for the pedal.
        has_title: Leave room for a title.
    """
    seconds = max(float(np.max(end_s, initial=0.0)), 1.0)
    rows = 1 if seconds <= _ONE_ROW_S else min(math.ceil(seconds / _ROW_S), _MOST_ROWS)
    low, high = _keys(np.asarray(pitch))
    top = MARGIN_PX + (TITLE_PX if has_title else 0)
    around = RULER_PX + (PEDAL_PX + 3 if has_pedal else 0)
    if height_px is None:
        a_key = 9.0 if rows == 1 else 5.0
        notes_px = min(max((high - low + 1) * a_key, 150.0), 620.0 if rows == 1 else 320.0)
    else:
        free = height_px - top - MARGIN_PX - LEGEND_PX - rows * around - (rows - 1) * GAP_PX
        notes_px = max(free / rows, 24.0)
    pitch_of_rows = around + notes_px + GAP_PX
    legend_top = top + rows * pitch_of_rows - GAP_PX + 8
    return RollPlan(
        width_px=width_px,
        height_px=height_px or math.ceil(legend_top + LEGEND_PX + MARGIN_PX - 8),
        low=low,
        high=high,
        row_s=seconds / rows if rows > 1 else seconds * 1.01,
        row_tops_px=tuple(top + RULER_PX + row * pitch_of_rows for row in range(rows)),
        notes_px=notes_px,
        has_pedal=has_pedal,
        legend_top_px=legend_top,
    )


def _keys(pitch: np.ndarray) -> tuple[int, int]:
    """Return the lowest and highest key to show: all that sound and a few more."""
    if not len(pitch):
        return 48, 72
    low, high = int(pitch.min()) - 2, int(pitch.max()) + 2
    short = max(_FEWEST_KEYS - (high - low + 1), 0)
    low, high = low - short // 2, high + (short + 1) // 2
    return max(low, _LOW), min(high, _HIGH)
