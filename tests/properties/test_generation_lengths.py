"""Wherever the cut lies and however long the new music is to be, it begins and ends in time."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from musicgen.engine import TorchEngine
from musicgen.generation import EventMade, LengthPlan, SteppedBack, fit_ending, stream_events
from musicgen.midi import NoteTable
from musicgen.model import Decoder
from musicgen.tokens import get_tokenizer
from small_models import small_config

TOKENIZER = get_tokenizer()
DECODER = Decoder(
    small_config(d_model=16, n_layers=1, n_heads=2, d_ff=16, d_head_ff=16, max_seq_len=32)
).eval()


@settings(max_examples=40, deadline=None)
@given(
    onsets=st.lists(st.floats(0, 20), min_size=1, max_size=50),
    wait_s=st.floats(0, 9),
    seconds=st.floats(0.1, 8),
    seed=st.integers(0, 2**63 - 1),
)
def test_new_music_lies_between_the_cut_and_the_end(onsets, wait_s, seconds, seed):
    onset = np.sort(np.array(onsets))
    notes = NoteTable.of(onset, onset + 0.5, np.full(len(onset), 60), np.full(len(onset), 64))
    cut_s = float(onset.max()) + wait_s
    plan = LengthPlan(start_s=cut_s, seconds=seconds)
    generator = torch.Generator().manual_seed(seed)
    made = []
    prompt = TOKENIZER.encode(notes, end=False)
    for event in stream_events(
        TorchEngine(DECODER), TOKENIZER, prompt, plan=plan, generator=generator
    ):
        if isinstance(event, EventMade):
            made.append(event.played)
        elif isinstance(event, SteppedBack):
            del made[event.index :]
    rows = [(p.onset_s, p.end_s, p.pitch, p.velocity) for p in made if p.pitch is not None]
    new, _ = fit_ending(NoteTable.of(*np.array(rows).T), plan, ring=True)
    assert new.onset_s.min() >= cut_s - 1e-6
    assert new.onset_s.max() < cut_s + seconds
    assert new.end_s.max() - cut_s == pytest.approx(seconds, rel=0.05)
    assert (new.end_s > new.onset_s).all()
