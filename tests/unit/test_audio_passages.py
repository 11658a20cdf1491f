"""Passages of a piece, one after another, are the piece.

Guards: sound that is made while the music is, which would click at every seam or differ from the
file that is kept.
"""

from __future__ import annotations

import io

import mido
import numpy as np
import pytest

from musicgen.audio import BLOCK, SAMPLE_RATE, render, render_passage
from musicgen.audio.builtin import play_builtin
from musicgen.midi import NoteTable, notes_to_score, score_to_bytes

SECOND = SAMPLE_RATE // BLOCK * BLOCK
TWO_STEPS = 2.1 / 32768  # two roundings to 16 bit


def notes(n: int, seed: int = 0) -> NoteTable:
    """Return notes on a grid of 10 ms: half of them at the beginning of a synthesizer's block."""
    draw = np.random.default_rng(seed)
    onset = np.sort(draw.integers(0, 1200, n)) / 100
    return NoteTable.of(
        onset,
        onset + draw.integers(5, 400, n) / 100,
        draw.permutation(np.arange(n) % 60) + 30,
        draw.integers(30, 110, n),
    )


def midi_of(table: NoteTable) -> bytes:
    return score_to_bytes(notes_to_score(table))


def with_pedal(midi: bytes) -> bytes:
    """Hold the sustain pedal from the second second to the fifth."""
    file = mido.MidiFile(file=io.BytesIO(midi))
    track = mido.MidiTrack()
    track.append(mido.Message("control_change", control=64, value=127, time=2000))
    track.append(mido.Message("control_change", control=64, value=0, time=3000))
    file.tracks.append(track)
    out = io.BytesIO()
    file.save(file=out)
    return out.getvalue()


def joined(midi: bytes, step: int, **options) -> np.ndarray:
    parts, at, is_last = [], 0, False
    while not is_last:
        passage = render_passage(midi, begin=at, length=step, is_whole=True, **options)
        assert passage.begin == at
        parts.append(passage.samples)
        at += step
        is_last = passage.is_last
    return np.concatenate(parts, axis=1)


@pytest.mark.parametrize("pedal", [False, True])
def test_passages_are_the_whole(pedal):
    midi = midi_of(notes(90))
    midi = with_pedal(midi) if pedal else midi
    whole = render(midi)
    heard = joined(midi, 3 * SECOND)
    assert heard.shape == whole.samples.shape
    assert np.abs(whole.samples).max() > 0.5
    assert np.abs(heard - whole.samples / whole.gain).max() < TWO_STEPS


def test_passages_of_the_substitute_are_the_whole():
    midi, engines = midi_of(notes(40)), (("built-in", play_builtin),)
    whole = render(midi, engines=engines)
    heard = joined(midi, 4 * SECOND, engines=engines)
    assert heard.shape == whole.samples.shape
    assert np.abs(heard - whole.samples / whole.gain).max() < 1e-4


def test_a_passage_does_not_change_when_more_music_comes():
    """What was heard must stay true: only notes from the passage's end on are added."""
    table = notes(90)
    at_s = 6.0
    so_far = table.select(table.onset_s < at_s)
    early = render_passage(midi_of(so_far), begin=0, length=6 * SECOND, is_whole=False)
    late = render_passage(midi_of(table), begin=0, length=6 * SECOND, is_whole=True)
    assert not early.is_last
    np.testing.assert_array_equal(early.samples, late.samples)


def test_the_last_key_is_let_go():
    """Guards: 8.19 s as 8189.99 ticks, before which the last note of a part was never released."""
    first = NoteTable.of([6.48], [8.19], [35], [110])
    two = NoteTable.of([6.48, 9.5], [8.19, 9.9], [35, 60], [110, 80])
    early = render_passage(midi_of(first), begin=0, length=9 * SECOND, is_whole=False)
    late = render_passage(midi_of(two), begin=0, length=9 * SECOND, is_whole=True)
    np.testing.assert_array_equal(early.samples, late.samples)


def test_a_passage_is_where_nothing_sounds_too():
    rest = NoteTable.of([0.0, 20.0], [0.5, 20.5], [60, 64], [80, 80])
    passage = render_passage(midi_of(rest), begin=12 * SECOND, length=SECOND, is_whole=True)
    assert passage.samples.shape == (2, SECOND)
    assert np.abs(passage.samples).max() < 1e-3


@pytest.mark.parametrize(("begin", "length"), [(1, BLOCK), (0, 100), (0, 0), (-BLOCK, BLOCK)])
def test_a_passage_lies_on_blocks(begin, length):
    with pytest.raises(ValueError, match="blocks"):
        render_passage(midi_of(notes(3)), begin=begin, length=length, is_whole=True)
