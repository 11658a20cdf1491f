"""Ticks are counted in 31 bits: what follows a prompt must fit, or be refused with a sentence."""

from __future__ import annotations

import io

import mido
import numpy as np
import pytest

from musicgen.errors import PromptError
from musicgen.midi import NoteTable, cut_prompt, describe, extend, read_midi


def piece(*, quarter_us: int, quarters: int) -> bytes:
    file = mido.MidiFile(ticks_per_beat=480, type=0)
    track = mido.MidiTrack([mido.MetaMessage("set_tempo", tempo=quarter_us)])
    track.append(mido.Message("note_on", note=60, velocity=64))
    for _ in range(quarters // 500_000):  # a delta has 28 bits
        track.append(mido.Message("control_change", control=1, time=500_000 * 480))
    track.append(mido.Message("note_off", note=60, time=quarters % 500_000 * 480))
    file.tracks.append(track)
    buffer = io.BytesIO()
    file.save(file=buffer)
    return buffer.getvalue()


def new_part(start_s: float, seconds: float) -> NoteTable:
    onset = start_s + np.arange(0.0, seconds, 0.5)
    return NoteTable.of(onset, onset + 0.4, [64] * len(onset), [70] * len(onset))


@pytest.mark.parametrize("seconds", [1.0, 30.0, 3600.0])
def test_music_after_an_absurd_tempo_can_be_read_again(seconds):
    # A quarter of a microsecond made ticks beyond any reader: the file written was unreadable.
    data = piece(quarter_us=1, quarters=4)
    prompt = cut_prompt(read_midi(data))
    new = new_part(prompt.cut_s, seconds)
    facts = describe(read_midi(extend(prompt, new)))
    assert facts.notes == 1 + len(new)
    assert facts.end_s == pytest.approx(new.end_s[-1], abs=0.005)


def test_music_after_all_the_ticks_there_are_is_refused():
    prompt = cut_prompt(read_midi(piece(quarter_us=1000, quarters=4_473_900)))
    new = new_part(prompt.cut_s, 60.0)
    with pytest.raises(PromptError, match="ticks") as caught:
        extend(prompt, new)
    assert caught.value.hint
    assert describe(read_midi(extend(prompt, new, only_new=True))).notes == len(new)
