"""Loops, silences, notes held for ever and endings, each made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from musicgen.evaluation import Faults, find_faults, is_released, meets_length
from musicgen.midi import NoteTable

NONE = Faults(loops=0, silences=0, long_notes=0)


def in_time(pitch: list[int], step_s: float = 0.2) -> NoteTable:
    onset = np.arange(len(pitch)) * step_s
    return NoteTable.of(onset, onset + 0.1, pitch, [60] * len(pitch))


def free(n: int, seed: int = 0) -> NoteTable:
    rng = np.random.default_rng(seed)
    onset = np.cumsum(np.round(rng.uniform(0.01, 0.3, n), 2))
    return NoteTable.of(onset, onset + 0.2, rng.integers(40, 80, n), rng.integers(30, 90, n))


def test_free_music_has_no_fault() -> None:
    assert find_faults(free(400)) == NONE
    assert find_faults(free(0)) == NONE
    assert find_faults(free(1)) == NONE


def test_silences_and_long_notes_are_counted() -> None:
    notes = NoteTable.of([0, 5.1, 10, 31], [1, 6, 30.5, 32], [60, 62, 64, 65], [60] * 4)
    assert find_faults(notes) == Faults(loops=0, silences=1, long_notes=1)
    exactly = NoteTable.of([0, 5, 30], [1, 25, 30.5], [60, 62, 64], [60] * 3)
    assert find_faults(exactly).silences == 1  # 25 to 30; 4.0 s is none
    assert find_faults(exactly).long_notes == 0


def test_a_loop_needs_to_be_long() -> None:
    bar = [60, 64, 67, 72]
    # 24 + 2 · 4 notes as they were four before: the first bar, and the first note after no gap,
    # do not count.
    assert find_faults(in_time(bar * 10)).loops > 0
    assert find_faults(in_time(bar * 9)).loops == 0


def test_one_key_struck_for_ever_is_a_loop_whatever_its_rhythm() -> None:
    notes = free(60)
    monotonous = NoteTable.of(notes.onset_s, notes.end_s, [60] * 60, notes.velocity)
    assert find_faults(monotonous).loops == 1


@pytest.mark.parametrize(
    ("last_onset_s", "end_s", "well"),
    [
        (59.0, 60.5, True),
        (56.0, 57.0, True),
        (62.0, 63.0, True),
        (56.0, 56.9, False),
        (60, 64, False),
    ],
)
def test_an_ending_lies_within_five_percent(last_onset_s, end_s, well) -> None:
    notes = NoteTable.of([0.0, last_onset_s], [1.0, end_s], [60, 62], [60, 60])
    assert meets_length(notes, 60.0) is well
    assert is_released(notes)


def test_an_ending_that_is_cut_off_is_none() -> None:
    """Guards a length that is met by breaking off in the middle of a run."""
    notes = NoteTable.of([59.7, 59.9], [60.0, 60.0], [60, 62], [60, 60])
    assert meets_length(notes, 60.0)
    assert not is_released(notes)
    assert not is_released(free(0))
    assert not meets_length(free(0), 60.0)
