"""Varied events are the events of varied music."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from musicgen.errors import TokenizerError
from musicgen.midi import NoteTable
from musicgen.tokens import Variation, get_tokenizer
from musicgen.tokens.piano_vocabulary import FIRST_GAP, REST

PIANO = get_tokenizer("piano")


@st.composite
def music(draw, highest: int = 90) -> NoteTable:
    n = draw(st.integers(1, 30))
    steps = np.cumsum(draw(st.lists(st.sampled_from([0, 1, 3, 20, 90]), min_size=n, max_size=n)))
    lengths = np.array(draw(st.lists(st.integers(1, 300), min_size=n, max_size=n)))
    pitch = np.array(draw(st.lists(st.integers(40, highest), min_size=n, max_size=n)))
    velocity = np.array(draw(st.lists(st.integers(9, 30), min_size=n, max_size=n))) * 4 + 2
    return NoteTable.of(steps / 100, (steps + lengths) / 100, pitch, velocity)


@given(music(), st.integers(-12, 12), st.integers(-2, 1))
def test_another_key_and_touch(notes: NoteTable, semitones: int, bins: int):
    """Guards ids that mean no note (a rest's, an end's) from being moved along."""
    moved = NoteTable.of(
        notes.onset_s, notes.end_s, notes.pitch + semitones, notes.velocity + 4 * bins
    )
    ids = PIANO.vary(PIANO.encode(notes), Variation(semitones=semitones, velocity_bins=bins))
    assert np.array_equal(ids, PIANO.encode(moved))


@given(music(), st.floats(0.5, 2.0))
def test_another_tempo(notes: NoteTable, stretch: float):
    """Guards notes out of order: two onsets may come close, but do not become one."""
    ids = PIANO.encode(notes)
    varied = PIANO.vary(ids, Variation(stretch=stretch))
    assert np.array_equal(varied[:, 1:3], ids[:, 1:3])
    assert np.array_equal(varied[:, 0] > FIRST_GAP, ids[:, 0] > FIRST_GAP)
    decoded = PIANO.decode_events(varied)
    # Lengths are rounded to 3%: a note may end before one that was to be released with it begins.
    assert {code for code, _ in decoded.repairs} <= {"nothing-shared"}
    wanted = notes.onset_s.max() * stretch
    if ids[:, 0].max() * stretch < FIRST_GAP + 200:
        # What was rounded away (a step of 10 ms halved) is at most a step a note.
        assert abs(decoded.notes.onset_s.max() - wanted) < 0.01 * (len(notes) + 1)


def test_music_at_the_edge_of_the_keyboard_stays_on_it():
    notes = NoteTable.of([0.0, 0.5], [0.4, 0.9], [107, 60], [66, 66])
    ids = PIANO.vary(PIANO.encode(notes), Variation(semitones=5))
    assert PIANO.decode_events(ids).notes.pitch.tolist() == [108, 61]


def test_rests_and_marks_are_left_as_they_are():
    notes = NoteTable.of([0.0, 9.0], [0.4, 9.9], [60, 60], [66, 66])
    ids = PIANO.encode(notes)
    varied = PIANO.vary(ids, Variation(semitones=3, velocity_bins=2))
    still = ids[:, 1] <= REST
    assert still.sum() > 3
    assert np.array_equal(varied[still], ids[still])


def test_a_flat_scheme_says_that_it_cannot():
    with pytest.raises(TokenizerError, match="cannot vary") as caught:
        get_tokenizer("tsd").vary(np.zeros((2, 1), np.int64), Variation(semitones=1))
    assert "augment_" in caught.value.hint
