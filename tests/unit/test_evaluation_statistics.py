"""Statistics of excerpts: on hand-made notes, where every figure can be told by counting."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from musicgen.evaluation import (
    STATISTICS,
    Excerpt,
    Statistics,
    cut_excerpt,
    cut_excerpts,
    heard_notes,
    measure,
)
from musicgen.evaluation.histograms import HISTOGRAM_EDGES
from musicgen.evaluation.onsets import onsets, sounding_time
from musicgen.midi import NoteTable, notes_to_score
from musicgen.midi.notes import SUSTAIN

SCALE = [60, 62, 64, 65, 67, 69, 71, 72]


def excerpt_of(notes: NoteTable, seconds: float) -> Excerpt:
    return cut_excerpt(notes, piece="hand-made", start_s=0.0, seconds=seconds)


def figures(notes: NoteTable, seconds: float) -> Statistics:
    return measure(excerpt_of(notes, seconds)).statistics


def scale(*, times: int = 1, step_s: float = 0.5, velocity: int = 60, up: int = 0) -> NoteTable:
    pitch = np.tile(SCALE, times) + up
    onset = np.arange(len(pitch)) * step_s
    return NoteTable.of(onset, onset + step_s, pitch, np.full(len(pitch), velocity))


def random_notes(seed: int, seconds: float = 20.0) -> NoteTable:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 200))
    onset = np.round(np.sort(rng.uniform(0, seconds, n)), 2)
    length = np.round(rng.gamma(1.0, 0.5, n) + 0.01, 2)
    return NoteTable.of(onset, onset + length, rng.integers(40, 90, n), rng.integers(20, 110, n))


def test_a_scale_by_hand() -> None:
    found = figures(scale(), 4.0)
    assert found.notes_per_s == 2.0
    assert found.polyphony == pytest.approx(1.0)
    assert found.onset_notes == 1.0
    assert found.pitch_mean == pytest.approx(66.25)
    assert found.pitch_range == 12
    # Seven pitch classes, C twice.
    assert found.pitch_class_entropy == pytest.approx(
        -6 / 8 * math.log2(1 / 8) - 2 / 8 * math.log2(1 / 4)
    )
    assert found.interval == pytest.approx(12 / 7)
    assert found.ioi_s == pytest.approx(0.5)
    assert found.ioi_spread == pytest.approx(0.0, abs=1e-6)
    assert found.length_s == pytest.approx(0.5)
    assert found.ringing_share == 0.0
    assert (found.velocity_mean, found.velocity_spread) == (60, 0)
    assert found.longest_silence_s == 0.0
    assert found.longest_note_s == pytest.approx(0.5)


def test_chords_polyphony_and_silence_by_hand() -> None:
    # A chord of three for one second, two seconds of nothing, then one note for one second.
    notes = NoteTable.of([0, 0.02, 0.03, 3.03], [1, 1, 1, 4.03], [48, 52, 55, 60], [40, 50, 60, 90])
    found = figures(notes, 10.0)
    assert found.onset_notes == 2.0
    assert found.longest_silence_s == pytest.approx(2.03)
    assert found.polyphony == pytest.approx((1 + 0.98 + 0.97 + 1) / 2)
    np.testing.assert_allclose(sounding_time(notes), [2.03, 1.02, 0.01, 0.97], atol=1e-9)
    times, sizes = onsets(notes)
    assert (times.tolist(), sizes.tolist()) == ([0.0, 3.03], [3, 1])


def test_a_pedal_that_rings_over_two_onsets_is_counted() -> None:
    onset = np.arange(6) * 0.5
    short = NoteTable.of(onset, onset + 0.4, [60] * 6, [60] * 6)
    long = NoteTable.of(onset, onset + 1.2, [60, 62, 64, 65, 67, 69], [60] * 6)
    assert figures(short, 4.0).ringing_share == 0.0
    assert figures(long, 4.0).ringing_share == 1.0  # of the four notes that two onsets follow


def test_velocity_moves_from_four_seconds_to_the_next() -> None:
    loud_soft = [40] * 8 + [80] * 8 + [50] * 8
    notes = scale(times=3)
    notes = NoteTable.of(notes.onset_s, notes.end_s, notes.pitch, loud_soft)
    found = figures(notes, 12.0)
    assert found.velocity_mean_movement == pytest.approx((40 + 30) / 2)
    assert found.velocity_spread_movement == 0.0
    wide = NoteTable.of(notes.onset_s, notes.end_s, notes.pitch, [60] * 8 + [50, 70] * 4 + [60] * 8)
    assert figures(wide, 12.0).velocity_spread_movement == pytest.approx(10.0)


def test_a_key_kept_is_stable_and_a_key_left_is_not() -> None:
    home = scale(times=10)
    assert figures(home, 40.0).key_stability == 1.0
    away = np.where(np.arange(80) < 40, 0, 6)
    gone = NoteTable.of(home.onset_s, home.end_s, home.pitch + away, home.velocity)
    assert figures(gone, 40.0).key_stability < 0.7
    assert figures(home, 40.0).key_clarity > 0.8 > figures(random_notes(1), 20.0).key_clarity


def test_a_loop_is_repeated_and_free_notes_are_not() -> None:
    """Guards the loop that a statistic of single notes cannot see."""
    assert figures(scale(times=15, step_s=0.5), 60.0).repeated_share == 1.0
    assert figures(random_notes(3), 20.0).repeated_share == 0.0
    # Played again with errors of up to 20 ms it is still the same passage.
    rng = np.random.default_rng(0)
    first = random_notes(5, seconds=5.0)
    late = first.onset_s + 6.0 + rng.uniform(-0.02, 0.02, len(first))
    both = NoteTable.of(
        np.concatenate([first.onset_s, late]),
        np.concatenate([first.end_s, late + 0.2]),
        np.tile(first.pitch, 2),
        np.tile(first.velocity, 2),
    )
    assert figures(both, 12.0).repeated_share > 0.2


def test_harmony_that_returns_is_alike_far_away() -> None:
    chords = {"C": [60, 64, 67], "Fs": [54, 58, 61], "D": [62, 66, 69], "Af": [56, 60, 63]}

    def play(names: str) -> NoteTable:
        rows = [(2.0 * i, p) for i, name in enumerate(names.split()) for p in chords[name]]
        at, pitch = np.array(rows).T
        return NoteTable.of(at, at + 2, pitch.astype(int), [60] * len(at))

    returns = play("C Fs D Af C Fs D Af C Fs D Af")
    stays_away = play("C C C C Fs Fs Fs Fs D D D D")
    assert figures(returns, 24.0).similarity_far > 0.95
    assert figures(stays_away, 24.0).similarity_far < 0.3


@pytest.mark.parametrize("n_notes", [0, 1, 2])
def test_few_notes_give_figures_or_nan_and_never_fail(n_notes: int) -> None:
    notes = scale().select(slice(0, n_notes))
    measured = measure(excerpt_of(notes, 10.0))
    assert tuple(measured.statistics.as_dict()) == STATISTICS
    assert measured.statistics.notes_per_s == n_notes / 10
    assert math.isnan(measured.statistics.repeated_share)
    for name, shares in measured.histograms.items():
        assert len(shares) == len(HISTOGRAM_EDGES[name]) - 1
        assert np.isfinite(shares).all()


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 30), up=st.integers(-12, 12))
def test_transposition_leaves_all_but_the_pitch_alone(seed: int, up: int) -> None:
    notes = random_notes(seed)
    moved = NoteTable.of(notes.onset_s, notes.end_s, notes.pitch + up, notes.velocity)
    here, there = measure(excerpt_of(notes, 20.0)), measure(excerpt_of(moved, 20.0))
    for name in STATISTICS:
        expected = getattr(here.statistics, name) + (up if name == "pitch_mean" else 0)
        assert getattr(there.statistics, name) == pytest.approx(expected, abs=1e-5), name
    for name in set(HISTOGRAM_EDGES) - {"pitch"}:
        np.testing.assert_allclose(here.histograms[name], there.histograms[name], atol=1e-9)


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 30), louder=st.integers(-15, 15))
def test_loudness_leaves_all_but_the_mean_velocity_alone(seed: int, louder: int) -> None:
    notes = random_notes(seed)
    moved = NoteTable.of(notes.onset_s, notes.end_s, notes.pitch, notes.velocity + louder)
    here, there = figures(notes, 20.0), figures(moved, 20.0)
    for name in STATISTICS:
        expected = getattr(here, name) + (louder if name == "velocity_mean" else 0)
        assert getattr(there, name) == pytest.approx(expected, abs=1e-5), name


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 30))
def test_histograms_are_shares(seed: int) -> None:
    for shares in measure(excerpt_of(random_notes(seed), 20.0)).histograms.values():
        assert shares.sum() == pytest.approx(1.0)
        assert (shares >= 0).all()


def test_excerpts_are_of_one_length_and_their_notes_end_within() -> None:
    notes = random_notes(2, seconds=50.0)
    cuts = list(cut_excerpts(notes, piece="p", seconds=20.0, stride_s=10.0))
    assert [cut.start_s for cut in cuts] == [0.0, 10.0, 20.0, 30.0]
    for cut in cuts:
        inside = (notes.onset_s >= cut.start_s) & (notes.onset_s < cut.start_s + 20)
        assert len(cut.notes) == inside.sum()
        assert cut.notes.end_s.max() <= 20.0


def test_a_take_five_percent_short_is_an_excerpt_and_a_shorter_one_is_none() -> None:
    def held(end_s: float) -> NoteTable:
        return NoteTable.of([0.0], [end_s], [60], [60])

    assert len(list(cut_excerpts(held(57.0), piece="p", seconds=60.0))) == 1
    assert not list(cut_excerpts(held(56.9), piece="p", seconds=60.0))


def test_real_and_generated_music_are_heard_alike() -> None:
    """Guards telling them apart by pedal events or by the grid instead of by the music."""
    keys = NoteTable.of([0.1234, 1.0], [0.3, 1.5], [60, 64], [61, 62])
    score = notes_to_score(keys)
    from symusic.core import ControlChangeTick

    score.tracks[0].controls.append(ControlChangeTick(200, SUSTAIN, 127))
    score.tracks[0].controls.append(ControlChangeTick(2000, SUSTAIN, 0))
    heard = heard_notes(score)
    np.testing.assert_allclose(heard.onset_s, [0.12, 1.0])
    assert heard.end_s.min() > 1.9  # the pedal's part is in the lengths
    assert heard.velocity.tolist() == [62, 62]
    again = heard_notes(notes_to_score(heard))
    np.testing.assert_allclose(again.end_s, heard.end_s)
