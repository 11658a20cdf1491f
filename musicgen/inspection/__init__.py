"""What the model attended to: one recorded pass, a view of it in numpy, and what heads do in it."""

from __future__ import annotations

from musicgen.inspection.habits import KINDS, Habits
from musicgen.inspection.look import look
from musicgen.inspection.measuring import find_habits
from musicgen.inspection.reduced import combine_heads, group_events, mean_by_group
from musicgen.inspection.tables import Look, bars_csv, habits_csv, looks_csv, map_csv
from musicgen.inspection.view import AttentionView, Sources

__all__ = [
    "KINDS",
    "AttentionView",
    "Habits",
    "Look",
    "Sources",
    "bars_csv",
    "combine_heads",
    "find_habits",
    "group_events",
    "habits_csv",
    "look",
    "looks_csv",
    "map_csv",
    "mean_by_group",
]
