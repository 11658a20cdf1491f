"""Attention weights as pictures: one head large, or all heads of all layers side by side.

Shapes: L layers, H heads, T events: row i tells what event i attended to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from musicgen.figures.canvas import Canvas
from musicgen.figures.colours import Theme, theme_named, weight_colours
from musicgen.figures.ticks import clock, marks, round_step, time_step
from musicgen.figures.vector import Form, sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

GAMMA = 0.6  # brings out small weights, which a linear scale leaves black
_LOOKED_AT, _LOOKING = "the event that is looked at", "the event that looks"
_END, _LAST = "end", "the last: the piece’s end"
_MARGIN_PX = 18
_AXIS_PX = 62
_TITLE_PX = 34
_BAR_PX = 14
_GAP_PX = 6
_APART_PX = 40
_LINE_PX = 18


def attention_figure(
    weights: ArrayLike,
    *,
    times_s: ArrayLike | None = None,
    lines: Sequence[tuple[float, str]] | None = None,
    unit: str | None = None,
    has_end: bool = False,
    title: str = "",
    gamma: float = GAMMA,
    size_px: int = 900,
    theme: str = "light",
    form: Form = "png",
) -> bytes:
    """Draw one head's attention as a picture, each row scaled by its maximum.

    Args:
        weights: (T, T); what lies above the diagonal, the future, is left blank if it is all zero.
        times_s: When each event sounds, ascending (T,): the axes then count seconds, not events.
        lines: Marks of the axes instead, ascending: where, in events, and what is written there.
        unit: What the axes count; by default events or time.
        has_end: Whether the last event is the end of the piece, which is marked then.
        title: Written above.
        gamma: Exponent of the scale; 1 is linear.
        size_px: Side of the map.
        theme: "light" or "dark".
        form: "png" or "svg".

    Raises:
        ValueError: The weights are not square, or the times not as many.
    """
    square = _square(weights)
    n_events = len(square)
    top = _MARGIN_PX + (_TITLE_PX if title else 0)
    left = _MARGIN_PX + _AXIS_PX
    canvas = sheet(form, left + size_px + 96, top + size_px + _AXIS_PX, theme_named(theme))
    if title:
        _title(canvas, left, title)
    canvas.paste(_map(square, size_px, gamma, canvas.theme), left, top, size_px, size_px)
    frame = canvas.theme.strong_line
    canvas.box(left - 1, top - 1, left + size_px + 1, top + size_px + 1, outline=frame)
    shown = _marks(n_events, times_s, size_px, lines)
    if has_end:
        shown = _with_end(shown, n_events, size_px)
    for place, text in shown:
        at = place / n_events * size_px
        canvas.line([(left + at, top + size_px + 1), (left + at, top + size_px + 6)], frame)
        canvas.line([(left - 6, top + at), (left - 1, top + at)], frame)
        canvas.text(
            left + at, top + size_px + 9, text, canvas.theme.soft_ink, size_px=12, anchor="ma"
        )
        canvas.text(left - 9, top + at, text, canvas.theme.soft_ink, size_px=12, anchor="rm")
    unit = unit or ("event" if times_s is None else "time")
    middle = left + size_px / 2
    looked_at, looking = f"{_LOOKED_AT} ({unit})", f"{_LOOKING} ({unit})"
    canvas.text(middle, top + size_px + 30, looked_at, canvas.theme.ink, anchor="ma")
    canvas.text_up(_MARGIN_PX, top + size_px / 2, looking, canvas.theme.ink)
    _scale(canvas, left + size_px + 20, top, size_px)
    return canvas.finished()


def layers_heads_figure(
    weights: ArrayLike,
    *,
    first_layer: int = 1,
    first_head: int = 1,
    has_end: bool = False,
    title: str = "",
    gamma: float = GAMMA,
    cell_px: int = 150,
    theme: str = "light",
    form: Form = "png",
) -> bytes:
    """Draw all heads of all layers as a picture, each row of each map scaled by its maximum.

    Args:
        weights: (L, H, T, T).
        first_layer: Number of the first of these layers, counted from 1.
        first_head: The same of the heads.
        has_end: Whether the last event is the end of the piece, which is said then.
        title: Written above.
        gamma: Exponent of the scale; 1 is linear.
        cell_px: Side of one map.
        theme: "light" or "dark".
        form: "png" or "svg".

    Raises:
        ValueError: The weights are not (L, H, T, T).
    """
    maps = np.asarray(weights)
    if maps.ndim != 4 or 0 in maps.shape:
        raise ValueError(f"the weights must be (L, H, T, T), not {maps.shape}")
    n_layers, n_heads = maps.shape[:2]
    top = _MARGIN_PX + (_TITLE_PX if title else 0) + 24
    left = _MARGIN_PX + _AXIS_PX
    step = cell_px + _GAP_PX
    width = left + n_heads * step + 90
    bottom = top + n_layers * step
    told = [f"across: {_LOOKED_AT}", f"down: {_LOOKING}", *([_LAST] if has_end else [])]
    canvas = sheet(form, width, bottom + len(told) * _LINE_PX + _MARGIN_PX, theme_named(theme))
    if title:
        _title(canvas, left, title)
    for head in range(n_heads):
        canvas.text(
            left + head * step + cell_px / 2,
            top - 8,
            f"head {first_head + head}",
            canvas.theme.ink,
            anchor="ms",
        )
    for layer in range(n_layers):
        y = top + layer * step
        label = f"layer {first_layer + layer}"
        canvas.text(left - 10, y + cell_px / 2, label, canvas.theme.ink, anchor="rm")
        for head in range(n_heads):
            pixels = _map(_square(maps[layer, head]), cell_px, gamma, canvas.theme)
            canvas.paste(pixels, left + head * step, y, cell_px, cell_px)
    for line, text in enumerate(told):
        canvas.text(left, bottom + 4 + line * _LINE_PX, text, canvas.theme.ink)
    _scale(canvas, left + n_heads * step + 12, top, n_layers * step - _GAP_PX)
    return canvas.finished()


def _square(weights: ArrayLike) -> NDArray[np.float32]:
    square = np.asarray(weights, dtype=np.float32)
    if square.ndim != 2 or square.shape[0] != square.shape[1] or not len(square):
        raise ValueError(f"attention weights must be square, (T, T), not {square.shape}")
    return square


def _map(
    square: NDArray[np.float32], size_px: int, gamma: float, theme: Theme
) -> NDArray[np.uint8]:
    """Return the map's colours, at most `size_px` a side, uint8 (rows, columns, 3)."""
    largest = square.max(axis=1, keepdims=True)
    scaled = np.divide(square, largest, out=np.zeros_like(square), where=largest > 0)
    n_events = len(square)
    is_causal = not np.triu(square, 1).any() and n_events > 1
    ahead = (
        np.triu(np.ones(square.shape, dtype=bool), 1) if is_causal else np.zeros(square.shape, bool)
    )
    if n_events > size_px:
        # A line one event wide must not fall between pixels: each takes its largest event.
        starts = np.arange(size_px) * n_events // size_px
        for axis in (0, 1):
            scaled = np.maximum.reduceat(scaled, starts, axis=axis)
            ahead = np.logical_and.reduceat(ahead, starts, axis=axis)
    colours = weight_colours(np.clip(scaled, 0, 1) ** gamma, theme)
    colours[ahead] = theme.paper
    return colours


