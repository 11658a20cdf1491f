"""What stands around the notes of a piano roll: lanes, time, keyboard, pedal, legend.

Shapes: P pedal presses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from musicgen.figures.canvas import Canvas
from musicgen.figures.colours import Colour, blend
from musicgen.figures.roll_plan import LEFT_PX, PEDAL_PX, RollPlan
from musicgen.figures.ticks import clock, marks, time_step

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SOFTEST = 0.5  # opacity of the softest note
_BLACK_KEYS = frozenset((1, 3, 6, 8, 10))
_KEYBOARD_PX = 34
_MOST_NAMES = 6
_NAME_PX = 130


def draw_ground(canvas: Canvas, plan: RollPlan, row: int, prompt_end_s: float | None) -> None:
    """Draw the lanes of the keys, the prompt's tinted."""
    theme, top, bottom = canvas.theme, plan.row_tops_px[row], plan.row_tops_px[row] + plan.notes_px
    seam = plan.x(prompt_end_s, row) if prompt_end_s is not None else LEFT_PX
    for pitch in range(plan.low, plan.high + 1):
        y = plan.y(pitch, row)
        lane = theme.black_lane if pitch % 12 in _BLACK_KEYS else theme.lane
        canvas.box(LEFT_PX, y, plan.right_px, y + plan.key_px, lane)
        if seam > LEFT_PX:
            canvas.box(LEFT_PX, y, seam, y + plan.key_px, blend(lane, theme.past, 0.55))
    for pitch in range(plan.low, plan.high + 1):
        if pitch % 12 == 0 and pitch > plan.low:
            y = plan.y(pitch, row) + plan.key_px
            canvas.line([(LEFT_PX, y), (plan.right_px, y)], theme.strong_line, width_px=0.5)
    canvas.line([(LEFT_PX, bottom), (plan.right_px, bottom)], theme.strong_line, width_px=0.5)
    canvas.line([(LEFT_PX, top), (plan.right_px, top)], theme.strong_line, width_px=0.5)


def draw_time_lines(canvas: Canvas, plan: RollPlan, row: int) -> None:
    """Draw the ruler above a row and the lines below its marks."""
    theme, top = canvas.theme, plan.row_tops_px[row]
    first, last = row * plan.row_s, (row + 1) * plan.row_s
    step = time_step(plan.row_s, plan.right_px - LEFT_PX)
    for seconds in marks(first, last, step):
        x = plan.x(seconds, row)
        canvas.line([(x, top), (x, top + plan.notes_px)], theme.line)
        canvas.line([(x, top - 5), (x, top)], theme.strong_line)
        text = clock(seconds, step)
        if x + canvas.text_px(text, size_px=12) < plan.right_px:
            canvas.text(x + 4, top - 5, text, theme.soft_ink, size_px=12, anchor="ls")


def draw_keyboard(canvas: Canvas, plan: RollPlan, row: int) -> None:
    """Draw the keyboard to the left of a row, its Cs named."""
    theme = canvas.theme
    left = LEFT_PX - _KEYBOARD_PX
    top, bottom = plan.row_tops_px[row], plan.row_tops_px[row] + plan.notes_px
    canvas.box(
        left, top, LEFT_PX - 2, bottom, (255, 255, 255), outline=(150, 152, 160), outline_px=0.5
    )
    for pitch in range(plan.low, plan.high + 1):
        y = plan.y(pitch, row)
        if pitch % 12 in _BLACK_KEYS:
            canvas.box(left, y, left + _KEYBOARD_PX * 0.6, y + plan.key_px, (38, 39, 46))
        elif pitch % 12 in (0, 5) and pitch > plan.low:
            # Between E and F and between B and C no black key parts the white ones.
            canvas.line(
                [(left, y + plan.key_px), (LEFT_PX - 2.5, y + plan.key_px)],
                (150, 152, 160),
                width_px=0.5,
            )
    step = 1 if plan.key_px * 12 >= 14 else 2
    for pitch in range(plan.low, plan.high + 1):
        if pitch % (12 * step) == 0:
            y = plan.y(pitch, row) + plan.key_px / 2
            canvas.text(
                left - 6,
                y,
                f"C{pitch // 12 - 1}".replace("-", "−"),
                theme.soft_ink,
                size_px=12,
                anchor="rm",
            )


def draw_pedal(canvas: Canvas, plan: RollPlan, row: int, spans: NDArray[np.float64]) -> None:
    """Draw when the pedal is down, below a row."""
    if not plan.has_pedal:
        return
    theme, y = canvas.theme, plan.row_tops_px[row] + plan.notes_px + 3
    canvas.box(LEFT_PX, y, plan.right_px, y + PEDAL_PX - 2, theme.black_lane)
    canvas.text(LEFT_PX - 6, y + PEDAL_PX / 2 - 1, "pedal", theme.soft_ink, size_px=11, anchor="rm")
    for down, up in spans.tolist():
        if down < (row + 1) * plan.row_s and up > row * plan.row_s:
            x0, x1 = plan.x(down, row), plan.x(up, row)
            canvas.box(x0, y + 1, max(x1 - 1, x0 + 1), y + PEDAL_PX - 3, theme.strong_line)


def draw_legend(
    canvas: Canvas,
    plan: RollPlan,
    colours: Mapping[int, Colour],
    track_names: Mapping[int, str] | Sequence[str] | None,
    *,
    has_prompt: bool,
    has_pedal: bool,
) -> None:
    """Say what the colours and forms mean."""
    theme, x, y = canvas.theme, float(LEFT_PX), plan.legend_top_px + 9
    names = dict(enumerate(track_names)) if isinstance(track_names, Sequence) else track_names or {}
    first = next(iter(colours.values()), theme.tracks[0])
    shown = list(colours.items())[:_MOST_NAMES] if len(colours) > 1 or names else []
    for track, colour in shown:
        name = canvas.fitting(names.get(track) or f"track {track + 1}", _NAME_PX)
        is_new = has_prompt and colour == theme.new
        _swatch(canvas, x, y, colour, hollow=has_prompt and not is_new)
        said = f"{name}: new" if is_new else f"{name}: prompt" if has_prompt else name
        x = _label(canvas, x + 24, y, said)
    if len(colours) > len(shown) > 0:
        x = _label(canvas, x, y, f"and {len(colours) - len(shown)} more")
    if has_prompt and not shown:
        _swatch(canvas, x, y, theme.soft_ink, hollow=True)
        x = _label(canvas, x + 24, y, "prompt")
        _swatch(canvas, x, y, theme.new, hollow=False)
        x = _label(canvas, x + 24, y, "new")
    for step in range(7):
        share = SOFTEST + (1 - SOFTEST) * step / 6
        canvas.box(x + step * 8, y - 5, x + step * 8 + 8, y + 5, blend(theme.lane, first, share))
    x = _label(canvas, x + 62, y, "soft to loud")
    if has_pedal:
        canvas.box(x, y - 3, x + 18, y + 3, theme.strong_line)
        _label(canvas, x + 24, y, "pedal down")


def _swatch(canvas: Canvas, x: float, y: float, colour: Colour, *, hollow: bool) -> None:
    """Draw a note of a colour: filled, or as the notes of a prompt are."""
    fill = blend(canvas.theme.lane, colour, 0.3) if hollow else colour
    outline = colour if hollow else None
    canvas.box(x, y - 5, x + 18, y + 5, fill, outline=outline, radius_px=2.5)


def _label(canvas: Canvas, x: float, y: float, text: str) -> float:
    canvas.text(x, y, text, canvas.theme.ink, anchor="lm")
    return x + canvas.text_px(text) + 22
