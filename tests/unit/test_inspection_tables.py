"""Attention as CSV: read back by Python's own reader, against numbers set by hand."""

from __future__ import annotations

import csv
import io

import numpy as np

from musicgen.inspection import Habits, Look, bars_csv, habits_csv, looks_csv, map_csv
from musicgen.midi import note_name, plain_note_name
from musicgen.tokens.piano_decode import describe
from musicgen.tokens.piano_vocabulary import FIRST_GAP, FIRST_PITCH, FIRST_VELOCITY


def read(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8"), newline="")))


def test_a_key_has_one_name_wherever_it_is_told():
    """Guards: A#4 in the attention lab for what the roll beside it called B♭4."""
    keys = (60, 61, 70, 21, 0)
    assert [note_name(key) for key in keys] == ["C4", "C♯4", "B♭4", "A0", "C-1"]
    assert [plain_note_name(key) for key in keys] == ["C4", "C#4", "Bb4", "A0", "C-1"]
    assert (
        describe((FIRST_GAP + 10, FIRST_PITCH + 70, FIRST_VELOCITY + 16, 60))
        .split(": ")[1]
        .startswith("B♭4, ")
    )


def test_a_map_reads_back_as_it_was_and_leaves_the_future_empty():
    weights = np.array([[1, 0, 0], [0.25, 0.75, 0], [0.12344, 0.5, 0.37656]])
    rows = read(map_csv(weights, [np.nan, 0.5, 1.25], [np.nan, 60, 62], first_event=10))
    assert rows[0] == ["event", "onset_s", "note", "to_11", "to_12", "to_13"]
    assert rows[1] == ["11", "", "", "1", "", ""]
    assert rows[2] == ["12", "0.50", "C4", "0.25", "0.75", ""]
    assert rows[3] == ["13", "1.25", "D4", "0.1234", "0.5", "0.3766"]


def test_the_events_that_are_no_notes_are_named():
    """Guards: a last row of every whole piece without a word of what it is."""
    nothing, pitch = np.tril(np.full((4, 4), 0.25)), [np.nan, 60, np.nan, np.nan]
    rows = read(map_csv(nothing, pitch, pitch, has_end=True))
    assert [row[2] for row in rows[1:]] == ["start", "C4", "", "end"]
    rows = read(map_csv(nothing, pitch, pitch, first_event=9))
    assert [row[2] for row in rows[1:]] == ["", "C4", "", ""]


def test_means_by_bar():
    rows = read(bars_csv([[1, 0], [0.4, 0.6]], ["1", "2"]))
    assert rows == [["bar", "to_1", "to_2"], ["1", "1", ""], ["2", "0.4", "0.6"]]


def test_looks_and_habits_have_a_line_each():
    look = Look(
        layer="3", heads="1+2", from_s=2.0, from_pitch=64, to_s=1.0, to_pitch=52, weight=0.5
    )
    assert read(looks_csv([look]))[1] == ["3", "1+2", "2.00", "E4", "1.00", "E3", "0.5000"]
    habits = Habits(
        kinds=("first", "itself"),
        weights=np.array([[[0.5, 0.25], [0, 1]]], np.float32),
        chance=np.array([0.1, 0.1], np.float32),
        events=np.array([[2, 1]], np.float32),
        back_s=np.array([[1.5, np.nan]], np.float32),
        n_notes=9,
    )
    rows = read(habits_csv(habits))
    assert rows[0] == ["layer", "head", "first", "itself", "events_at_once", "seconds_back"]
    assert rows[1] == ["1", "1", "0.5000", "0.2500", "2.00", "1.50"]
    assert rows[2] == ["1", "2", "0.0000", "1.0000", "1.00", ""]
    assert rows[3][:3] == ["chance", "", "0.1000"]
    assert len({len(row) for row in rows}) == 1
