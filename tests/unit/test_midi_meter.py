"""Beats and bars out of tempo maps and time signatures."""

from __future__ import annotations

import numpy as np
import pytest
from symusic.core import NoteTickList, TempoTick, TimeSignatureTick, TrackTick
from symusic.core import ScoreTick as Score

from musicgen.midi import NoteTable, find_meter, notes_to_score
from musicgen.midi.meter import MOST_BEATS

QUARTER = 480


def score_of(ticks, *, signatures=(), tempos=((0, 120.0),)):
    score = Score(QUARTER)
    for at, qpm in tempos:
        score.tempos.append(TempoTick(at, qpm))
    for at, numerator, denominator in signatures:
        score.time_signatures.append(TimeSignatureTick(at, numerator, denominator))
    track = TrackTick("t", 0, False)
    n = len(ticks)
    start = np.asarray(ticks, np.int32)
    track.notes = NoteTickList.from_numpy(
        start, np.full(n, 100, np.int32), np.full(n, 60, np.int8), np.full(n, 70, np.int8)
    )
    score.tracks.append(track)
    return score


def test_bars_follow_tempo_and_signature():
    # Two bars of 3/4 at 120, then 2/4; the tempo halves at the second bar.
    score = score_of(
        np.arange(10) * QUARTER,
        signatures=[(0, 3, 4), (6 * QUARTER, 2, 4)],
        tempos=[(0, 120.0), (3 * QUARTER, 60.0)],
    )
    meter = find_meter(score)
    assert meter is not None
    assert meter.beat_s[:7] == pytest.approx([0, 0.5, 1, 1.5, 2.5, 3.5, 4.5])
    assert meter.bar_s[:5] == pytest.approx([0, 1.5, 4.5, 6.5, 8.5])
    assert meter.on_grid == 1.0
    assert meter.is_kept_to
    assert meter.bar_s[-1] > 9 * 1.0  # a line stands behind the last note


def test_a_beat_of_compound_time_is_three_eighths():
    meter = find_meter(score_of([0, 3 * QUARTER], signatures=[(0, 6, 8)]))
    assert meter is not None
    assert meter.beat_s[:3] == pytest.approx([0, 0.75, 1.5])
    assert meter.bar_beats[:3].tolist() == [0, 2, 4]


def test_a_signature_inside_a_bar_begins_a_new_one():
    meter = find_meter(score_of([0, 4000], signatures=[(0, 4, 4), (2 * QUARTER + 240, 4, 4)]))
    assert meter is not None
    assert meter.beat_s[:5] == pytest.approx([0, 0.5, 1.0, 1.25, 1.75])
    assert meter.bar_beats[:3].tolist() == [0, 3, 7]


def test_a_performance_has_bars_only_where_its_file_names_them_and_does_not_keep_to_them():
    onset = np.cumsum(np.random.default_rng(0).uniform(0.05, 0.4, 200))
    free = notes_to_score(NoteTable.of(onset, onset + 0.1, [60] * 200, [70] * 200))
    assert find_meter(free) is None  # Guards: bar lines over a take that was played freely.
    free.time_signatures.append(TimeSignatureTick(0, 4, 4))
    meter = find_meter(free)
    assert meter is not None
    assert meter.on_grid < 0.35
    assert not meter.is_kept_to


def test_written_music_keeps_its_bars_though_new_notes_do_not():
    written, new = np.arange(40) * 120, 40 * 120 + np.arange(200) * 37 + 11
    score = score_of(np.concatenate([written, new]), signatures=[(0, 4, 4)])
    assert not find_meter(score).is_kept_to
    assert find_meter(score, until_s=40 * 120 / QUARTER / 2).is_kept_to


def test_a_broken_tempo_map_gives_no_bars():
    assert find_meter(score_of([0, MOST_BEATS * 2 * QUARTER], signatures=[(0, 4, 4)])) is None
    assert find_meter(score_of([])) is None
