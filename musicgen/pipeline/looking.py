"""What a face needs to show a model's attention, at the one door for faces."""

from __future__ import annotations

from musicgen.inspection import (
    KINDS,
    AttentionView,
    Habits,
    Look,
    bars_csv,
    combine_heads,
    find_habits,
    group_events,
    habits_csv,
    looks_csv,
    map_csv,
    mean_by_group,
)
from musicgen.inspection.reduced import How
from musicgen.midi import KEY_NAMES, note_name, plain_note_name

__all__ = [
    "KEY_NAMES",
    "KINDS",
    "AttentionView",
    "Habits",
    "How",
    "Look",
    "bars_csv",
    "combine_heads",
    "find_habits",
    "group_events",
    "habits_csv",
    "looks_csv",
    "map_csv",
    "mean_by_group",
    "note_name",
    "plain_note_name",
]
