"""A sheet to draw on, in pixels of the finished picture, drawn finer and scaled down."""

from __future__ import annotations

import io
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np
from PIL import Image, ImageDraw, ImageFont

if TYPE_CHECKING:
    from musicgen.figures.colours import Colour, Theme

FINE = 2  # pixels drawn for one that is kept, in each direction
MAX_PIXELS = 40_000_000
TEXT_PX = 13
_MOST_LETTERS = 300

Anchor = Literal["la", "ma", "ra", "lm", "mm", "rm", "ls", "ms", "rs"]


@lru_cache(maxsize=16)
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    # Pillow's own copy of Aileron (CC0): crisp, and the same on every machine.
    return ImageFont.load_default(size)


def one_line(text: str) -> str:
    """Return a text without line ends."""
    # Names come out of foreign files, and Pillow raises at a line end that has an anchor.
    return " ".join(text.split())


class Canvas:
    """Draws with coordinates that may be fractions: x to the right, y down."""

    def __init__(self, width_px: int, height_px: int, theme: Theme, *, fine: int = FINE) -> None:
        """Begin with an empty sheet.

        Args:
            width_px: Of the sheet.
            height_px: Of the sheet.
            theme: Its colours.
            fine: Pixels drawn for one that is kept; 0 where none are drawn and only measured.

        Raises:
            ValueError: It would be larger than `MAX_PIXELS` or smaller than 16 pixels either way.
        """
        if min(width_px, height_px) < 16 or width_px * height_px > MAX_PIXELS:
            raise ValueError(
                f"a picture of {width_px} by {height_px} pixels is too small or too large"
            )
        self.width_px, self.height_px, self.theme = width_px, height_px, theme
        self._image = Image.new("RGB", (width_px * fine or 1, height_px * fine or 1), theme.paper)
        self._draw = ImageDraw.Draw(self._image)

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
        """Draw a rectangle from (x0, y0) up to, not including, (x1, y1), a line at least."""
        left, top = round(x0 * FINE), round(y0 * FINE)
        right, bottom = max(round(x1 * FINE) - 1, left), max(round(y1 * FINE) - 1, top)
        width = max(1, round(outline_px * FINE)) if outline else 0
        radius = min(radius_px * FINE, (right - left) / 2, (bottom - top) / 2)
        if radius >= 1:
            self._draw.rounded_rectangle((left, top, right, bottom), radius, fill, outline, width)
        else:
            self._draw.rectangle((left, top, right, bottom), fill, outline, width)

    def line(
        self, points: list[tuple[float, float]], colour: Colour, *, width_px: float = 1.0
    ) -> None:
        """Draw a line through two points or more."""
        fine = [(x * FINE, y * FINE) for x, y in points]
        self._draw.line(fine, colour, max(1, round(width_px * FINE)), joint="curve")

    def dashes(
        self, x: float, y0: float, y1: float, colour: Colour, *, width_px: float = 2.0
    ) -> None:
        """Draw a dashed upright line."""
        y = y0
        while y < y1:
            self.box(x - width_px / 2, y, x + width_px / 2, min(y + 7, y1), colour)
            y += 12

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
        self._draw.text(
            (x * FINE, y * FINE), one_line(text), colour, _font(size_px * FINE), anchor=anchor
        )

    def text_up(self, x: float, y: float, text: str, colour: Colour) -> None:
        """Write a line from below upward, its middle at (x, y)."""
        line = one_line(text)
        width, height = round(self.text_px(line) * FINE), 2 * TEXT_PX * FINE
        ink = Image.new("L", (max(1, width), height), 0)
        font = _font(TEXT_PX * FINE)
        ImageDraw.Draw(ink).text((width / 2, height / 2), line, 255, font, anchor="mm")
        turned = ink.transpose(Image.Transpose.ROTATE_90)
        corner = (round(x * FINE - turned.width / 2), round(y * FINE - turned.height / 2))
        self._image.paste(Image.new("RGB", turned.size, colour), corner, turned)

    def text_px(self, text: str, *, size_px: int = TEXT_PX) -> float:
        """Return how wide `text` would be."""
        return self._draw.textlength(one_line(text), _font(size_px * FINE)) / FINE

    def fitting(self, text: str, width_px: float, *, size_px: int = TEXT_PX) -> str:
        """Return as much of `text` as fits, with an ellipsis if that is not all."""
        line = one_line(text)[:_MOST_LETTERS]
        if self.text_px(line, size_px=size_px) <= width_px:
            return line
        while line and self.text_px(line + "…", size_px=size_px) > width_px:
            line = line[:-1]
        return line + "…"

    def paste(self, pixels: np.ndarray, x: int, y: int, width_px: int, height_px: int) -> None:
        """Put an array of colours, uint8 (rows, columns, 3), into a rectangle, its pixels sharp."""
        picture = Image.fromarray(np.ascontiguousarray(pixels))
        size = (width_px * FINE, height_px * FINE)
        self._image.paste(picture.resize(size, Image.Resampling.NEAREST), (x * FINE, y * FINE))

    def finished(self) -> bytes:
        """Return the picture as a file: PNG here."""
        return self.png()

    def png(self) -> bytes:
        """Return the picture as a PNG file."""
        buffer = io.BytesIO()
        self._image.reduce(FINE).save(buffer, "PNG")
        return buffer.getvalue()
