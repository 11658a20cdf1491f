"""Notes, pedal and clocks as arrays."""

from __future__ import annotations

import numpy as np
import pytest
from symusic.core import ControlChangeTick, NoteTick, ScoreTick, TempoTick, TrackTick

from musicgen.midi import (
    NoteTable,
    TempoMap,
    fold_pedal,
    note_table,
    notes_to_score,
    pedal_spans,
)
from musicgen.midi.notes import order_by


def score_of(notes: list[tuple[int, int, int]], pedal: list[tuple[int, int]] = ()) -> ScoreTick:
    """Return a score of 1 ms ticks: notes (start, length, pitch), pedal (tick, value)."""
    score = ScoreTick(500)
    track = TrackTick("piano", 0, False)
    for start, length, pitch in notes:
        track.notes.append(NoteTick(start, length, pitch, 64))
    for tick, value in pedal:
        track.controls.append(ControlChangeTick(tick, 64, value))
    score.tracks.append(track)
    return score


def folded_ends(notes: list[tuple[int, int, int]], pedal: list[tuple[int, int]]) -> list[float]:
    score = score_of(notes, pedal)
    return np.round(fold_pedal(note_table(score), score).end_s, 6).tolist()


def test_tempo_map_goes_through_changes_and_back() -> None:
    clock = TempoMap.from_changes([960, 0, 960], [250_000, 1_000_000, 500_000], 480)
    # of the two tempi at 960 the one that stands later in the file counts
    assert clock.seconds([0, 480, 960, 1440]).tolist() == [0, 1, 2, 2.5]
    ticks = np.arange(0, 3000, 7)
    assert np.allclose(clock.ticks(clock.seconds(ticks)), ticks)


def test_tempo_map_is_120_bpm_until_the_first_tempo() -> None:
    clock = TempoMap.from_changes([480], [1_000_000], 480)
    assert clock.seconds([480, 960]).tolist() == [0.5, 1.5]
    assert TempoMap.from_changes([], [], 480).seconds(480) == 0.5


@pytest.mark.parametrize(("tempo", "division"), [(0, 480), (500_000, 0)])
def test_tempo_map_refuses_a_clock_that_stands(tempo: int, division: int) -> None:
    with pytest.raises(ValueError, match="above 0"):
        TempoMap.from_changes([0], [tempo], division)


def test_note_table_is_sorted_and_leaves_drums_out() -> None:
    score = score_of([(500, 100, 60), (0, 100, 64), (0, 100, 60)])
    drums = TrackTick("drums", 0, True)
    drums.notes.append(NoteTick(0, 100, 36, 64))
    score.tracks.append(drums)
    table = note_table(score)
    assert table.pitch.tolist() == [60, 64, 60]
    assert len(note_table(score, include_drums=True)) == 4


def test_note_table_is_right_across_tempo_changes() -> None:
    score = score_of([(500, 1000, 60)])
    score.tempos.append(TempoTick(1000, 60))
    table = note_table(score)
    assert (table.onset_s[0], table.end_s[0]) == (0.5, 2.0)


@pytest.mark.parametrize(
    ("notes", "pedal", "ends"),
    [
        ([(0, 100, 60)], [(50, 127), (500, 0)], [0.5]),
        ([(0, 100, 60)], [(100, 64), (500, 63)], [0.5]),  # pressed as the key comes up
        ([(0, 100, 60)], [(0, 127), (100, 0)], [0.1]),  # let up as the key comes up
        ([(0, 100, 60)], [(0, 63), (500, 0)], [0.1]),  # not down
        ([(0, 100, 60), (300, 100, 60)], [(50, 127), (900, 0)], [0.3, 0.9]),  # struck again
        ([(0, 400, 60), (300, 100, 60)], [(50, 127), (900, 0)], [0.4, 0.9]),  # overlapping keys
        ([(0, 100, 60), (0, 200, 60)], [(50, 127), (900, 0)], [0.9, 0.9]),  # doubled
        ([(0, 100, 60), (0, 700, 72)], [(50, 127)], [0.7, 0.7]),  # never let up
        ([(0, 100, 60)], [(50, 127), (60, 90), (500, 0), (600, 0)], [0.5]),  # repeated values
    ],
)
def test_pedal_lengthens_notes_as_a_piano_does(notes, pedal, ends) -> None:
    assert folded_ends(notes, pedal) == ends


def test_pedal_acts_on_its_own_track_only() -> None:
    score = score_of([(0, 100, 60)], [(50, 127), (500, 0)])
    other = TrackTick("other", 0, False)
    other.notes.append(NoteTick(0, 100, 61, 64))
    score.tracks.append(other)
    assert fold_pedal(note_table(score), score).end_s.tolist() == [0.5, 0.1]
    assert list(pedal_spans(score)) == [0]


def test_pedal_that_is_pressed_after_the_last_key_does_not_hang() -> None:
    assert pedal_spans(score_of([(0, 100, 60)], [(800, 127)])) == {}


def test_folding_agrees_with_a_plain_loop() -> None:
    random = np.random.default_rng(0)
    start = np.sort(random.integers(0, 20_000, 600))
    notes = [(int(s), int(random.integers(1, 900)), int(random.integers(60, 66))) for s in start]
    turns = np.sort(random.choice(20_000, 80, replace=False))
    pedal = [(int(t), 127 * (i % 2 == 0)) for i, t in enumerate(turns)]
    table = note_table(score_of(notes, pedal))
    spans = pedal_spans(score_of(notes, pedal))[0]
    due = []
    for onset, end, pitch in zip(table.onset_s, table.end_s, table.pitch, strict=True):
        release = max((up for down, up in spans if down <= end < up), default=end)
        again = table.onset_s[(table.pitch == pitch) & (table.onset_s > onset)]
        due.append(max(end, min(release, again.min(initial=np.inf))))
    folded = fold_pedal(table, {0: spans})
    assert sorted(zip(table.onset_s, table.pitch, due, strict=True)) == sorted(
        zip(folded.onset_s, folded.pitch, folded.end_s, strict=True)
    )


def test_notes_survive_the_way_through_a_score() -> None:
    table = NoteTable.of([0.5, 0.0], [0.75, 9.0], [60, 127], [1, 127])
    back = note_table(notes_to_score(table))
    assert back.pitch.tolist() == [127, 60]
    assert np.allclose(back.onset_s, [0, 0.5])
    assert np.allclose(back.end_s, [9, 0.75])


def test_notes_to_score_gives_every_note_a_length() -> None:
    score = notes_to_score(NoteTable.of([1.0], [1.0], [60], [64]))
    assert score.tracks[0].notes[0].duration == 1


def test_notes_to_score_refuses_times_that_midi_cannot_name() -> None:
    with pytest.raises(ValueError, match="tick"):
        notes_to_score(NoteTable.of([3e6], [3e6], [60], [64]))


def test_note_table_refuses_columns_of_different_lengths() -> None:
    with pytest.raises(ValueError, match="shape"):
        NoteTable.of([0.0, 1.0], [1.0], [60], [64])


def test_ordering_by_columns_is_that_of_lexsort():
    """Guards the short way: only equal onsets are sorted by the other columns."""
    rng = np.random.default_rng(2)
    for n, kinds in ((0, 1), (1, 1), (2, 1), (200, 3), (200, 150), (300, 10**6)):
        columns = [rng.integers(0, most, n) for most in (kinds, 4, 3, 2)]
        expected = np.lexsort(columns[::-1])
        np.testing.assert_array_equal(order_by(*columns), expected)
        np.testing.assert_array_equal(order_by(columns[0] / 7, *columns[1:]), expected)
