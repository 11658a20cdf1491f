"""Lanes of a cache, each at a position of its own: one step of all is a step of each."""

from __future__ import annotations

import pytest
import torch

from musicgen.model import AttentionRecord, LaneCache
from musicgen.model.attention import attend, attention_weights
from musicgen.model.lanes import SPARE
from small_models import small_decoder

DECODER = small_decoder()
WINDOW = DECODER.config.max_seq_len


def make_ids(batch, length, seed=0):
    generator = torch.Generator().manual_seed(seed)
    sizes = DECODER.config.vocab_sizes
    columns = [torch.randint(0, size, (batch, length), generator=generator) for size in sizes]
    return torch.stack(columns, dim=-1)


@torch.inference_mode()
def test_lanes_at_any_positions_give_the_full_pass():
    ids, lengths = make_ids(4, WINDOW), (1, 5, 30, WINDOW)
    positions = torch.zeros(4, dtype=torch.int64)
    lanes = LaneCache.allocate(DECODER.config, positions)
    for lane, length in enumerate(lengths):
        if length > 1:
            DECODER.trunk(ids[lane : lane + 1, : length - 1], cache=lanes.lane(lane, 0))
    positions.copy_(torch.tensor(lengths) - 1)
    last = torch.stack([ids[lane, length - 1] for lane, length in enumerate(lengths)])
    found = DECODER.trunk(last[:, None], cache=lanes)
    for lane, length in enumerate(lengths):
        full = DECODER.trunk(ids[lane : lane + 1, :length])[0, -1]
        torch.testing.assert_close(found[lane, 0], full, atol=2e-5, rtol=1e-4)


@torch.inference_mode()
def test_looking_sees_what_a_lane_sees_and_does_not_change_a_bit():
    positions = torch.tensor([0, 3, WINDOW])  # the last reads nothing, behind its window
    lanes, record = LaneCache.allocate(DECODER.config, positions), AttentionRecord()
    ids = make_ids(3, 1)
    assert torch.equal(
        DECODER.trunk(ids, cache=lanes, record=record), DECODER.trunk(ids, cache=lanes)
    )
    for weights in record.weights:
        assert weights.shape[-2:] == (1, WINDOW + SPARE)
        assert (weights[0, ..., 0] == 1).all()
        assert (weights[1, ..., 4:] == 0).all()


def test_what_is_visible_is_what_is_weighed():
    q, k, v = torch.randn(2, 3, 1, 8), torch.randn(2, 3, 9, 8), torch.randn(2, 3, 9, 8)
    visible = torch.arange(9) <= torch.tensor([2, 7])[:, None, None, None]
    expected = attention_weights(q, k, visible=visible) @ v
    torch.testing.assert_close(attend(q, k, v, visible=visible), expected, atol=1e-5, rtol=1e-4)
    alone = attend(q[:1], k[:1, :, :3], v[:1, :, :3])
    torch.testing.assert_close(expected[:1], alone, atol=1e-5, rtol=1e-4)


def test_a_lane_reads_one_event_at_a_time():
    lanes = LaneCache.allocate(DECODER.config, torch.zeros(2, dtype=torch.int64))
    with pytest.raises(ValueError, match="one event at a time"):
        DECODER.trunk(make_ids(2, 2), cache=lanes)
    with pytest.raises(ValueError, match="do not fit"):
        DECODER.trunk(make_ids(1, 2), cache=lanes.lane(0, WINDOW - 1))
