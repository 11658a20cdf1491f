"""The piano scheme: vocabularies, grammar, clock, repairs, words."""

from __future__ import annotations

import numpy as np
import pytest
import symusic

from musicgen.errors import TokenizerError
from musicgen.midi.notes import NoteTable, note_table
from musicgen.tokens import get_tokenizer
from musicgen.tokens.piano_vocabulary import FIRST_SHARED, LENGTH_STEPS, length_ids

PIANO = get_tokenizer("piano")
START, END, PAD = (1, 1, 1, 1), (2, 2, 2, 2), (0, 0, 0, 0)
C4 = (13, 64, 20, 53)  # after 0.10 s: pitch 60, velocity 66, 0.50 s
D4 = (13, 66, 20, 53)


def repairs_of(*events):
    return dict(PIANO.decode_events(np.array(events, dtype=np.int64).reshape(-1, 4)).repairs)


def notes_of(*events):
    return PIANO.decode_events(np.array(events, dtype=np.int64).reshape(-1, 4)).notes


def test_vocabularies():
    assert PIANO.vocab_sizes == (204, 132, 36, 4 + len(LENGTH_STEPS) + 8)
    assert PIANO.attribute_names == ("gap", "pitch", "velocity", "length")
    assert (PIANO.n_attributes, PIANO.pad_id, PIANO.grid_ms) == (4, 0, 10.0)
    assert (PIANO.start_event, PIANO.end_event, PIANO.velocity_bins) == (START, END, 32)


def test_any_two_lengths_of_an_id_are_within_three_percent():
    # The true length may differ by one step from that between the rounded onset and end. Any two:
    # a shared release may stand for any length of its id.
    lengths = np.array(LENGTH_STEPS)
    assert (np.diff(lengths) > 0).all()
    assert lengths[:100].tolist() == list(range(1, 101))
    assert lengths[-1] >= 60_000
    steps = np.arange(101, 60_001)
    ids = length_ids(steps)
    shortest = steps[np.searchsorted(ids, ids, side="left")]
    longest = steps[np.searchsorted(ids, ids, side="right") - 1]
    assert (longest - shortest + 1 <= 0.03 * (shortest - 1)).all()
    np.testing.assert_array_equal(length_ids(lengths), 4 + np.arange(len(lengths)))


def shared(n, gap=13, pitch=66):
    return (gap, pitch, 20, FIRST_SHARED + n - 1)


def test_notes_that_a_pedal_ends_together_share_their_release():
    """Guards the half of all notes that need no length of their own."""
    table = NoteTable.of([0, 0.1, 0.2, 0.2], [1, 1, 0.5, 1], [60, 64, 67, 72], [64] * 4)
    ids = PIANO.encode(table)
    assert ids[1:-1, 3].tolist() == [4 + 99, FIRST_SHARED, 4 + 29, FIRST_SHARED + 1]
    decoded = PIANO.decode_events(ids)
    np.testing.assert_allclose(decoded.notes.end_s, table.end_s)
    assert decoded.repairs == ()


def test_a_stroke_under_the_pedal_is_told_once():
    """Guards telling when a key is struck again twice: as a length, and when it happens."""
    table = NoteTable.of([0, 0.1, 0.6], [1, 0.6, 1], [60, 64, 64], [64] * 3)
    ids = PIANO.encode(table)
    assert ids[1:-1, 3].tolist() == [4 + 99, FIRST_SHARED, FIRST_SHARED]
    decoded = PIANO.decode_events(ids)
    np.testing.assert_allclose(decoded.notes.end_s, table.end_s)
    assert decoded.repairs == ()


def test_what_is_not_there_is_not_shared():
    assert repairs_of(shared(1)) == {"nothing-shared": 1}
    assert repairs_of(C4, shared(2)) == {"nothing-shared": 1}
    assert repairs_of(C4, shared(1, gap=53)) == {"nothing-shared": 1}  # it ends at that instant
    assert repairs_of(C4, shared(1, gap=52)) == {}
    # Whoever shares the release of a mended note takes it as it was mended.
    notes = notes_of(shared(1, pitch=60), shared(1, pitch=61), shared(2, gap=3, pitch=62))
    assert notes.end_s.tolist() == pytest.approx([0.3, 0.3, 0.3])


def test_events_after_others_may_share_their_releases():
    """Guards the first notes of a continuation, which share the prompt's releases."""
    before = np.array([START, C4, (203, 3, 3, 3), (3, 60, 20, 4 + 99), (13, 3, 3, 3)])
    decoded = PIANO.decode_events(np.array([shared(1)]), after=before)
    assert (decoded.notes.onset_s.tolist(), decoded.repairs) == ([0.1], ())
    assert decoded.notes.end_s.tolist() == pytest.approx([0.9])
    assert dict(PIANO.decode_events(np.array([shared(2)]), after=before).repairs)
    clock = PIANO.clock(2.2, after=before)
    lengths = clock.lengths_s((13, 66, 20))
    assert lengths[FIRST_SHARED] == pytest.approx(0.8)
    assert np.isnan(lengths[[0, 1, 2, 3, FIRST_SHARED + 1, FIRST_SHARED + 7]]).all()
    assert clock.push(shared(1)).end_s == pytest.approx(3.1)