def _marks(
    n_events: int,
    times_s: ArrayLike | None,
    size_px: int,
    lines: Sequence[tuple[float, str]] | None,
) -> list[tuple[float, str]]:
    """Return where the axes' marks stand, in events, and their texts."""
    if lines is not None:
        return _apart(lines, n_events, size_px)
    if times_s is None:
        step = max(round_step(n_events, 10), 1.0)
        return [(at + 0.5, f"{at:.0f}") for at in marks(0, n_events - 1, step)]
    times = np.asarray(times_s, dtype=np.float64)
    if times.shape != (n_events,):
        raise ValueError(f"there must be one time for each of {n_events} events, not {times.shape}")
    step = time_step(float(times[-1] - times[0]) or 1.0, size_px, apart_px=70)
    found = [
        (float(np.searchsorted(times, seconds)), clock(seconds, step))
        for seconds in marks(float(times[0]), float(times[-1]), step)
    ]
    return _apart(found, n_events, size_px)


def _with_end(
    shown: list[tuple[float, str]], n_events: int, size_px: int
) -> list[tuple[float, str]]:
    """Mark the last event, in the place of marks that its own would stand on."""
    last = n_events - 0.5
    return [mark for mark in shown if (last - mark[0]) * size_px / n_events >= _APART_PX] + [
        (last, _END)
    ]


def _apart(
    lines: Sequence[tuple[float, str]], n_events: int, size_px: int
) -> list[tuple[float, str]]:
    """Leave out marks that would stand on the one before."""
    found: list[tuple[float, str]] = []
    for place, text in lines:
        if not found or (place - found[-1][0]) * size_px / n_events >= _APART_PX:
            found.append((place, text))
    return found


def _scale(canvas: Canvas, x: float, y: float, height_px: float) -> None:
    """Draw what the colours mean."""
    height = min(height_px, 220)
    levels = weight_colours(np.linspace(1, 0, 110), canvas.theme)[:, None]
    canvas.paste(levels, round(x), round(y), _BAR_PX, round(height))
    canvas.text(x + _BAR_PX + 6, y + 1, "row's", canvas.theme.soft_ink, size_px=11)
    canvas.text(x + _BAR_PX + 6, y + 15, "largest", canvas.theme.soft_ink, size_px=11)
    canvas.text(x + _BAR_PX + 6, y + height, "0", canvas.theme.soft_ink, size_px=11, anchor="ls")


def _title(canvas: Canvas, left: float, title: str) -> None:
    line = canvas.fitting(title, canvas.width_px - left - _MARGIN_PX, size_px=17)
    canvas.text(left, _MARGIN_PX - 2, line, canvas.theme.ink, size_px=17)
