"""Arrays in, pictures out: piano rolls, attention on maps and on notes, curves, bars."""

from __future__ import annotations

from musicgen.figures.arcs import Arc, arcs_figure
from musicgen.figures.attention import attention_figure, layers_heads_figure
from musicgen.figures.bars import bars_png
from musicgen.figures.colours import DARK, LIGHT, THEMES, Theme, css
from musicgen.figures.curves import curves_png
from musicgen.figures.roll import roll_png
from musicgen.figures.roll_plan import RollPlan, plan_roll
from musicgen.figures.vector import Form

__all__ = [
    "DARK",
    "LIGHT",
    "THEMES",
    "Arc",
    "Form",
    "RollPlan",
    "Theme",
    "arcs_figure",
    "attention_figure",
    "bars_png",
    "css",
    "curves_png",
    "layers_heads_figure",
    "plan_roll",
    "roll_png",
]
