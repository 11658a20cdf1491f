"""What holds of fingerprints whatever the music: transposed, stretched, cut out of its piece."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from musicgen.corpus.outline import LOWER, UPPER, fingerprints, outline, winnow

# Sixteenths of a second: products with a power of two stay exact.
STEPS = st.lists(st.integers(0, 8), min_size=1, max_size=80)
PITCHES = st.integers(21, 80)
HASHES = hnp.arrays(np.uint64, st.integers(0, 120), elements=st.integers(0, 40))
WINDOW_S = 0.15


@st.composite
def music(draw):
    onset_s = np.cumsum(draw(STEPS)) / 16
    pitch = draw(st.lists(PITCHES, min_size=len(onset_s), max_size=len(onset_s)))
    return onset_s, np.array(pitch, dtype=np.int64)


@given(music(), st.integers(-21, 47), st.sampled_from([0.5, 2.0, 4.0]), st.sampled_from([1, -1]))
def test_transposed_and_stretched_music_has_the_same_fingerprints(notes, semitones, stretch, line):
    onset_s, pitch = notes
    plain = fingerprints(onset_s, pitch, window_s=WINDOW_S, line=line, gram=5)
    moved = fingerprints(
        onset_s * stretch, pitch + semitones, window_s=WINDOW_S * stretch, line=line, gram=5
    )
    assert np.array_equal(plain.hashes, moved.hashes)
    assert np.array_equal(plain.rows, moved.rows)


@given(music(), st.sampled_from([UPPER, LOWER]))
def test_notes_of_a_line_lie_a_window_apart(notes, line):
    """Guards the reason why loose playing cannot change the order of a line."""
    onset_s, pitch = notes
    kept = outline(onset_s, pitch, window_s=WINDOW_S, line=line)
    assert (np.diff(onset_s[kept]) >= WINDOW_S).all()
    highest = np.flatnonzero(pitch * line == (pitch * line).max())
    assert highest[0] in kept


@given(music())
def test_the_lower_line_is_the_upper_one_turned_over(notes):
    onset_s, pitch = notes
    lower = outline(onset_s, pitch, window_s=WINDOW_S, line=LOWER)
    assert np.array_equal(lower, outline(onset_s, 127 - pitch, window_s=WINDOW_S, line=UPPER))


@given(HASHES, st.integers(1, 12))
def test_every_window_has_a_chosen_hash(hashes, spacing):
    chosen = winnow(hashes, spacing)
    assert chosen.shape == hashes.shape
    for start in range(max(0, len(hashes) - spacing + 1)):
        assert chosen[start : start + spacing].any()


@given(HASHES, st.integers(1, 12), st.data())
def test_what_is_chosen_of_a_passage_is_chosen_of_the_whole(hashes, spacing, data):
    """Guards the guarantee: a shared run of `spacing` hashes shares a chosen one."""
    start = data.draw(st.integers(0, len(hashes)))
    part = hashes[start:]
    if len(part) >= spacing:
        chosen = winnow(hashes, spacing)[start:]
        assert (chosen | ~winnow(part, spacing)).all()
