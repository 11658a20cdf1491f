"""The shipped model by compiled code and by torch: the same scores and ids past a real prompt."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from musicgen.checkpoint import load_checkpoint
from musicgen.engine import TorchEngine, make_engine
from musicgen.generation import EventMade, LengthPlan, stream_events
from musicgen.generation.context import Context
from musicgen.midi import read_midi
from musicgen.model import Decoder


@pytest.fixture(scope="module")
def checkpoint():
    return load_checkpoint("piano")


@pytest.fixture(scope="module")
def prompt(checkpoint, starter):
    return checkpoint.tokenizer.encode(read_midi(sorted(starter.glob("*.mid"))[0]).score, end=False)


def with_window(checkpoint, window):
    decoder = Decoder(replace(checkpoint.decoder.config, max_seq_len=window), seed=None)
    decoder.load_state_dict(checkpoint.decoder.float().state_dict(), assign=True)
    return decoder.eval()


def walk_side_by_side(decoder, prompt, n_steps):
    """Go on greedily by torch; return how far scores are apart and how many ids differ."""
    engines = (TorchEngine(decoder), make_engine(decoder, "numba-float32"))
    walks = []
    for engine in engines:
        steps = engine.begin()
        walks.append((steps, Context(steps)))
    for _, context in walks:
        context.extend(prompt)
    apart, n_other = 0.0, 0
    for _ in range(n_steps):
        event = ()
        for k in range(prompt.shape[1]):
            torchs, ours = (steps.logits(k, event) for steps, _ in walks)
            apart = max(apart, float(np.abs(torchs - ours).max()))
            n_other += int(torchs.argmax() != ours.argmax())
            event = (*event, int(torchs.argmax()))
        for _, context in walks:
            context.append(event)
    return apart, n_other


def test_float32_walks_with_torch_through_several_windows(checkpoint, prompt):
    torch.set_num_threads(1)
    apart, n_other = walk_side_by_side(with_window(checkpoint, 48), prompt[:40], 120)
    assert apart < 1e-4
    assert n_other == 0


@pytest.mark.long
def test_float32_walks_with_torch_for_two_thousand_steps(checkpoint, prompt):
    apart, n_other = walk_side_by_side(checkpoint.decoder.float(), prompt, 2_000)
    assert apart < 1e-4
    assert n_other == 0


def played(engine, tokenizer, prompt, seed):
    events = stream_events(
        engine,
        tokenizer,
        prompt,
        plan=LengthPlan(start_s=float(tokenizer.decode_events(prompt).onset_s[-1]), seconds=4.0),
        generator=torch.Generator().manual_seed(seed),
    )
    return [made.event for made in events if isinstance(made, EventMade)]


@pytest.mark.parametrize("name", ["numba", "numba-float32"])
def test_the_same_seed_gives_the_same_ids_every_time(checkpoint, prompt, name):
    engine = make_engine(checkpoint.decoder.float(), name)
    first = played(engine, checkpoint.tokenizer, prompt[:60], seed=7)
    again = make_engine(checkpoint.decoder.float(), name)
    assert first
    assert played(again, checkpoint.tokenizer, prompt[:60], seed=7) == first
    assert played(engine, checkpoint.tokenizer, prompt[:60], seed=8) != first


def test_float32_makes_torchs_take(checkpoint, prompt):
    # Generation does not know which engine runs: rules, redraws and steps back are the same.
    decoder = checkpoint.decoder.float()
    takes = [
        played(engine, checkpoint.tokenizer, prompt[:60], seed=3)
        for engine in (TorchEngine(decoder), make_engine(decoder, "numba-float32"))
    ]
    assert takes[0] == takes[1]
