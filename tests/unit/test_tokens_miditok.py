"""The piano scheme as a tokenizer of miditok's: same ids, saved and loaded the miditok way."""

from __future__ import annotations

import json

import numpy as np
import pytest
import symusic
from miditok.pytorch_data import DatasetMIDI

from musicgen.errors import TokenizerError
from musicgen.tokens import get_tokenizer
from musicgen.tokens.event_tokenizer import PianoEventTokenizer

PIANO = get_tokenizer("piano")


@pytest.fixture(scope="module")
def tokenizer():
    return PianoEventTokenizer()


@pytest.fixture
def score():
    score = symusic.Score(480)
    score.tempos.append(symusic.Tempo(0, 97))
    track = symusic.Track("piano", 0, False)
    for time, duration, pitch, velocity in [
        (7, 100, 0, 1),
        (1003, 9000, 127, 127),
        (9999, 5, 60, 70),
    ]:
        track.notes.append(symusic.Note(time, duration, pitch, velocity))
    track.controls.append(symusic.ControlChange(50, 64, 127))
    track.controls.append(symusic.ControlChange(700, 64, 0))
    score.tracks.append(track)
    return score


def test_ids_are_those_of_the_piano_scheme(tokenizer, score):
    ids = PIANO.encode(score)
    np.testing.assert_array_equal(tokenizer(score).ids, ids)
    np.testing.assert_array_equal(tokenizer.encode(score, no_preprocess_score=True).ids, ids)
    assert tokenizer(score).tokens[1] == ["Gap_1", "Pitch_0", "Velocity_2", "Duration_89"]
    assert [len(vocabulary) for vocabulary in tokenizer.vocab] == list(PIANO.vocab_sizes)
    assert (tokenizer.io_format, tokenizer.is_multi_voc) == (("T", "C"), True)
    assert [tokenizer[f"{name}_None"] for name in ("PAD", "BOS", "EOS")] == [0, 1, 2]


def test_decodes_as_the_piano_scheme_whatever_the_ids(tokenizer, score):
    tokens = tokenizer(score)
    notes = [(n.time, n.duration, n.pitch, n.velocity) for n in tokenizer(tokens).tracks[0].notes]
    expected = PIANO.decode(PIANO.encode(score)).tracks[0].notes
    assert notes == [(n.time, n.duration, n.pitch, n.velocity) for n in expected]
    assert tokenizer.tokens_errors(tokens) == 0
    # Bug guarded: miditok raises KeyError for ids that no vocabulary holds.
    assert tokenizer.decode(np.array([[-5, 999, 3, 4], [3, 64, 20, 53]])).note_num() == 1


def test_saves_and_loads_as_miditok_does(tokenizer, score, tmp_path):
    tokenizer.save_pretrained(tmp_path)
    saved = tmp_path / "tokenizer.json"
    for again in (
        PianoEventTokenizer(params=saved),
        PianoEventTokenizer.from_pretrained(tmp_path),
    ):
        assert again == tokenizer
        assert again(score).ids == tokenizer(score).ids
    changed = json.loads(saved.read_text())
    changed["piano_fingerprint"] = "0" * 64
    saved.write_text(json.dumps(changed))
    with pytest.raises(TokenizerError, match="fingerprint"):
        PianoEventTokenizer(params=saved)


def test_feeds_miditoks_datasets(tokenizer, score, tmp_path):
    score.dump_midi(tmp_path / "piece.mid")
    dataset = DatasetMIDI([tmp_path / "piece.mid"], tokenizer, max_seq_len=100)
    ids = PIANO.encode(symusic.Score(tmp_path / "piece.mid"))
    np.testing.assert_array_equal(dataset[0]["input_ids"].numpy(), ids)
