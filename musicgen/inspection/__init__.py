"""What the model attended to: one recorded pass, a view of it in numpy, and what heads do in it.

Torch is imported only by the pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from musicgen.inspection.habits import KINDS, Habits
from musicgen.inspection.measuring import find_habits
from musicgen.inspection.reduced import combine_heads, group_events, mean_by_group
from musicgen.inspection.tables import Look, bars_csv, habits_csv, looks_csv, map_csv
from musicgen.inspection.view import AttentionView, Sources

if TYPE_CHECKING:
    from musicgen.inspection.recording import look

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


# Torch takes a second to import: a page that shows a file, or nothing yet, does not wait for it.
def __getattr__(name: str) -> object:
    if name == "look":
        from musicgen.inspection.recording import look

        return look
    raise AttributeError(f"module 'musicgen.inspection' has no attribute {name!r}")