def test_all_128_pitches_and_127_velocities_survive():
    # Bug guarded: miditok's default leaves out the pitches below 21 and above 108, silently.
    pitch = np.arange(128)
    table = NoteTable.of(pitch / 10, pitch / 10 + 0.05, pitch, np.maximum(pitch, 1))
    decoded = PIANO.decode_events(PIANO.encode(table))
    np.testing.assert_array_equal(decoded.notes.pitch, pitch)
    assert abs(decoded.notes.velocity - table.velocity).max() <= 2
    assert decoded.notes.velocity.min() >= 1
    assert decoded.repairs == ()


@pytest.mark.parametrize("silence_s", [0, 0.01, 2, 2.01, 4, 4.01, 600, 3600.57])
def test_silences_are_exact(silence_s):
    # Bug guarded: leading silence dropped, or long rests rounded.
    table = NoteTable.of([silence_s, 2 * silence_s + 1], [silence_s + 1, 9999], [60, 62], [64, 64])
    ids = PIANO.encode(table)
    np.testing.assert_allclose(PIANO.decode_events(ids).notes.onset_s, table.onset_s, atol=1e-9)
    rests = ids[ids[:, 1] == 3]
    assert (rests == (203, 3, 3, 3)).all()
    np.testing.assert_array_equal(PIANO.encode(PIANO.decode(ids)), ids)


def test_two_notes_of_one_key_at_once_both_survive_a_file():
    # Bug guarded: the longer written first gave the two each other's lengths.
    table = NoteTable.of([0, 0], [1.0, 0.2], [60, 60], [20, 100])
    ids = PIANO.encode(table)
    back = symusic.Score.from_midi(PIANO.decode(ids).dumps_midi())
    assert sorted((n.velocity, n.duration) for n in back.tracks[0].notes) == [
        (22, 1000),
        (102, 200),
    ]
    np.testing.assert_array_equal(PIANO.encode(back), ids)


def test_notes_of_no_length_last_a_step():
    notes = PIANO.decode_events(PIANO.encode(NoteTable.of([0.5], [0.5], [60], [64]))).notes
    assert (notes.end_s - notes.onset_s).tolist() == [pytest.approx(0.01)]


def test_a_key_struck_again_ends_its_earlier_note():
    notes = notes_of((3, 64, 20, 103), (53, 64, 20, 103))
    assert notes.end_s.tolist() == [0.5, 1.5]
    # That is what a length means, and nothing that was mended.
    assert repairs_of((3, 64, 20, 103), (53, 64, 20, 103)) == {}


def test_a_score_is_read_without_its_drums_and_with_its_pedal():
    score = symusic.Score(480)
    for is_drum in (False, True):
        track = symusic.Track("t", 0, is_drum)
        track.notes.append(symusic.Note(480, 240, 60, 64))
        track.controls.append(symusic.ControlChange(500, 64, 127))
        track.controls.append(symusic.ControlChange(1440, 64, 0))
        score.tracks.append(track)
    notes = PIANO.decode_events(PIANO.encode(score)).notes
    assert (notes.onset_s.tolist(), notes.end_s.tolist()) == ([0.5], [1.5])


def test_music_without_notes_is_a_start_and_an_end():
    assert PIANO.encode(symusic.Score(480)).tolist() == [list(START), list(END)]
    assert PIANO.encode(symusic.Score(480), end=False).tolist() == [list(START)]
    assert len(PIANO.decode_events(np.empty((0, 4), dtype=np.int64)).notes) == 0


def test_what_cannot_be_played_is_counted():
    assert repairs_of(START, C4, END, PAD, PAD) == {}
    assert repairs_of(PAD, START, C4) == {}
    assert repairs_of(C4, END, C4, START) == {"after-end": 2}
    assert repairs_of(START, C4, START, D4) == {"start-inside": 1}
    assert repairs_of(C4, PAD, D4) == {"padding-inside": 1}
    assert repairs_of((0, 64, 20, 53), (999, 64, 20, 53)) == {"bad-gap": 2}
    assert repairs_of((3, 0, 20, 53), (3, 2, 20, 53), (3, -7, 20, 53)) == {"bad-pitch": 3}
    assert repairs_of((3, 64, 3, 53), (3, 65, 36, 53)) == {"bad-velocity": 2}
    assert repairs_of((3, 64, 20, 3), (3, 65, 20, 2**62)) == {"bad-length": 2}
    assert repairs_of((3, 3, 3, 3), (5, 3, 20, 3)) == {"odd-rest": 2}
    assert repairs_of((2, 64, 20, 53)) == {"odd-end": 1}
    assert repairs_of(*[(203, 3, 3, 3)] * 43_300, C4) == {"after-last-day": 101}


