"""Music that begins long after its prompt's last onset: rests come first, and the model reads them.

A last chord that is held for long, or drums behind the piano, put the cut far from the last event.
"""

from __future__ import annotations

from copy import deepcopy

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


def test_a_take_that_goes_back_is_as_if_it_had_never_gone_on():
    """Guards the kept places: what clock, rules and watch heard since must be forgotten.

    They were once told all events anew at each trial of an ending, which was most of what they did.
    """
    plan = LengthPlan(start_s=3.0, seconds=90.0)
    music, straight = (
        MusicInMaking(
            engine(), TOKENIZER, plan, SamplingSettings(), torch.Generator().manual_seed(3)
        )
        for _ in range(2)
    )
    for each in (music, straight):
        each.prefill(PROMPT, {60: 4.0})
        for _ in range(25):
            each.step()
    mark, heard = music.mark(), heard_by(music)
    for n_steps in (9, 4):
        for _ in range(n_steps):
            music.step()
        music.go_back(mark)
        assert heard_by(music) == heard == heard_by(straight)


def heard_by(music):
    """Return all that clock, rules and watch remember of the events."""
    rules, watch, clock = music._rules, music._watch, music._clock
    remembered = (
        (rules._now_s, rules._latest_end_s, list(rules._onsets), rules._struck),
        (list(rules._struck_at_s.items()), rules._rings_until_s),
        (watch._last_at, watch._alike, watch._strokes, watch._n_events, watch.runs()),
        (clock.now_s, clock._releases),
    )
    return deepcopy(remembered)
