"""The flat schemes: round trip, byte pairs, saving, any integers, and miditok kept away."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import lru_cache

import numpy as np
import pytest
import symusic

from musicgen.errors import TokenizerError
from musicgen.midi.notes import NoteTable, note_table
from musicgen.tokens import (
    FLAT_SCHEMES,
    FlatTokenizer,
    get_tokenizer,
    tokenizer_from_json,
    train_flat_tokenizer,
)


def piece(seed: int, n: int = 120) -> NoteTable:
    """Chords and runs over all 128 pitches, with repeated keys and silences."""
    rng = np.random.default_rng(seed)
    onset = 70.123 + np.cumsum(
        rng.choice([0, 0.012, 0.13, 0.5, 3.7, 45.0], n, p=[0.3, 0.2, 0.3, 0.15, 0.04, 0.01])
    )
    length = rng.choice([0.0, 0.05, 0.4, 0.99, 1.7, 12.0, 30.0], n)
    return NoteTable.of(onset, onset + length, rng.integers(0, 128, n), rng.integers(1, 128, n))


@lru_cache
def bare(scheme: str):
    return get_tokenizer(scheme)


@lru_cache
def with_pairs(scheme: str):
    return train_flat_tokenizer(
        scheme, (piece(seed) for seed in range(4)), bare(scheme).vocab_sizes[0] + 60
    )


def in_order(notes: NoteTable):
    order = np.lexsort((notes.end_s, notes.pitch, np.rint(notes.onset_s * 100)))
    return [column[order] for column in (notes.onset_s, notes.end_s, notes.pitch, notes.velocity)]


@pytest.mark.parametrize("scheme", FLAT_SCHEMES)
@pytest.mark.parametrize("build", [bare, with_pairs])
def test_round_trip(scheme, build):
    # Bug guarded: pitches outside 21 to 108 dropped, rests rounded, velocities merged by miditok.
    tokenizer = build(scheme)
    table = piece(99)
    ids = tokenizer.encode(table)
    assert (ids.shape[1], tokenizer.attribute_names) == (1, ("token",))
    assert (ids[0, 0], ids[-1, 0]) == (1, 2)
    decoded = tokenizer.decode_events(ids)
    assert (decoded.repairs, tokenizer.n_notes(ids)) == ((), len(table))

    piano = get_tokenizer("piano").decode_events(get_tokenizer("piano").encode(table)).notes
    onset, end, pitch, velocity = in_order(decoded.notes)
    expected_onset, expected_end, expected_pitch, expected_velocity = in_order(piano)
    np.testing.assert_array_equal(pitch, expected_pitch)
    np.testing.assert_allclose(onset, expected_onset, atol=1e-9)
    assert abs(velocity - expected_velocity).max() <= 4  # each within 2 of the true one
    length = expected_end - expected_onset
    assert (abs((end - onset) - length) <= np.where(length <= 1, 1e-9, 0.06 * length)).all()
    np.testing.assert_array_equal(tokenizer.encode(tokenizer.decode(ids)), ids)


@pytest.mark.parametrize("scheme", FLAT_SCHEMES)
def test_byte_pairs_shorten_without_changing_the_music(scheme):
    table = piece(3)
    short, long = with_pairs(scheme), bare(scheme)
    assert short.vocab_sizes[0] == long.vocab_sizes[0] + 60
    assert len(short.encode(table)) < len(long.encode(table))
    mine = in_order(short.decode_events(short.encode(table)).notes)
    for column, other in zip(
        mine, in_order(long.decode_events(long.encode(table)).notes), strict=True
    ):
        np.testing.assert_array_equal(column, other)
    again = train_flat_tokenizer(scheme, (piece(seed) for seed in range(4)), short.vocab_sizes[0])
    assert again.fingerprint == short.fingerprint


@pytest.mark.parametrize("scheme", FLAT_SCHEMES)
def test_json_holds_all_of_it(scheme):
    tokenizer = with_pairs(scheme)
    again = tokenizer_from_json(tokenizer.to_json())
    assert again == tokenizer
    np.testing.assert_array_equal(again.encode(piece(5)), tokenizer.encode(piece(5)))
    tokenizer.settings()["miditok"]["config"]["pitch_range"] = [60, 61]  # changes a copy
    assert tokenizer_from_json(tokenizer.to_json()) == tokenizer
    with pytest.raises(AttributeError):
        tokenizer._parameters_text = "{}"

    # Keys in another order, as some programs write them, are the same tokenizer.
    document = json.loads(tokenizer.to_json())
    reordered = json.dumps(dict(sorted(document.items())))
    np.testing.assert_array_equal(
        tokenizer_from_json(reordered).encode(piece(5)), again.encode(piece(5))
    )


def test_decoding_from_json_needs_neither_miditok_nor_torch():
    code = (
        "import sys, numpy as np\n"
        "from musicgen.tokens import tokenizer_from_json\n"
        "tokenizer = tokenizer_from_json(sys.stdin.read())\n"
        "ids = np.arange(len(tokenizer._vocabulary))[:, None]\n"
        "tokenizer.decode(ids)\n"
        "print('miditok' in sys.modules, 'torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=with_pairs("tsd").to_json(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "False False"


@pytest.mark.parametrize("scheme", FLAT_SCHEMES)
def test_any_integers_decode_to_a_file_with_the_same_notes(scheme):
    tokenizer = with_pairs(scheme)
    rng = np.random.default_rng(0)
    for case in range(60):
        ids = rng.integers(-3, tokenizer.vocab_sizes[0] + 3, (rng.integers(0, 300), 1))
        if case % 2:
            ids[ids == 2] = 3
        decoded = tokenizer.decode_events(ids)
        back = note_table(symusic.Score.from_midi(tokenizer.decode(ids).dumps_midi()))
        for column, other in zip(in_order(back), in_order(decoded.notes), strict=True):
            np.testing.assert_allclose(column, other, atol=1e-6)
        assert decoded.n_repairs == sum(n for _, n in decoded.repairs)
        begins = decoded.note_index[decoded.note_index >= 0]
        assert len(set(begins.tolist())) == len(begins)
        clock = tokenizer.clock()
        for t, event in enumerate(ids.tolist()):
            assert clock.push(tuple(event)).onset_s <= clock.now_s == decoded.onset_s[t]


def ids_of(tokenizer, *tokens: str) -> np.ndarray:
    lookup = {token[0]: index for index, token in enumerate(tokenizer.settings()["vocabulary"])}
    return np.array([[lookup[token]] for token in tokens])


def test_what_cannot_be_played_is_counted():
    tsd, remi, onoff = (bare(scheme) for scheme in ("tsd", "remi", "midilike"))
    whole = ("Pitch_60", "Velocity_63", "Duration_1.0.50")

    def repairs(tokenizer, *tokens):
        return dict(tokenizer.decode_events(ids_of(tokenizer, *tokens)).repairs)

    assert repairs(tsd, "PAD_None", "BOS_None", *whole, "EOS_None", "PAD_None") == {}
    assert repairs(tsd, *whole, "EOS_None", *whole) == {"after-end": 3}
    assert repairs(tsd, *whole, "BOS_None", "PAD_None") == {"start-inside": 1}
    assert repairs(tsd, *whole, "PAD_None", "TimeShift_1.0.50") == {"padding-inside": 1}
    assert repairs(tsd, "Pitch_60", "TimeShift_1.0.50", *whole) == {"unfinished-note": 1}
    assert repairs(tsd, "Velocity_63", "Pitch_60", "Duration_1.0.50") == {
        "stray-token": 2,
        "unfinished-note": 1,
    }
    assert repairs(tsd, *whole, "TimeShift_0.10.50", *whole) == {"struck-again": 1}
    assert dict(tsd.decode_events(np.array([[-1], [99999]])).repairs) == {"bad-id": 2}
    assert repairs(tsd, *["TimeShift_64.0.1"] * 2701) == {"after-last-day": 1}
    assert repairs(remi, "Bar_None", "Position_9", "Position_3", *whole) == {"time-reversed": 1}
    assert repairs(onoff, "NoteOn_60", "Velocity_63") == {"never-released": 1}
    assert repairs(onoff, "NoteOff_60", "NoteOn_61") == {"stray-token": 1, "unfinished-note": 1}


def test_grammar_and_words():
    tsd = bare("tsd")
    assert np.flatnonzero(~tsd.legal(0, ())).tolist() == [0, 1]
    with pytest.raises(ValueError, match="attribute 1"):
        tsd.legal(1, (5,))
    (row,) = ids_of(tsd, "Duration_1.10.50").tolist()
    assert tsd.describe(tuple(row)) == "for 60 steps"
    assert [tsd.describe((i,)) for i in (0, 1, 2, 9999)] == [
        "padding",
        "start",
        "end",
        "nothing that can be played",
    ]


def test_music_without_notes_is_a_start_and_an_end():
    for scheme in FLAT_SCHEMES:
        assert bare(scheme).encode(symusic.Score(480)).tolist() == [[1], [2]]


def test_bad_schemes_sizes_and_vocabularies_are_refused_in_a_sentence():
    with pytest.raises(TokenizerError, match="no flat scheme"):
        train_flat_tokenizer("piano", [])
    with pytest.raises(TokenizerError, match="allowed are more than 651") as caught:
        train_flat_tokenizer("tsd", [], 100)
    assert caught.value.hint
    document = json.loads(bare("tsd").to_json())
    for vocabulary in (
        None,
        [],
        [["Pitch_60"]],
        [*document["settings"]["vocabulary"], ["Chord_7"]],
    ):
        document["settings"]["vocabulary"] = vocabulary
        with pytest.raises(TokenizerError, match="no token of its scheme"):
            tokenizer_from_json(json.dumps(document))
    document["settings"] = []
    with pytest.raises(TokenizerError, match="lack miditok's parameters"):
        tokenizer_from_json(json.dumps(document))


def test_hostile_parameters_end_in_a_sentence():
    # Bug guarded: miditok turns any key into an attribute, and raises what it likes.
    document = json.loads(with_pairs("tsd").to_json())
    del document["fingerprint"]
    settings = document["settings"]
    with pytest.raises(TokenizerError, match="not miditok's"):
        FlatTokenizer.from_settings("tsd", {**settings, "miditok": {"encode": 1}})
    settings["miditok"]["_model"] = "{}"
    with pytest.raises(TokenizerError, match="cannot read the parameters"):
        FlatTokenizer.from_settings("tsd", settings).encode(piece(1))
