"""Endings: within 5% of the length, rung out if the music would stop short."""

import numpy as np
import pytest

from musicgen.generation import LengthPlan, fit_ending
from musicgen.generation.guards import LoopWatch
from musicgen.generation.values import event_values
from musicgen.midi import NoteTable
from musicgen.tokens import get_tokenizer


def table(*notes):
    onset, end, pitch = zip(*notes, strict=True)
    return NoteTable.of(onset, end, pitch, np.full(len(notes), 64))


def test_notes_that_sound_past_the_end_stop_within_5_percent():
    plan = LengthPlan(start_s=10.0, seconds=10.0)
    notes, held = fit_ending(table((12, 40, 60), (19.9, 20.2, 64)), plan, ring=True)
    assert not held
    assert notes.end_s.max() == pytest.approx(20.4)
    assert notes.end_s[1] == pytest.approx(20.2)


def test_a_piece_that_would_stop_dead_rings_to_its_end():
    plan = LengthPlan(start_s=0.0, seconds=10.0)
    notes, held = fit_ending(table((1, 2, 60), (7, 7.5, 64), (7, 8, 67)), plan, ring=True)
    assert held
    assert notes.end_s.tolist() == [2, 10, 10]
    notes, held = fit_ending(table((1, 2, 60)), plan, ring=False)
    assert not held
    assert notes.end_s.tolist() == [2]


def test_no_notes_are_no_trouble():
    notes, held = fit_ending(NoteTable.of([], [], [], []), LengthPlan(), ring=True)
    assert len(notes) == 0
    assert not held


def test_an_end_is_taken_only_where_it_is_an_ending():
    plan = LengthPlan(seconds=100.0)
    assert not plan.may_end(90.0, 500)
    assert plan.may_end(96.5, 500)
    early = LengthPlan(seconds=100.0, may_end_early=True)
    assert not early.may_end(2.0, 50)
    assert not early.may_end(50.0, 7)
    assert early.may_end(50.0, 8)
    assert LengthPlan(seconds=None).may_end(50.0, 8)


def test_the_values_of_the_piano_scheme_are_found():
    values = event_values(get_tokenizer())
    assert values.gap_s[3:].tolist() == pytest.approx(list(np.arange(201) / 100))
    assert np.isnan(values.gap_s[:3]).all()
    assert values.key[4:].tolist() == list(range(128))
    assert (values.key[:4] == -1).all()
    assert values.longest_rest == (203, 3, 3, 3)


def loop_found(events, watch=None):
    watch = watch or LoopWatch()
    return next(
        ((i, n) for i, e in enumerate(events) if (n := watch.push(e, e[1])) is not None), None
    )


def test_one_key_struck_24_times_is_a_loop():
    events = [(i % 7, 60, i % 5, i % 3) for i in range(40)]
    assert loop_found(events) == (23, 23)


@pytest.mark.parametrize("lag", [2, 5, 16, 64])
def test_a_passage_that_comes_again_exactly_is_a_loop(lag):
    generator = np.random.default_rng(lag)
    passage = [tuple(e) for e in generator.integers(0, 100, (lag, 4)).tolist()]
    index, alike = loop_found(passage * 40)
    assert alike == 24 + 2 * lag
    assert index == 3 * lag + 24 - 1  # so stepping back leaves one copy


def test_music_that_comes_again_with_other_velocities_is_none():
    events = [(5, 60 + i % 8, 10 + (i * 7919) % 23, 20) for i in range(2000)]
    assert loop_found(events) is None


def on_keys(keys, n_others=0):
    """Return 150 different events on so many keys, but for some on others, evenly spread."""
    generator = np.random.default_rng(keys)
    pitches = 60 + generator.permutation(np.arange(150) % keys)
    if n_others:
        pitches[3 :: 140 // n_others][:n_others] = 20 + 2 * np.arange(n_others)
    return [(i, int(pitch), 0, 0) for i, pitch in enumerate(pitches)]


@pytest.mark.parametrize(("keys", "n_others"), [(3, 0), (4, 0), (4, 7)])
def test_150_notes_on_four_keys_are_a_loop(keys, n_others):
    """Guards: 309 of 324 notes on four keys, hammered for twenty seconds and called no loop."""
    assert loop_found(on_keys(keys, n_others)) == (149, 150 - 64)


@pytest.mark.parametrize(("keys", "n_others"), [(5, 0), (4, 8)])
def test_what_real_music_does_with_few_keys_is_none(keys, n_others):
    assert loop_found(on_keys(keys, n_others)) is None


def test_what_stays_of_a_few_keys_counts_on_and_a_copy_counts_by_itself():
    """Guards: music that stays on its keys after the step back, and is never noticed again."""
    events, watch = on_keys(4), LoopWatch()
    assert loop_found(events[:64], watch) is None
    for _ in range(2):
        assert loop_found(events[64:], watch.copy()) == (85, 86)


def test_a_copy_of_the_watch_counts_by_itself():
    """Guards steps back: a take goes on from a copy, and the place it went back to stays as it was.

    A list or a table that both held would let the place hear what was withdrawn.
    """
    watch, passage = LoopWatch(), [(i, 60 + i % 5, 0, 0) for i in range(10)]
    assert loop_found(passage, watch) is None
    for _ in range(3):
        twin = watch.copy()
        assert loop_found([(90 + i, 64, 0, 0) for i in range(40)], twin)[0] == 22
        assert loop_found(passage * 9, watch.copy())[0] == 24 + 2 * 10 - 1
