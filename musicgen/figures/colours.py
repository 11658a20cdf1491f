"""Colours: two themes, a palette that colour-blind eyes tell apart, and a scale for weights.

Shapes: any shape S of values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Colour = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """The colours of a picture.

    Attributes:
        paper: Behind everything.
        lane: Behind the notes of a white key.
        black_lane: Behind the notes of a black key.
        past: Behind what was there before: the prompt.
        line: Fine lines of the grid.
        strong_line: Octaves, frames and ticks.
        ink: Text; at least 7:1 against `paper`.
        soft_ink: Lesser text; at least 4.5:1 against `paper`.
        accent: What is to be noticed.
        new: Music that a model made, or adds to what was there; also all that is chosen or at work
            in the studio, which has these colours from here.
        tracks: One colour a track of other music, taken round and round.
        heads: One colour a head, taken round and round.
        series: One colour a curve or a row of bars, taken round and round.
        weights: From no weight to all of it, in equal steps: from the paper to the ink.
    """

    paper: Colour
    lane: Colour
    black_lane: Colour
    past: Colour
    line: Colour
    strong_line: Colour
    ink: Colour
    soft_ink: Colour
    accent: Colour
    new: Colour
    tracks: tuple[Colour, ...]
    heads: tuple[Colour, ...]
    series: tuple[Colour, ...]
    weights: tuple[Colour, ...]


LIGHT = Theme(
    paper=(255, 255, 255),
    lane=(250, 250, 252),
    black_lane=(240, 241, 245),
    past=(255, 247, 230),
    line=(228, 229, 235),
    strong_line=(188, 190, 200),
    ink=(32, 33, 40),
    soft_ink=(92, 95, 108),
    accent=(196, 34, 78),
    new=(15, 118, 110),
    tracks=(
        (163, 90, 0),
        (122, 79, 176),
        (176, 58, 91),
        (60, 104, 168),
        (93, 122, 31),
        (107, 91, 74),
        (138, 59, 160),
        (180, 69, 31),
        (47, 125, 107),
        (74, 79, 184),
    ),
    heads=(
        (194, 65, 12),
        (148, 98, 0),
        (21, 128, 61),
        (14, 116, 144),
        (29, 78, 216),
        (126, 34, 206),
        (190, 24, 93),
        (87, 83, 78),
    ),
    series=(
        (64, 76, 220),
        (208, 92, 0),
        (0, 128, 98),
        (176, 52, 150),
        (0, 118, 180),
        (150, 112, 0),
    ),
    weights=(
        (245, 242, 236),
        (190, 221, 201),
        (140, 198, 170),
        (89, 173, 147),
        (43, 146, 126),
        (14, 116, 106),
        (23, 86, 83),
        (31, 56, 57),
        (9, 33, 36),
    ),
)
DARK = Theme(
    paper=(21, 22, 27),
    lane=(32, 34, 41),
    black_lane=(26, 27, 33),
    past=(48, 42, 30),
    line=(47, 49, 58),
    strong_line=(84, 87, 100),
    ink=(236, 237, 242),
    soft_ink=(166, 169, 182),
    accent=(255, 110, 140),
    new=(53, 194, 179),
    tracks=(
        (240, 169, 74),
        (189, 164, 245),
        (244, 146, 172),
        (143, 184, 240),
        (174, 208, 101),
        (203, 187, 166),
        (226, 154, 240),
        (255, 155, 120),
        (127, 214, 194),
        (169, 173, 255),
    ),
    heads=(
        (251, 146, 60),
        (250, 204, 21),
        (74, 222, 128),
        (34, 211, 238),
        (138, 176, 255),
        (201, 155, 255),
        (247, 138, 192),
        (214, 211, 209),
    ),
    series=(
        (134, 150, 255),
        (255, 158, 74),
        (70, 208, 168),
        (236, 132, 214),
        (96, 190, 255),
        (226, 192, 84),
    ),
    weights=(
        (32, 30, 27),
        (24, 59, 61),
        (11, 88, 89),
        (9, 118, 114),
        (46, 148, 137),
        (90, 175, 160),
        (140, 201, 184),
        (191, 225, 212),
        (220, 255, 239),
    ),
)
THEMES = {"light": LIGHT, "dark": DARK}


def theme_named(name: str) -> Theme:
    """Return the theme "light" or "dark".

    Raises:
        ValueError: There is no such theme.
    """
    if name not in THEMES:
        raise ValueError(f"there is no theme {name!r}: choose one of {', '.join(THEMES)}")
    return THEMES[name]


def weight_colours(values: ArrayLike, theme: Theme) -> NDArray[np.uint8]:
    """Return the colours of weights between 0 and 1, uint8 (*S, 3).

    Lightness alone tells the order, and runs in equal steps of Oklab's L (Ottosson, 2020): on light
    paper more is darker, on dark paper more is lighter.
    """
    points = np.asarray(theme.weights, dtype=np.float64)
    at = np.clip(np.asarray(values, dtype=np.float64), 0.0, 1.0) * (len(points) - 1)
    steps = np.arange(len(points))
    channels = [np.interp(at, steps, points[:, channel]) for channel in range(3)]
    return np.rint(np.stack(channels, axis=-1)).astype(np.uint8)


def css(colour: Colour) -> str:
    """Return a colour as a style sheet has it."""
    return "#{:02x}{:02x}{:02x}".format(*colour)


def blend(under: Colour, over: Colour, share: float) -> Colour:
    """Return `over` laid on `under` with an opacity of `share`."""
    red, green, blue = (round(u + (o - u) * share) for u, o in zip(under, over, strict=True))
    return red, green, blue
