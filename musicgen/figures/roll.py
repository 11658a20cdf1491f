"""The piano roll as a picture.

Shapes: N notes, P pedal presses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from musicgen.figures.canvas import Canvas
from musicgen.figures.colours import Colour, Theme, blend, theme_named
from musicgen.figures.roll_frame import (
    SOFTEST,
    draw_ground,
    draw_keyboard,
    draw_legend,
    draw_pedal,
    draw_time_lines,
)
from musicgen.figures.roll_plan import LEFT_PX, MARGIN_PX, RollPlan, plan_roll

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_ROUNDED_UP_TO = 5000  # notes; of more nobody sees the corners, and they take most of the time


class Notes(Protocol):
    """Columns of notes, each (N,), sorted by onset: `musicgen.midi.NoteTable` is one."""

    @property
    def onset_s(self) -> NDArray[np.float64]:
        """Where each note begins, float64 (N,)."""
        ...

    @property
    def end_s(self) -> NDArray[np.float64]:
        """Where it ends, float64 (N,)."""
        ...

    @property
    def pitch(self) -> NDArray[np.int64]:
        """0 to 127, int64 (N,)."""
        ...

    @property
    def velocity(self) -> NDArray[np.int64]:
        """1 to 127, int64 (N,)."""
        ...

    @property
    def track(self) -> NDArray[np.int64]:
        """Index of its track, int64 (N,)."""
        ...


def roll_png(
    notes: Notes,
    *,
    prompt_end_s: float | None = None,
    is_new: ArrayLike | None = None,
    pedals: Mapping[int, ArrayLike] | ArrayLike | None = None,
    track_names: Mapping[int, str] | Sequence[str] | None = None,
    title: str = "",
    width_px: int = 1600,
    height_px: int | None = None,
    theme: str = "light",
) -> bytes:
    """Draw notes over time as a PNG picture.

    Louder notes are stronger in colour. New music has a colour of its own, other music one a track.
    Where there is a prompt, its notes are outlines and the new ones solid, its ground is tinted,
    and a dashed line marks the seam.

    Args:
        notes: Any number of notes; long music is broken into rows.
        prompt_end_s: Where the prompt ends and the new part begins.
        is_new: Which notes are new, bool (N,); by default those that begin at the seam or later,
            and none where there is no seam.
        pedals: When the sustain pedal is down, in seconds, (P, 2), or such spans by track.
        track_names: Names for the legend.
        title: Written above.
        width_px: Of the picture.
        height_px: Of the picture; by default what its rows need.
        theme: "light" or "dark".

    Raises:
        ValueError: There is no such theme, or the size is out of bounds.
    """
    spans = _spans(pedals)
    plan = plan_roll(
        notes.end_s,
        notes.pitch,
        width_px=width_px,
        height_px=height_px,
        has_pedal=len(spans) > 0,
        has_title=bool(title),
    )
    canvas = Canvas(plan.width_px, plan.height_px, theme_named(theme))
    if is_new is not None:
        new = np.asarray(is_new, dtype=bool)
    elif prompt_end_s is not None:
        new = np.asarray(notes.onset_s >= prompt_end_s - 1e-6)
    else:
        new = np.zeros(len(notes.onset_s), dtype=bool)
    has_prompt = not new.all() and (prompt_end_s is not None or bool(new.any()))
    if title:
        line = canvas.fitting(title, plan.right_px - LEFT_PX, size_px=17)
        canvas.text(LEFT_PX, MARGIN_PX, line, canvas.theme.ink, size_px=17)
    for row in range(len(plan.row_tops_px)):
        draw_ground(canvas, plan, row, prompt_end_s)
        draw_time_lines(canvas, plan, row)
    colours = _track_colours(notes.track, new, canvas.theme)
    _notes(canvas, plan, notes, new, hollow=has_prompt)
    for row in range(len(plan.row_tops_px)):
        draw_keyboard(canvas, plan, row)
        draw_pedal(canvas, plan, row, spans)
    if prompt_end_s is not None:
        _seam(canvas, plan, prompt_end_s)
    draw_legend(canvas, plan, colours, track_names, has_prompt=has_prompt, has_pedal=len(spans) > 0)
    return canvas.png()


def _spans(pedals: Mapping[int, ArrayLike] | ArrayLike | None) -> NDArray[np.float64]:
    if pedals is None:
        return np.zeros((0, 2))
    parts = list(pedals.values()) if isinstance(pedals, Mapping) else [pedals]
    arrays = [np.asarray(part, dtype=np.float64).reshape(-1, 2) for part in parts]
    return np.concatenate(arrays) if arrays else np.zeros((0, 2))


def _track_colours(
    track: NDArray[np.int64], new: NDArray[np.bool_], theme: Theme
) -> dict[int, Colour]:
    """Return the colour of each track, new music's where all of it is new."""
    return {
        int(index): theme.new if new[track == index].all() else _of_place(place, theme)
        for place, index in enumerate(np.unique(track))
    }


def _of_place(place: int, theme: Theme) -> Colour:
    return theme.tracks[place % len(theme.tracks)]


def _notes(
    canvas: Canvas,
    plan: RollPlan,
    notes: Notes,
    new: NDArray[np.bool_],
    *,
    hollow: bool,
) -> None:
    """Draw all notes; those that are not new as outlines, where `hollow` says so."""
    theme = canvas.theme
    of_track = {
        int(index): _of_place(place, theme) for place, index in enumerate(np.unique(notes.track))
    }
    height = plan.key_px * (0.86 if plan.key_px >= 4 else 1.0)
    radius = min(height * 0.3, 2.5) if len(new) <= _ROUNDED_UP_TO else 0.0
    columns = zip(
        notes.onset_s.tolist(),
        notes.end_s.tolist(),
        notes.pitch.tolist(),
        notes.velocity.tolist(),
        notes.track.tolist(),
        new.tolist(),
        strict=True,
    )
    lane = theme.lane
    for onset, end, pitch, velocity, track, is_new in columns:
        colour = theme.new if is_new else of_track[track]
        strong = blend(lane, colour, SOFTEST + (1 - SOFTEST) * min(velocity, 127) / 127)
        for row in range(plan.row_of(onset), plan.row_of(max(end - 1e-9, onset)) + 1):
            x0, x1 = plan.x(onset, row), plan.x(end, row)
            y0 = plan.y(pitch, row) + (plan.key_px - height) / 2
            # A hair is left free at the end, so that repeated notes stay apart.
            box = (x0, y0, max(x1 - min(0.5, (x1 - x0) / 4), x0 + 1.5), y0 + max(height, 1.5))
            if is_new or not hollow:
                canvas.box(*box, strong, radius_px=radius)
            else:
                pale = blend(lane, strong, 0.3)
                canvas.box(*box, pale, outline=strong, outline_px=1.0, radius_px=radius)


def _seam(canvas: Canvas, plan: RollPlan, prompt_end_s: float) -> None:
    row = plan.row_of(prompt_end_s)
    x, top = plan.x(prompt_end_s, row), plan.row_tops_px[row]
    accent, paper = canvas.theme.accent, canvas.theme.paper
    canvas.dashes(x, top, top + plan.notes_px, accent)
    before, after = "prompt", "new"
    for text, at in ((before, x - 8 - canvas.text_px(before)), (after, x + 8)):
        right = at + canvas.text_px(text)
        if at > LEFT_PX and right < plan.right_px:
            canvas.box(
                at - 4,
                top + 4,
                right + 4,
                top + 22,
                paper,
                outline=accent,
                outline_px=1,
                radius_px=4,
            )
            canvas.text(at, top + 13, text, accent, anchor="lm")
