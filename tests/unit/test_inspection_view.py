"""The attention view: whose row is whose, and that its numbers are the model's own."""

import numpy as np
import pytest
import torch

from musicgen.inspection import AttentionView, look
from musicgen.midi import NoteTable
from musicgen.model import AttentionRecord, Decoder
from musicgen.tokens import get_tokenizer
from small_models import small_config

TOKENIZER = get_tokenizer()
WINDOW = 24


@pytest.fixture(scope="module")
def decoder():
    return Decoder(small_config(max_seq_len=WINDOW), seed=3).eval()


def piece(n_notes):
    """Chords of two, a rest of 5 s after every third note."""
    onset = np.arange(n_notes) // 2 * 0.5 + np.arange(n_notes) // 3 * 5.0
    pitch = 60 + np.arange(n_notes)
    return NoteTable.of(onset, onset + 0.4, pitch, np.full(n_notes, 70))


def test_the_view_of_a_short_piece(decoder):
    notes = piece(5)
    ids = TOKENIZER.encode(notes)
    view = look(decoder, TOKENIZER, ids)
    n_events = len(ids)
    assert view.weights.shape == (2, 4, n_events, n_events)
    assert view.weights.dtype == np.float16
    assert (view.ids == ids).all()
    assert view.notes.shape == (5, 4)
    assert view.notes[:, 0] == pytest.approx(notes.onset_s)
    assert view.notes[:, 2].tolist() == notes.pitch.tolist()
    assert (view.note_index >= 0).sum() == 5
    assert view.note_index[0] == -1
    assert view.first_event == 0


def test_an_end_is_told(decoder):
    """Guards: a last row of every whole piece that nobody can tell from a note's."""
    assert look(decoder, TOKENIZER, TOKENIZER.encode(piece(5))).has_end
    assert not look(decoder, TOKENIZER, TOKENIZER.encode(piece(5), end=False)).has_end


def test_rows_sum_to_one_and_look_back_only(decoder):
    weights = look(decoder, TOKENIZER, TOKENIZER.encode(piece(8))).weights.astype(np.float32)
    assert weights.sum(axis=-1) == pytest.approx(1.0, abs=4e-3)
    assert not np.triu(weights, 1).any()


def test_the_weights_are_those_of_the_recorded_pass(decoder):
    ids = TOKENIZER.encode(piece(6))
    record = AttentionRecord()
    with torch.no_grad():
        decoder.trunk(torch.as_tensor(ids)[None], record=record)
    view = look(decoder, TOKENIZER, ids)
    for layer, weights in enumerate(record.weights):
        assert view.weights[layer] == pytest.approx(weights[0].numpy(), abs=1e-3)


def test_of_a_long_piece_the_end_is_seen_in_the_piece_s_own_time(decoder):
    notes = piece(60)
    ids = TOKENIZER.encode(notes)
    view = look(decoder, TOKENIZER, ids)
    assert len(view.ids) == WINDOW
    assert view.first_event == len(ids) - WINDOW
    assert (view.ids == ids[-WINDOW:]).all()
    n_seen = len(view.notes)
    assert view.notes[:, 0] == pytest.approx(notes.onset_s[-n_seen:])
    seen = view.note_index[view.note_index >= 0]
    assert sorted(seen.tolist()) == list(range(n_seen))


def test_each_note_has_the_row_it_was_written_from_and_its_own(decoder):
    view = look(decoder, TOKENIZER, TOKENIZER.encode(piece(7)))
    for note in range(7):
        event = view.event_of(note)
        assert view.note_index[event] == note
        assert (view.looking_back(note) == view.weights[:, :, event]).all()
        assert (view.written_from(note) == view.weights[:, :, event - 1]).all()
    assert (view.written_from(0)[:, :, 0] == 1.0).all()  # the start is all there was to see


@pytest.mark.parametrize("note", [-1, 7])
def test_a_note_that_is_not_there(decoder, note):
    view = look(decoder, TOKENIZER, TOKENIZER.encode(piece(7)))
    with pytest.raises(IndexError, match="0 to 6"):
        view.written_from(note)


def test_the_strongest_sources_come_first_and_are_notes():
    weights = np.zeros((1, 1, 4, 4), dtype=np.float16)
    weights[0, 0, 3] = [0.4, 0.1, 0.3, 0.2]  # the start, two notes, a rest
    view = AttentionView(
        weights=weights,
        ids=np.zeros((4, 4), dtype=np.int64),
        note_index=np.array([-1, 1, 0, -1]),
        notes=np.zeros((2, 4)),
    )
    row = weights[:, :, 3].astype(np.float32)
    assert view.on_notes(row)[0, 0] == pytest.approx([0.3, 0.1], abs=1e-3)
    sources = view.strongest(row, count=3)
    assert sources.notes[0, 0].tolist() == [0, 1, -1]
    assert sources.weights[0, 0] == pytest.approx([0.3, 0.1, 0.0], abs=1e-3)


def test_nothing_to_look_at_is_a_programmers_error(decoder):
    with pytest.raises(ValueError, match="at least one event"):
        look(decoder, TOKENIZER, np.zeros((0, 4), dtype=np.int64))


def test_looking_does_not_change_the_model(decoder):
    ids = torch.as_tensor(TOKENIZER.encode(piece(6)))[None]
    with torch.no_grad():
        before = decoder(ids)
        look(decoder, TOKENIZER, ids[0].numpy())
        after = decoder(ids)
    assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))
