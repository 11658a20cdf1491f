"""A sheet that is drawn on as `Canvas` is, and comes out as SVG: lines that stay sharp at any size.

Numbers are written with two decimals. Text is text: it can be searched, and takes the reader's own
sans-serif font. Maps lie in it as small PNG pictures whose pixels stay sharp.
"""

from __future__ import annotations

import base64
import io
from html import escape
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
from PIL import Image

from musicgen.figures.canvas import TEXT_PX, Canvas, one_line

if TYPE_CHECKING:
    from musicgen.figures.canvas import Anchor
    from musicgen.figures.colours import Colour, Theme

Form = Literal["png", "svg"]
_SIDES: Final = {"l": "start", "m": "middle", "r": "end"}
_BASELINES: Final = {"a": 0.8, "m": 0.35, "s": 0.0}  # of the size, from the anchor down


class VectorCanvas(Canvas):
    """Draws as `Canvas` does, into an SVG file."""

    def __init__(self, width_px: int, height_px: int, theme: Theme) -> None:
        """Begin with an empty sheet.

        Raises:
            ValueError: It would be too large or too small, as for `Canvas`.
        """
        super().__init__(width_px, height_px, theme, fine=0)
        self._parts: list[str] = []

    def box(
        self,
        x0: float,
        y0: float,
        x1: float,
        y1: float,
        fill: Colour | None = None,
        *,
        outline: Colour | None = None,
        outline_px: float = 1.0,
        radius_px: float = 0.0,
    ) -> None:
        """Draw a rectangle from (x0, y0) to (x1, y1)."""
        width, height = max(x1 - x0, 0.5), max(y1 - y0, 0.5)
        inset = outline_px / 2 if outline else 0.0
        self._parts.append(
            f'<rect x="{x0 + inset:.2f}" y="{y0 + inset:.2f}" '
            f'width="{max(width - 2 * inset, 0.1):.2f}" '
            f'height="{max(height - 2 * inset, 0.1):.2f}"'
            + (f' rx="{min(radius_px, width / 2, height / 2):.2f}"' if radius_px else "")
            + f' fill="{_hex(fill)}"'
            + (f' stroke="{_hex(outline)}" stroke-width="{outline_px:.2f}"' if outline else "")
            + "/>"
        )

    def line(
        self, points: list[tuple[float, float]], colour: Colour, *, width_px: float = 1.0
    ) -> None:
        """Draw a line through two points or more."""
        through = " ".join(f"{x:.2f},{y:.2f}" for x, y in points)
        self._parts.append(
            f'<polyline points="{through}" fill="none" stroke="{_hex(colour)}" '
            f'stroke-width="{width_px:.2f}" stroke-linejoin="round"/>'
        )

    def text(
        self,
        x: float,
        y: float,
        text: str,
        colour: Colour,
        *,
        size_px: int = TEXT_PX,
        anchor: Anchor = "la",
    ) -> None:
        """Write a line; `anchor` says which point of it lies at (x, y), as Pillow names them."""
        self._write(x, y + _BASELINES[anchor[1]] * size_px, text, colour, size_px, anchor[0])

    def text_up(self, x: float, y: float, text: str, colour: Colour) -> None:
        """Write a line from below upward, its middle at (x, y)."""
        place = f' transform="rotate(-90 {x:.2f} {y:.2f})"'
        self._write(x, y + 0.35 * TEXT_PX, text, colour, TEXT_PX, "m", place)

    def _write(
        self,
        x: float,
        y: float,
        text: str,
        colour: Colour,
        size_px: int,
        side: str,
        more: str = "",
    ) -> None:
        self._parts.append(
            f'<text x="{x:.2f}" y="{y:.2f}" font-size="{size_px}" fill="{_hex(colour)}" '
            f'text-anchor="{_SIDES[side]}"{more}>{_clean(text)}</text>'
        )

    def paste(self, pixels: np.ndarray, x: int, y: int, width_px: int, height_px: int) -> None:
        """Put an array of colours, uint8 (rows, columns, 3), into a rectangle, its pixels sharp."""
        buffer = io.BytesIO()
        Image.fromarray(np.ascontiguousarray(pixels)).save(buffer, "PNG")
        data = base64.b64encode(buffer.getvalue()).decode("ascii")
        self._parts.append(
            f'<image x="{x}" y="{y}" width="{width_px}" height="{height_px}" '
            f'preserveAspectRatio="none" style="image-rendering:pixelated" '
            f'href="data:image/png;base64,{data}"/>'
        )

    def finished(self) -> bytes:
        """Return the picture as an SVG file in UTF-8."""
        head = (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width_px}" '
            f'height="{self.height_px}" viewBox="0 0 {self.width_px} {self.height_px}" '
            'font-family="Inter, Helvetica, Arial, sans-serif">\n'
            f'<rect width="100%" height="100%" fill="{_hex(self.theme.paper)}"/>\n'
        )
        return (head + "\n".join(self._parts) + "\n</svg>\n").encode("utf-8")


def sheet(form: Form, width_px: int, height_px: int, theme: Theme) -> Canvas:
    """Return an empty sheet that becomes a file of a form.

    Raises:
        ValueError: There is no such form, or the size is out of bounds.
    """
    if form not in ("png", "svg"):
        raise ValueError(f"there is no form {form!r}: choose png or svg")
    return (VectorCanvas if form == "svg" else Canvas)(width_px, height_px, theme)


def _hex(colour: Colour | None) -> str:
    return "none" if colour is None else "#{:02x}{:02x}{:02x}".format(*colour)


def _clean(text: str) -> str:
    """Return a line that XML can hold: foreign names may hold anything."""
    kept = "".join(c for c in one_line(text) if c.isprintable())
    return escape(kept, quote=True)
