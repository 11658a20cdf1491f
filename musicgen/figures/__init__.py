"""Arrays in, pictures out: piano rolls, attention, curves."""

from __future__ import annotations

from musicgen.figures.attention import attention_png, layers_heads_png
from musicgen.figures.colours import DARK, LIGHT, THEMES, Theme
from musicgen.figures.curves import curves_png
from musicgen.figures.roll import roll_png
from musicgen.figures.roll_plan import RollPlan, plan_roll

__all__ = [
    "DARK",
    "LIGHT",
    "THEMES",
    "RollPlan",
    "Theme",
    "attention_png",
    "curves_png",
    "layers_heads_png",
    "plan_roll",
    "roll_png",
]
