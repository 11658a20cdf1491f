"""Music that begins long after its prompt's last onset: rests come first, and the model reads them.

A last chord that is held for long, or drums behind the piano, put the cut far from the last event.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch

from musicgen.engine import TorchEngine
from musicgen.errors import PromptError
from musicgen.generation import (
    EventMade,
    LengthPlan,
    SamplingSettings,
    SteppedBack,
    stream_events,
)
from musicgen.generation.context import Context
from musicgen.generation.stream import MusicInMaking
from musicgen.midi import NoteTable
from musicgen.model import Decoder
from musicgen.tokens import get_tokenizer
from small_models import small_config

TOKENIZER = get_tokenizer("piano")
PROMPT = TOKENIZER.encode(NoteTable.of([0.0], [0.5], [60], [64]), end=False)
REST = (203, 3, 3, 3)


def engine() -> TorchEngine:
    config = small_config(d_model=16, n_layers=1, n_heads=2, d_ff=16)
    return TorchEngine(Decoder(config).eval())


def made_after(start_s: float) -> list[EventMade | SteppedBack]:
    plan = LengthPlan(start_s=start_s, seconds=2.0)
    generator = torch.Generator().manual_seed(3)
    stream = stream_events(engine(), TOKENIZER, PROMPT, plan=plan, generator=generator)
    return [event for event in stream if isinstance(event, (EventMade, SteppedBack))]


@pytest.mark.parametrize("start_s", [7.0, 200.0])
def test_the_model_reads_every_rest_before_the_cut(monkeypatch, start_s):
    # Once it read the last one alone, and a step back then left that many withdrawn events.
    read: list[tuple[int, ...]] = []
    extend, append = Context.extend, Context.append
    monkeypatch.setattr(
        Context, "extend", lambda self, ids: (read.extend(map(tuple, ids)), extend(self, ids))[1]
    )
    monkeypatch.setattr(
        Context, "append", lambda self, event: (read.append(event), append(self, event))[1]
    )
    made_after(start_s)
    n_rests = int(np.ceil(start_s / 2.0)) - 1
    assert read[: 2 + n_rests] == [*map(tuple, PROMPT), *[REST] * n_rests]
    assert read[2 + n_rests] != REST


def test_the_model_reads_what_was_made_and_nothing_else():
    plan = LengthPlan(start_s=9.0, seconds=2.0)
    music = MusicInMaking(
        engine(), TOKENIZER, plan, SamplingSettings(), torch.Generator().manual_seed(3)
    )
    music.prefill(PROMPT, {})
    for _ in range(12):
        music.step()
    music._draw()
    assert len(music._context) == len(PROMPT) + len(music._made)


def test_rests_before_the_cut_are_no_loop():
    # They once used up every step back, which the music then lacked.
    made = made_after(200.0)
    assert not any(isinstance(event, SteppedBack) for event in made[:100])


def test_rests_before_the_cut_do_not_count_as_standing_still():
    # A key held for three hours: the limit of events was reached before the cut was.
    made = made_after(3 * 3600.0)
    assert any(event.played.pitch is not None for event in made if isinstance(event, EventMade))


def test_music_cannot_begin_later_than_tokens_tell_times():
    # After a key that was held for a day, every new note was mended away.
    with pytest.raises(PromptError, match=r"24\.0 hours") as caught:
        LengthPlan(start_s=24 * 3600.0)
    assert caught.value.hint


def test_a_rest_costs_the_clock_no_arrays(monkeypatch):
    # Thousands of rests are wound anew at each step back: an hour's took seconds every time.
    monkeypatch.setattr("musicgen.tokens.piano_decode.classify", None)
    clock = TOKENIZER.clock(1.0)
    played = clock.push(REST)
    assert (played.onset_s, played.pitch, played.is_end) == (3.0, None, False)
