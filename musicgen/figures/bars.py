"""Bars: histograms, and counts of whatever has a name.

Shapes: B bars.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from musicgen.figures.canvas import Canvas
from musicgen.figures.colours import theme_named
from musicgen.figures.ticks import marks, round_step

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_LEFT_PX, _RIGHT_PX, _TOP_PX, _BOTTOM_PX = 64, 30, 46, 50
_GAP_SHARE = 0.15  # of a bar's room, left free where bars are wide
_MARKS_APART_PX = 26


def bars_png(
    counts: ArrayLike,
    labels: Sequence[tuple[float, str]],
    *,
    title: str = "",
    x_label: str = "",
    y_label: str = "",
    width_px: int = 640,
    height_px: int = 300,
    theme: str = "light",
) -> bytes:
    """Draw counts as upright bars, as a PNG picture.

    Args:
        counts: Height of each bar, 0 or more (B,).
        labels: What stands under the bars: place in bars (0 is the left edge of the first, 0.5 its
            middle, B the right edge of the last), and text.
        title: Written above.
        x_label: What the bars are.
        y_label: What is counted.
        width_px: Of the picture.
        height_px: Of the picture.
        theme: "light" or "dark".

    Raises:
        ValueError: There is no bar, or a count that is negative or no number.
    """
    heights = np.asarray(counts, dtype=np.float64)
    if heights.ndim != 1 or not len(heights) or not (heights >= 0).all():
        raise ValueError("bars need one count of 0 or more each, and one bar at least")
    canvas = Canvas(width_px, height_px, theme_named(theme))
    colours = canvas.theme
    left, top = _LEFT_PX, _TOP_PX
    right, bottom = width_px - _RIGHT_PX, height_px - _BOTTOM_PX
    if title:
        canvas.text(left, 12, title, colours.ink, size_px=16)
    if y_label:
        canvas.text(right, 15, y_label, colours.soft_ink, anchor="ra")
    canvas.box(left, top, right, bottom, colours.lane)
    highest = float(heights.max()) or 1.0
    step = max(round_step(highest, 4), 1.0) if (heights % 1 == 0).all() else round_step(highest, 4)
    for value in marks(0, highest, step):
        y = bottom - value / highest * (bottom - top)
        canvas.line([(left, y), (right, y)], colours.line)
        canvas.text(left - 8, y, f"{value:,.10g}", colours.soft_ink, size_px=12, anchor="rm")
    room = (right - left) / len(heights)
    gap = room * _GAP_SHARE / 2 if room > 4 else 0.0
    for place, height in enumerate((heights / highest).tolist()):
        if height > 0:
            x = left + place * room
            y = min(bottom - height * (bottom - top), bottom - 1)
            canvas.box(x + gap, y, x + room - gap, bottom, colours.series[0])
    canvas.line([(left, bottom), (right, bottom)], colours.strong_line)
    _write_labels(canvas, labels, left, room, bottom)
    canvas.text((left + right) / 2, height_px - 22, x_label, colours.soft_ink, anchor="ma")
    return canvas.png()


def _write_labels(
    canvas: Canvas, labels: Sequence[tuple[float, str]], left: float, room: float, bottom: float
) -> None:
    """Write the labels under the bars, leaving out what would touch the one before."""
    free_from = -float(_MARKS_APART_PX)
    for place, text in labels:
        x = left + place * room
        half = max(canvas.text_px(text, size_px=12) / 2, 1.0)
        canvas.line([(x, bottom), (x, bottom + 4)], canvas.theme.strong_line)
        if x - half >= free_from:
            canvas.text(x, bottom + 7, text, canvas.theme.soft_ink, size_px=12, anchor="ma")
            free_from = x + half + 4