def test_mended_events_keep_their_time():
    notes = notes_of((13, 0, 0, 0), (13, 64, 0, 0))
    assert (notes.onset_s.tolist(), notes.end_s.tolist()) == ([0.2], [0.4])
    assert notes.velocity.tolist() == [66]


def test_events_know_their_notes():
    decoded = PIANO.decode_events(
        np.array([START, (3, 66, 20, 53), (3, 64, 20, 53), (8, 3, 3, 3), END])
    )
    assert decoded.note_index.tolist() == [-1, 1, 0, -1, -1]
    assert decoded.onset_s.tolist() == [0, 0, 0, 0.05, 0.05]
    assert PIANO.n_notes(np.array([START, C4, (8, 3, 3, 3), C4, END, C4])) == 2


@pytest.mark.parametrize("ids", [np.zeros(4, int), np.zeros((2, 3), int), np.zeros((2, 4))])
def test_only_integers_of_the_right_shape_are_decoded(ids):
    with pytest.raises(ValueError, match="expected"):
        PIANO.decode_events(ids)


def test_the_scores_clock_is_a_tick_a_millisecond():
    score = PIANO.decode(np.array([START, C4, END]))
    assert (score.ticks_per_quarter, score.tempos[0].qpm) == (500, 120)
    note = score.tracks[0].notes[0]
    assert (note.time, note.duration, note.pitch, note.velocity) == (100, 500, 60, 66)


def test_grammar():
    assert np.flatnonzero(~PIANO.legal(0, ())).tolist() == [0, 1]
    assert np.flatnonzero(PIANO.legal(1, (2,))).tolist() == [2]
    assert np.flatnonzero(~PIANO.legal(1, (3,))).tolist() == [0, 1, 2, 3]  # no rest of no time
    assert np.flatnonzero(~PIANO.legal(1, (4,))).tolist() == [0, 1, 2]
    assert np.flatnonzero(PIANO.legal(2, (4, 3))).tolist() == [3]
    assert np.flatnonzero(PIANO.legal(3, (4, 3, 3))).tolist() == [3]
    assert np.flatnonzero(~PIANO.legal(3, (4, 64, 20))).tolist() == [0, 1, 2, 3]
    assert np.flatnonzero(PIANO.legal(3, (2, 2, 2))).tolist() == [2]
    with pytest.raises(ValueError, match="read-only"):
        PIANO.legal(0, ())[0] = True
    with pytest.raises(ValueError, match="attribute 2"):
        PIANO.legal(2, ())


def test_the_clock_starts_where_it_is_told():
    clock = PIANO.clock(10.0)
    assert clock.push(C4).end_s == pytest.approx(10.6)
    rest = clock.push((203, 3, 3, 3))
    assert (rest.onset_s, rest.pitch, rest.is_end) == (12.1, None, False)
    assert clock.push(END).is_end
    assert clock.now_s == 12.1


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (C4, "after 0.10 s: C4, mf (66), for 0.50 s"),
        (shared(1), "after 0.10 s: D4, mf (66), until the note before ends"),
        (shared(3), "after 0.10 s: D4, mf (66), until the note 3 before ends"),
        ((203, 3, 3, 3), "after 2.00 s: rest"),
        (START, "start"),
        (END, "end"),
        (PAD, "padding"),
        ((5, 0, 9, 9), "after 0.02 s: nothing that can be played"),
    ],
)
def test_events_in_words(event, words):
    assert PIANO.describe(event) == words


def test_notes_that_no_piano_plays_are_refused():
    for pitch, velocity in ((128, 64), (-1, 64), (60, 128)):
        with pytest.raises(ValueError, match="allowed are 0 to 127"):
            PIANO.encode(NoteTable.of([0], [1], [pitch], [velocity]))
    with pytest.raises(ValueError, match="negative"):
        PIANO.encode(NoteTable.of([-0.1], [1], [60], [64]))
    with pytest.raises(ValueError, match="finite"):
        PIANO.encode(NoteTable.of([0], [np.nan], [60], [64]))
    with pytest.raises(TokenizerError, match="allowed are 86400 s") as caught:
        PIANO.encode(NoteTable.of([90_000], [90_001], [60], [64]))
    assert caught.value.hint


def test_longer_than_the_longest_length_is_cut_there():
    notes = note_table(PIANO.decode(PIANO.encode(NoteTable.of([0], [90_000], [60], [64]))))
    assert notes.end_s.tolist() == [LENGTH_STEPS[-1] / 100]
