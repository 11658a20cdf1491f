"""Reading in chunks, one by one, and stepping back all give the full pass's states."""

import numpy as np
import pytest
import torch

from musicgen.engine import make_engine, torch_steps
from musicgen.generation.context import Context
from small_models import small_decoder

WINDOW = 32


@pytest.fixture(scope="module")
def decoder():
    return small_decoder(vocab_sizes=(20, 30), max_seq_len=WINDOW)


@pytest.fixture(scope="module")
def ids():
    generator = np.random.default_rng(0)
    return np.stack([generator.integers(0, 20, 100), generator.integers(0, 30, 100)], axis=1)


def full(decoder, ids):
    """The scores after the events `ids`, from one pass over all of them."""
    with torch.no_grad():
        state = decoder.trunk(torch.as_tensor(ids)[None])[:, -1]
        return decoder.attribute_logits(state, 0, state.new_zeros(1, 0, dtype=torch.int64))[0]


class Seen:
    """A context whose every call returns the scores after its last event."""

    def __init__(self, decoder, engine="torch"):
        self._steps = make_engine(decoder, engine).begin()
        self.context = Context(self._steps)

    def __getattr__(self, name):
        if name == "first_seen":
            return self.context.first_seen

        def call(*args):
            getattr(self.context, name)(*args)
            return torch.as_tensor(self._steps.logits(0, ()))

        return call

    def __len__(self):
        return len(self.context)


def close(a, b):
    return torch.allclose(a, b, atol=1e-5)


@pytest.mark.parametrize("chunk", [1, 3, 7, 256])
def test_any_chunking_gives_the_full_pass(decoder, ids, chunk, monkeypatch):
    # nanoVLM: a chunk against a filled cache needs a lower-right mask
    monkeypatch.setattr(torch_steps, "PREFILL_CHUNK", chunk)
    seen = Seen(decoder)
    assert close(seen.extend(ids[:20]), full(decoder, ids[:20]))
    assert close(seen.extend(ids[20:25]), full(decoder, ids[:25]))
    assert close(seen.append(tuple(ids[25])), full(decoder, ids[:26]))


def test_past_the_window_the_last_half_is_read_again(decoder, ids):
    seen = Seen(decoder)
    seen.extend(ids[:WINDOW])
    assert seen.first_seen == 0
    state = seen.append(tuple(ids[WINDOW]))
    assert seen.first_seen == WINDOW + 1 - WINDOW // 2
    assert close(state, full(decoder, ids[seen.first_seen : WINDOW + 1]))
    for event in ids[WINDOW + 1 :]:
        state = seen.append(tuple(event))
        assert WINDOW // 2 <= len(seen) - seen.first_seen <= WINDOW
    assert close(state, full(decoder, ids[seen.first_seen :]))


def test_a_long_prompt_is_read_as_far_back_as_leaves_room_to_play(decoder, ids):
    seen = Seen(decoder)
    state = seen.extend(ids)
    assert len(seen) - seen.first_seen == WINDOW * 7 // 8
    assert close(state, full(decoder, ids[seen.first_seen :]))


@pytest.mark.parametrize("n_events", [1, 10, 19])
def test_stepping_back_forgets_what_came_after(decoder, ids, n_events):
    seen = Seen(decoder)
    seen.extend(ids[:20])
    assert close(seen.step_back(n_events), full(decoder, ids[:n_events]))
    assert close(seen.append(tuple(ids[50])), full(decoder, np.vstack([ids[:n_events], ids[50]])))


def test_stepping_back_before_the_window_reads_again(decoder, ids):
    seen = Seen(decoder)
    for event in ids[:40]:
        seen.append(tuple(event))
    assert seen.first_seen > 12
    state = seen.step_back(12)
    assert len(seen) == 12
    assert seen.first_seen == 0
    assert close(state, full(decoder, ids[:12]))


@pytest.mark.parametrize("n_events", [0, 21])
def test_stepping_back_to_nowhere_is_an_error(decoder, ids, n_events):
    seen = Seen(decoder)
    seen.extend(ids[:20])
    with pytest.raises(ValueError, match="cannot step back"):
        seen.step_back(n_events)
