"""Habits of heads, on maps made by hand whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from musicgen.inspection import AttentionView, Habits, find_habits

BEAT_S = 0.5
# The start; then four bars of four crotchets, the same tune in each; a rest after the second bar.
TUNE = [60, 64, 67, 72]
PITCH = [*TUNE, *TUNE, None, *TUNE, *TUNE]
EVENTS = [None, *PITCH]


def view_of(look):
    """Return a view of one head that from event i gives `look(i)`: weights by event."""
    n_events = len(EVENTS)
    weights = np.zeros((1, 1, n_events, n_events), np.float16)
    notes, note_index = [], []
    for i, pitch in enumerate(EVENTS):
        note_index.append(-1 if pitch is None else len(notes))
        if pitch is not None:
            onset = len(notes) * BEAT_S
            notes.append((onset, onset + 0.4, pitch, 80))
        for event, share in look(i).items():
            weights[0, 0, i, event if 0 <= event <= i else i] += share
    return AttentionView(
        weights=weights,
        ids=np.zeros((n_events, 4), np.int64),
        note_index=np.array(note_index),
        notes=np.array(notes, float),
    )


def event_of(note):
    return [i for i, pitch in enumerate(EVENTS) if pitch is not None][note]


def note_of(event):
    return sum(pitch is not None for pitch in EVENTS[: event + 1]) - 1


BEATS = np.arange(18) * BEAT_S
BARS = BEATS[::4]


def measured(look, **lines):
    habits = find_habits(view_of(look), **lines)
    return dict(zip(habits.kinds, habits.weights[0, 0].tolist(), strict=True)), habits


def test_a_head_that_looks_at_the_first_event_alone():
    found, habits = measured(lambda i: {0: 1.0})
    assert found["first"] == pytest.approx(1)
    assert found["previous"] == pytest.approx(1 / 16)  # from the first note it is both
    assert habits.events[0, 0] == pytest.approx(1)
    assert np.isnan(habits.back_s[0, 0])
    assert habits.strongest(0, 0) == ["first"]
    assert habits.sentence(0, 0).startswith("The first event of all (100%, ")


def test_a_head_that_looks_at_the_event_just_before():
    found, habits = measured(lambda i: {i - 1: 1.0})
    assert found["previous"] == pytest.approx(1)
    assert habits.strongest(0, 0)[0] == "previous"
    # A note is a beat before the next; not before the first, nor before the one after the rest.
    found, _ = measured(lambda i: {i - 1: 1.0}, beat_s=BEATS, bar_s=BARS)
    assert found["beat"] == pytest.approx(14 / 16)
    assert found["bar"] == 0


def test_a_head_that_looks_a_bar_back_sees_the_same_key_there():
    def look(i):
        note = note_of(i)
        return {event_of(note - 4) if EVENTS[i] is not None and note >= 4 else i: 1.0}

    found, habits = measured(look, beat_s=BEATS, bar_s=BARS)
    assert found["bar"] == pytest.approx(12 / 16)
    assert found["same_key"] == pytest.approx(12 / 16)
    assert found["itself"] == pytest.approx(4 / 16)
    assert found["octave"] == found["beat"] == found["after_same"] == 0
    assert habits.back_s[0, 0] == pytest.approx(4 * BEAT_S)
    assert set(habits.strongest(0, 0)[:2]) == {"bar", "same_key"}
    assert habits.sentence(0, 0).startswith("Notes one bar back (75%, ")


def test_a_head_that_looks_an_octave_away():
    def look(i):  # from the high C at the low one before it
        return {i - 3 if EVENTS[i] == 72 else i: 1.0}

    found, _ = measured(look)
    assert found["octave"] == pytest.approx(4 / 16)
    assert found["itself"] == pytest.approx(12 / 16)


def test_a_head_that_looks_at_what_followed_the_same_key_before():
    """Guards an induction head being taken for one that looks some beats back."""

    def look(i):
        note = note_of(i)
        return {event_of(note - 4) + 1 if EVENTS[i] is not None and note >= 4 else 0: 1.0}

    found, habits = measured(look)
    assert found["after_same"] == pytest.approx(12 / 16)
    assert found["same_key"] == 0
    assert habits.strongest(0, 0)[0] == "after_same"


def test_notes_struck_together():
    view = AttentionView(
        weights=np.array([[[[1, 0, 0], [0, 1, 0], [0, 1, 0]]]], np.float16),
        ids=np.zeros((3, 4), np.int64),
        note_index=np.array([-1, 0, 1]),
        notes=np.array([[1.0, 1.5, 60, 80], [1.01, 1.5, 64, 80]]),
    )
    habits = find_habits(view)
    assert habits.weights[0, 0, habits.kinds.index("together")] == pytest.approx(0.5)


def test_a_head_that_looks_at_all_alike_is_chance_and_has_no_habit():
    found, habits = measured(
        lambda i: dict.fromkeys(range(i + 1), 1 / (i + 1)), beat_s=BEATS, bar_s=BARS
    )
    assert list(found.values()) == pytest.approx(habits.chance.tolist(), abs=2e-3)
    assert habits.strongest(0, 0) == []
    assert habits.sentence(0, 0).startswith("No habit among these")
    rows = [i + 1 for i, pitch in enumerate(EVENTS) if pitch is not None]
    assert habits.events[0, 0] == pytest.approx(np.mean(rows), rel=0.01)


def test_without_bars_they_are_not_spoken_of():
    habits = find_habits(view_of(lambda i: {i: 1.0}))
    assert "beat" not in habits.kinds
    assert "bar" not in habits.kinds
    assert habits.n_notes == 16


def test_every_head_has_its_own_row_whatever_the_size():
    """Guards rows or heads that change places where they are measured some at a time."""
    n_events = 150
    weights = np.zeros((2, 3, n_events, n_events), np.float16)
    weights[0, :, :, 0] = 1
    weights[1] = np.eye(n_events)
    weights[1, 2] = 0
    weights[1, 2, :, 0] = 1
    onset = np.arange(n_events - 1) / 4
    notes = np.stack([onset, onset + 0.2, onset * 0 + 60, onset * 0 + 80], 1)
    view = AttentionView(
        weights=weights,
        ids=np.zeros((n_events, 4), np.int64),
        note_index=np.arange(-1, n_events - 1),
        notes=notes,
    )
    habits = find_habits(view)
    first = habits.weights[:, :, habits.kinds.index("first")]
    assert first.tolist() == [[1, 1, 1], [0, 0, 1]]


def test_what_cannot_be_measured_is_the_callers_fault():
    view = view_of(lambda i: {i: 1.0})
    with pytest.raises(ValueError, match="ascending"):
        find_habits(view, beat_s=[1.0, 0.5])
    empty = AttentionView(
        weights=np.ones((1, 1, 1, 1), np.float16),
        ids=np.zeros((1, 4), np.int64),
        note_index=np.array([-1]),
        notes=np.zeros((0, 4)),
    )
    with pytest.raises(ValueError, match="a note"):
        find_habits(empty)


def habits_of(*layers):
    """Return habits of heads whose shares on (first, previous, same_key, octave) are given."""
    weights = np.array(layers, np.float32)
    shape = weights.shape[:2]
    return Habits(
        kinds=("first", "previous", "same_key", "octave"),
        weights=weights,
        chance=np.full(4, 0.05, np.float32),
        events=np.ones(shape, np.float32),
        back_s=np.ones(shape, np.float32),
        n_notes=10,
    )


def test_the_layer_whose_heads_differ_most_tells_most():
    """Guards: a layer shown first whose heads all do the same, or rest on the first event."""
    alike = [[0.1, 0.9, 0, 0], [0.1, 0.8, 0, 0], [0.1, 0.9, 0, 0]]
    resting = [[0.9, 0, 0.1, 0], [0.9, 0.1, 0, 0], [0.8, 0, 0, 0.1]]
    apart = [[0.8, 0, 0.2, 0], [0.1, 0.6, 0, 0], [0, 0, 0.1, 0.5]]
    habits = habits_of(alike, resting, apart)
    assert habits.leading(0) == ["previous"]
    assert habits.leading(1) == []
    assert habits.leading(2) == ["same_key", "previous", "octave"]
    assert habits.most_telling() == 2
    plainer = [[0.1, 0, 0.9, 0], [0.1, 0.9, 0, 0], [0, 0, 0, 0.9]]
    assert habits_of(apart, plainer).most_telling() == 1
