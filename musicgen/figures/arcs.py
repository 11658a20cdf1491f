"""The attention of a note on the music: arcs from one note to others, one colour a head.

Shapes: N notes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from musicgen.figures.colours import Colour, blend, theme_named
from musicgen.figures.ticks import clock, marks, time_step
from musicgen.figures.vector import Form, sheet

if TYPE_CHECKING:
    from musicgen.figures.canvas import Canvas
    from musicgen.figures.roll import Notes

_LEFT_PX, _RIGHT_PX, _TOP_PX, _LEGEND_PX = 58, 20, 64, 34
_KEY_PX, _HEADROOM_PX = 9, 60
_FEWEST_KEYS = 24
_AROUND_S = 2.0
_BLACK_KEYS: Final = frozenset((1, 3, 6, 8, 10))
_STEPS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Arc:
    """One look.

    Attributes:
        note: At which note, or from which, as the figure says.
        weight: How much, 0 to 1.
        colour: Which of the colours of heads.
        name: Whose look it is; arcs of one name have one entry in the legend.
    """

    note: int
    weight: float
    colour: int
    name: str


def arcs_figure(
    notes: Notes,
    chosen: int,
    arcs: Sequence[Arc],
    *,
    title: str = "",
    width_px: int = 1400,
    theme: str = "light",
    form: Form = "png",
) -> bytes:
    """Draw the notes around a chosen one, and arcs between it and others.

    Args:
        notes: All notes (N,); drawn are those of the time that the arcs span.
        chosen: The note from which arcs go, in a box.
        arcs: To which notes, how strong, and whose.
        title: Written above.
        width_px: Of the picture.
        theme: "light" or "dark".
        form: "png" or "svg".

    Raises:
        IndexError: There is no such note.
        ValueError: There is no such theme or form.
    """
    ends = [chosen, *(arc.note for arc in arcs)]
    if min(ends) < 0 or max(ends) >= len(notes.onset_s):
        raise IndexError(f"there are notes 0 to {len(notes.onset_s) - 1} only")
    first = max(float(notes.onset_s[ends].min()) - _AROUND_S, 0.0)
    last = float(notes.onset_s[ends].max()) + _AROUND_S
    shown = np.flatnonzero((notes.end_s > first) & (notes.onset_s < last))
    low, high = int(notes.pitch[shown].min()) - 2, int(notes.pitch[shown].max()) + 2
    spare = max(_FEWEST_KEYS - (high - low + 1), 0)
    low, high = low - spare // 2, high + (spare + 1) // 2
    bottom = _TOP_PX + _HEADROOM_PX + (high - low + 1) * _KEY_PX
    frame = _Frame(first_s=first, last_s=last, high=high, right_px=width_px - _RIGHT_PX)
    canvas = sheet(form, width_px, bottom + 30 + _LEGEND_PX, theme_named(theme))
    if title:
        line = canvas.fitting(title, width_px - _LEFT_PX - _RIGHT_PX, size_px=17)
        canvas.text(_LEFT_PX, 16, line, canvas.theme.ink, size_px=17)
    _ground(canvas, frame, low, bottom)
    heads = canvas.theme.heads
    others = {arc.note for arc in arcs}
    for index in shown.tolist():
        is_end = index == chosen or index in others
        ink = canvas.theme.ink if is_end else canvas.theme.soft_ink
        shade = blend(canvas.theme.lane, ink, 0.9 if is_end else 0.35)
        box = frame.box(notes, index)
        canvas.box(*box, shade, radius_px=2)
    for arc in sorted(arcs, key=lambda arc: arc.weight):
        _arc(canvas, frame, notes, chosen, arc, heads[arc.colour % len(heads)])
    x0, y0, x1, y1 = frame.box(notes, chosen)
    accent = canvas.theme.accent
    canvas.box(x0 - 3, y0 - 3, x1 + 3, y1 + 3, outline=accent, outline_px=2, radius_px=3)
    _legend(canvas, arcs, heads, bottom + 34)
    return canvas.finished()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    first_s: float
    last_s: float
    high: int
    right_px: float

    def x(self, seconds: float) -> float:
        share = (seconds - self.first_s) / (self.last_s - self.first_s)
        return _LEFT_PX + min(max(share, 0.0), 1.0) * (self.right_px - _LEFT_PX)

    def y(self, pitch: int) -> float:
        return _TOP_PX + _HEADROOM_PX + (self.high - pitch) * _KEY_PX

    def box(self, notes: Notes, index: int) -> tuple[float, float, float, float]:
        x0, x1 = self.x(float(notes.onset_s[index])), self.x(float(notes.end_s[index]))
        y = self.y(int(notes.pitch[index]))
        return x0, y + 1, max(x1 - 0.5, x0 + 3), y + _KEY_PX - 1


def _ground(canvas: Canvas, frame: _Frame, low: int, bottom: float) -> None:
    theme = canvas.theme
    canvas.box(_LEFT_PX, _TOP_PX, frame.right_px, bottom, theme.lane)
    for pitch in range(low, frame.high + 1):
        y = frame.y(pitch)
        if pitch % 12 in _BLACK_KEYS:
            canvas.box(_LEFT_PX, y, frame.right_px, y + _KEY_PX, theme.black_lane)
        if pitch % 12 == 0:
            label = f"C{pitch // 12 - 1}".replace("-", "−")
            canvas.text(_LEFT_PX - 8, y + _KEY_PX / 2, label, theme.soft_ink, anchor="rm")
    step = time_step(frame.last_s - frame.first_s, frame.right_px - _LEFT_PX)
    for seconds in marks(frame.first_s, frame.last_s, step):
        x = frame.x(seconds)
        canvas.line([(x, _TOP_PX), (x, bottom)], theme.line)
        canvas.text(x, bottom + 6, clock(seconds, step), theme.soft_ink, size_px=12, anchor="ma")


def _arc(
    canvas: Canvas, frame: _Frame, notes: Notes, chosen: int, arc: Arc, colour: Colour
) -> None:
    """Draw a curve that rises over both notes, thicker for more weight; a dot at its far end."""
    x0, y0, _, _ = frame.box(notes, chosen)
    x1, y1, _, _ = frame.box(notes, arc.note)
    x0, x1, y0, y1 = x0 + 2, x1 + 2, y0 + _KEY_PX / 2, y1 + _KEY_PX / 2
    lift = max(min(y0, y1) - 20 - min(110, abs(x0 - x1) * 0.28) - arc.colour % 8 * 3, _TOP_PX + 4)
    t = np.linspace(0, 1, _STEPS)[:, None]
    corners = np.array(
        [(x0, y0), (x0 + (x1 - x0) * 0.2, lift), (x0 + (x1 - x0) * 0.8, lift), (x1, y1)]
    )
    curve = (
        (1 - t) ** 3 * corners[0]
        + 3 * (1 - t) ** 2 * t * corners[1]
        + 3 * (1 - t) * t**2 * corners[2]
        + t**3 * corners[3]
    )
    strong = blend(canvas.theme.lane, colour, 0.35 + 0.65 * min(1.0, arc.weight * 2))
    canvas.line([(x, y) for x, y in curve.tolist()], strong, width_px=1 + 3.5 * arc.weight)
    canvas.box(x1 - 3, y1 - 3, x1 + 3, y1 + 3, colour, radius_px=3)


def _legend(canvas: Canvas, arcs: Sequence[Arc], heads: Sequence[Colour], y: float) -> None:
    x = float(_LEFT_PX)
    for name, colour in {arc.name: arc.colour for arc in arcs}.items():
        width = canvas.text_px(name)
        if x + 24 + width > canvas.width_px - _RIGHT_PX:
            return
        canvas.box(x, y, x + 14, y + 10, heads[colour % len(heads)], radius_px=3)
        canvas.text(x + 20, y + 5, name, canvas.theme.ink, anchor="lm")
        x += 40 + width
