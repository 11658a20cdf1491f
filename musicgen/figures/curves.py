"""Curves over steps: losses, and whatever else a run writes down.

Shapes: P points of a curve.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from musicgen.figures.canvas import Canvas
from musicgen.figures.colours import Colour, theme_named
from musicgen.figures.ticks import marks, round_step

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_LEFT_PX, _RIGHT_PX, _BOTTOM_PX, _TOP_PX = 70, 24, 54, 24
_MOST_POINTS = 4000
_DOTS_UP_TO = 60  # with so few points each is marked


def curves_png(
    curves: Mapping[str, tuple[ArrayLike, ArrayLike]],
    *,
    title: str = "",
    x_label: str = "step",
    y_label: str = "",
    width_px: int = 900,
    height_px: int = 420,
    theme: str = "light",
) -> bytes:
    """Draw curves as a PNG picture.

    Args:
        curves: Steps (P,) and values (P,) by name; what is not finite leaves a gap.
        title: Written above.
        x_label: What the steps count.
        y_label: What the values are.
        width_px: Of the picture.
        height_px: Of the picture.
        theme: "light" or "dark".

    Raises:
        ValueError: A curve's steps and values are not of one length.
    """
    points = {name: _points(name, *pair) for name, pair in curves.items()}
    canvas = Canvas(width_px, height_px, theme_named(theme))
    colours = canvas.theme
    top = _TOP_PX + (26 if title or y_label else 0)
    box = (_LEFT_PX, top, width_px - _RIGHT_PX, height_px - _BOTTOM_PX)
    x_range, y_range = (
        _range([p[:, 0] for p in points.values()]),
        _range([p[:, 1] for p in points.values()], 0.05),
    )
    if title:
        canvas.text(_LEFT_PX, 14, title, colours.ink, size_px=16)
    if y_label:
        canvas.text(width_px - _RIGHT_PX, 17, y_label, colours.soft_ink, anchor="ra")
    _axes(canvas, box, x_range, y_range)
    canvas.text((box[0] + box[2]) / 2, box[3] + 26, x_label, colours.soft_ink, anchor="ma")
    x = float(box[0])
    for place, (name, curve) in enumerate(points.items()):
        colour = colours.series[place % len(colours.series)]
        _curve(canvas, curve, colour, box, x_range, y_range)
        y = height_px - 15
        canvas.line([(x, y), (x + 18, y)], colour, width_px=3)
        canvas.text(x + 24, y, name, colours.ink, anchor="lm")
        x += 24 + canvas.text_px(name) + 22
    return canvas.png()


def _points(name: str, steps: ArrayLike, values: ArrayLike) -> NDArray[np.float64]:
    x, y = np.asarray(steps, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(
            f"curve {name!r} needs as many steps as values, not {x.shape} and {y.shape}"
        )
    stride = max(1, -(-len(x) // _MOST_POINTS))
    return np.stack((x, y), axis=1)[::stride]


def _range(parts: list[NDArray[np.float64]], room: float = 0.0) -> tuple[float, float]:
    values = np.concatenate(parts) if parts else np.zeros(0)
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    if high <= low:
        return low - 0.5, high + 0.5
    return low - room * (high - low), high + room * (high - low)


Box = tuple[float, float, float, float]
Range = tuple[float, float]


def _place(value: float, span: Range, first: float, last: float) -> float:
    return first + (value - span[0]) / (span[1] - span[0]) * (last - first)


def _axes(canvas: Canvas, box: Box, x_range: Range, y_range: Range) -> None:
    left, top, right, bottom = box
    theme = canvas.theme
    canvas.box(left, top, right, bottom, theme.lane)
    y_step = round_step(y_range[1] - y_range[0], 5)
    for value in marks(*y_range, y_step):
        y = _place(value, y_range, bottom, top)
        canvas.line([(left, y), (right, y)], theme.line)
        canvas.text(left - 8, y, _number(value, y_step), theme.soft_ink, size_px=12, anchor="rm")
    x_step = round_step(x_range[1] - x_range[0], 8)
    for value in marks(*x_range, x_step):
        x = _place(value, x_range, left, right)
        canvas.line([(x, bottom), (x, bottom + 5)], theme.strong_line)
        canvas.text(x, bottom + 8, _number(value, x_step), theme.soft_ink, size_px=12, anchor="ma")
    canvas.line([(left, bottom), (right, bottom)], theme.strong_line)


def _number(value: float, step: float) -> str:
    digits = max(0, -int(np.floor(np.log10(step) + 1e-9)))
    return f"{value:,.{digits}f}" if digits < 7 else f"{value:.3g}"


def _curve(
    canvas: Canvas,
    points: NDArray[np.float64],
    colour: Colour,
    box: Box,
    x_range: Range,
    y_range: Range,
) -> None:
    left, top, right, bottom = box
    run: list[tuple[float, float]] = []
    for x, y in [*points.tolist(), (np.nan, np.nan)]:
        if np.isfinite(x) and np.isfinite(y):
            run.append((_place(x, x_range, left, right), _place(y, y_range, bottom, top)))
            continue
        if len(run) > 1:
            canvas.line(run, colour, width_px=2)
        if run and (len(run) == 1 or len(points) <= _DOTS_UP_TO):
            for at_x, at_y in run:
                canvas.box(at_x - 3, at_y - 3, at_x + 3, at_y + 3, colour, radius_px=3)
        run = []
