"""Attention on the roll: the right notes, whatever the model's grid and the file's drums."""

from __future__ import annotations

import types

import numpy as np
import pytest

from musicgen.midi import NoteTable
from musicgen.ui.gaze import Gaze


def piece_of(onset, pitch, track=0):
    onset = np.asarray(onset, dtype=float)
    notes = NoteTable.of(onset, onset + 0.2, pitch, [80] * len(onset), track)
    return types.SimpleNamespace(preview=types.SimpleNamespace(notes=notes))


def view_of(weights, note_index, onset, pitch, first_event=0):
    onset = np.asarray(onset, dtype=float)
    notes = np.stack([onset, onset + 0.2, np.asarray(pitch, float), np.full(len(onset), 80.0)], 1)
    return types.SimpleNamespace(
        weights=np.asarray(weights, np.float16),
        note_index=np.asarray(note_index),
        notes=notes,
        first_event=first_event,
    )


@pytest.fixture
def gaze():
    # The roll: C, a drum (which the model does not hear), E, C again. The model: start, C, E, C.
    piece = piece_of([0.004, 0.5, 1.003, 1.996], [60, 38, 64, 60], [0, 1, 0, 0])
    rows = [[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.1, 0.7, 0.2, 0], [0.1, 0.2, 0.6, 0.1]]
    view = view_of([[rows, rows]], [-1, 0, 1, 2], [0.0, 1.0, 2.0], [60, 64, 60])
    return Gaze.of(view, piece)


def test_events_and_notes_find_each_other_across_the_grid(gaze):
    assert gaze.event_of.tolist() == [1, -1, 2, 3]
    assert gaze.note_of.tolist() == [-1, 0, 2, 3]


def test_a_note_was_written_from_the_row_before_it(gaze):
    look = gaze.look(3)
    assert [note for note, _ in look["wrote"][0][0]["looks"]] == [0, 2]
    assert look["wrote"][0][0]["looks"][0][1] == pytest.approx(0.7, abs=1e-3)
    assert [note for note, _ in look["after"][0][0]["looks"]] == [2, 0, 3]
    assert look["after"][0][0]["first"] == pytest.approx(0.1, abs=1e-3)


def test_notes_the_model_did_not_hear_have_no_look(gaze):
    assert gaze.look(1) is None
    assert gaze.look(99) is None
    assert gaze.look(-1) is None


def test_two_notes_at_once_keep_their_events():
    piece = piece_of([0.0, 0.0, 0.01], [60, 60, 60])
    view = view_of(np.zeros((1, 1, 4, 4)), [-1, 0, 1, 2], [0.0, 0.0, 0.01], [60, 60, 60])
    assert Gaze.of(view, piece).event_of.tolist() == [1, 2, 3]


def test_maps_are_scaled_by_row_and_keep_sharp_looks():
    size = 1500
    weights = np.zeros((2, 3, size, size), np.float16)
    weights[:, :, :, 0] = 0.01
    piece = piece_of([0.0], [60])
    gaze = Gaze.of(view_of(weights, [-1] * size, [0.0], [60]), piece)
    header, pixels = gaze.tiles()[:16], gaze.tiles()[16:]
    assert np.frombuffer(header, "<u4").tolist() == [2, 3, 48, size]
    tiles = np.frombuffer(pixels, np.uint8).reshape(2, 3, 48, 48)
    assert (tiles[:, :, :, 0] == 255).all()
    assert (tiles[:, :, :, 1:] == 0).all()
    assert len(gaze.map(1, 2)) == 16 + 512 * 512
    with pytest.raises(IndexError):
        gaze.map(2, 0)


def test_early_notes_of_a_long_piece_are_on_a_page_with_what_was_before_them():
    # 100 notes, of which the model's window of 20 events sees the last; a page is half a window.
    piece = piece_of(np.arange(100) / 10, [60] * 100)
    view = view_of(
        np.zeros((1, 1, 20, 20)), np.arange(20), np.arange(80, 100) / 10, [60] * 20, first_event=81
    )
    gaze = Gaze.of(view, piece)
    assert gaze.page_of(99) == 0
    for note in (0, 9, 10, 55, 85):
        page = gaze.page_of(note)
        end = gaze.page_end(page)
        assert end is not None
        assert end - 10 <= note < end
    assert gaze.page_end(0) is None
    assert gaze.page_end(10) is None


def test_a_short_piece_has_one_page(gaze):
    assert [gaze.page_of(note) for note in range(4)] == [0, 0, 0, 0]
