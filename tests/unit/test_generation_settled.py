"""What is called settled never changes: it may be heard while the rest is made."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from musicgen.engine import TorchEngine
from musicgen.generation import (
    EventMade,
    Finished,
    LengthPlan,
    SettledEvents,
    SteppedBack,
    stream_events,
)
from musicgen.generation.guards import ONE_NOTE, LoopWatch
from musicgen.model import Decoder
from musicgen.tokens import PlayedEvent, get_tokenizer
from small_models import small_config

TOKENIZER = get_tokenizer()
FIRST_GAP = 3


def decoder(seed: int, favour: int) -> Decoder:
    """Return a small random model that likes one key so much that it often repeats itself."""
    model = Decoder(small_config(d_model=16, n_layers=1, n_heads=2, d_ff=16))
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            if not parameter.any():
                parameter.normal_(0.0, 0.3, generator=generator)
    plain = model.attribute_logits

    def leaning(hidden, k, previous):
        logits = plain(hidden, k, previous)
        if k == 0:
            logits[..., : FIRST_GAP + 6] -= 50.0  # not so soon that the key cannot be struck again
            logits[..., FIRST_GAP + 12 :] -= 50.0
        if k == 1:  # 19 of 20 times
            logits[..., favour] = logits.logsumexp(-1) + 3.0
        return logits

    model.attribute_logits = leaning
    return model.eval()


@pytest.mark.parametrize(("seed", "start_s"), [(0, 0.0), (1, 0.0), (2, 0.0), (3, 0.0), (4, 40.0)])
def test_settled_events_stay_to_the_end(seed, start_s):
    plan = LengthPlan(start_s=start_s, seconds=12.0)
    settled, promised, made = SettledEvents(plan), {}, []
    count = stepped_back = 0
    stream = stream_events(
        TorchEngine(decoder(seed, 40)),
        TOKENIZER,
        plan=plan,
        generator=torch.Generator().manual_seed(seed),
    )
    for step in stream:
        settled.take(step)
        if isinstance(step, EventMade):
            made.append(step)
        elif isinstance(step, SteppedBack):
            stepped_back += step.why == "loop"
            assert step.index >= count, "what was called settled was taken back"
            del made[step.index :]
        assert settled.count() >= count, "the count fell"
        count = settled.count()
        promised.update({made[i].index: made[i].event for i in range(len(promised), count)})
        if isinstance(step, Finished):
            assert count == len(made)
    assert stepped_back, "this test is about takes that step back"
    assert [promised[i] for i in range(len(made))] == [each.event for each in made]


def event(index: int, pitch: int) -> EventMade:
    onset_s = index / 10
    played = PlayedEvent(onset_s=onset_s, end_s=onset_s + 0.3, pitch=pitch, velocity=70)
    return EventMade(index=index, event=(index, pitch, 1, 1), played=played, clock_s=0.0)


def test_music_that_does_not_repeat_settles_at_once_and_the_last_part_never():
    settled = SettledEvents(LengthPlan(seconds=30.0))
    for index in range(239):
        settled.take(event(index, 40 + index % 7))
        assert settled.count() == index + 1
    assert not settled.tries_endings
    for index in range(240, 280):
        settled.take(event(index, 40 + index % 7))
        assert settled.count() <= 240
    assert settled.tries_endings


def test_the_last_part_may_begin_where_the_music_ended():
    """Guards: a first ending without a note of its own, and a second one that is taken back."""
    settled = SettledEvents(LengthPlan(seconds=30.0))
    for index in range(100):
        settled.take(event(index, 40 + index % 7))
    settled.take(SteppedBack(index=100, why="another-ending"))
    settled.take(event(100, 50))
    assert settled.count() == 100


def test_music_on_few_keys_waits_from_its_64th_note():
    """Guards: sound that was played and then taken back, where a few keys were left again."""
    settled = SettledEvents(LengthPlan(seconds=600.0))
    for index in range(120):
        settled.take(event(index, 40 + index % 4))
        assert settled.count() == min(index + 1, 64)
    settled.take(SteppedBack(index=64, why="loop"))
    assert settled.count() == 64
    for index in range(64, 90):
        settled.take(event(index, 50 + index % 7))
    assert settled.count() == 90


def test_a_run_of_strokes_waits_from_its_second_one():
    settled, watch = SettledEvents(LengthPlan(seconds=600.0)), LoopWatch()
    for index in range(10):
        settled.take(event(index, 40 + index % 2))
        watch.push((index,), 40 + index % 2)
    counts = []
    for index in range(10, 10 + ONE_NOTE):
        settled.take(event(index, 60))
        counts.append(settled.count())
        looping = watch.push((index,), 60)
    assert looping is not None
    assert set(counts) == {10 + ONE_NOTE - looping}


def test_runs_are_where_the_watch_steps_back_to():
    watch, events = LoopWatch(), np.tile(np.arange(5), 20).tolist()
    for number, each in enumerate(events, start=1):
        runs = watch.runs()
        looping = watch.push((each,), 40 + each)
        if looping is not None:
            assert number - looping in watch.runs()
            assert number - looping in runs
            return
    pytest.fail("no loop was noticed")
