"""Compiled code against torch: the same scores, in blocks, one by one, stepped back."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from musicgen.engine import make_engine
from musicgen.engine.numba_steps import NumbaEngine
from musicgen.errors import GenerationError
from musicgen.model import Decoder, DecoderConfig

# Sizes that fill no tile: widths of heads below and beside 16, odd d_ff, vocabularies of any size.
SHAPES = {
    "piano": {"vocab_sizes": (50, 40, 20, 60), "d_model": 64, "n_heads": 4, "d_ff": 96},
    "flat": {"vocab_sizes": (131,), "d_model": 32, "n_heads": 4, "d_ff": 47},
    "odd": {"vocab_sizes": (7, 3), "d_model": 72, "n_heads": 3, "d_ff": 101, "d_head_ff": 33},
    "tiny": {"vocab_sizes": (5, 5), "d_model": 4, "n_heads": 2, "d_ff": 1, "d_head_ff": 1},
}


def random_decoder(shape="piano", max_seq_len=70, n_layers=2):
    config = DecoderConfig(
        **{"d_head_ff": 48, **SHAPES[shape]}, n_layers=n_layers, max_seq_len=max_seq_len
    )
    decoder = Decoder(config, seed=3)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in decoder.parameters():
            if not parameter.any():
                parameter.normal_(0.0, 0.2, generator=generator)
            elif parameter.ndim == 1:
                parameter.normal_(1.0, 0.2, generator=generator)
    return decoder.eval()


def random_ids(decoder, n_events, seed=0):
    generator = np.random.default_rng(seed)
    columns = [generator.integers(0, size, n_events) for size in decoder.config.vocab_sizes]
    return [tuple(map(int, event)) for event in np.stack(columns, axis=1)]


@torch.inference_mode()
def torch_logits(decoder, ids, previous):
    """Scores of the attributes of `previous` after `ids`, by one pass over all of them."""
    state = decoder.trunk(torch.tensor([ids]))[:, -1]
    return [
        decoder.attribute_logits(state, k, torch.tensor([previous[:k]], dtype=torch.int64))[0]
        for k in range(len(previous))
    ]


def all_logits(steps, previous):
    return [steps.logits(k, previous[:k]).copy() for k in range(len(previous))]


@pytest.mark.parametrize("shape", SHAPES)
def test_float32_gives_torchs_scores_for_any_sizes(shape):
    decoder = random_decoder(shape)
    ids = random_ids(decoder, 70)
    steps = NumbaEngine(decoder, as_int8=False).begin()
    for n_read, event in enumerate(ids[:-1], 1):
        steps.append(event)
        if n_read % 8 == 1 or n_read > 66:
            following = ids[n_read]
            expected = torch_logits(decoder, ids[:n_read], following)
            for mine, theirs in zip(all_logits(steps, following), expected, strict=True):
                assert np.abs(mine - theirs.numpy()).max() < 1e-4


@pytest.mark.parametrize("shape", SHAPES)
def test_int8_gives_nearly_torchs_scores(shape):
    decoder = random_decoder(shape)
    ids = random_ids(decoder, 60)
    steps = NumbaEngine(decoder, as_int8=True).begin()
    steps.prefill(ids[:-1])
    expected = torch_logits(decoder, ids[:-1], ids[-1])
    for mine, theirs in zip(all_logits(steps, ids[-1]), expected, strict=True):
        assert np.abs(mine - theirs.numpy()).max() < 0.05 * float(theirs.abs().max())


def test_int8_reads_in_blocks_what_it_reads_one_by_one_bit_for_bit():
    # Whole-number sums: where a take was cut into blocks cannot be heard.
    decoder = random_decoder()
    ids = random_ids(decoder, 61)
    engine = NumbaEngine(decoder, as_int8=True)
    blocks, single = engine.begin(), engine.begin()
    blocks.prefill(ids[:9])
    blocks.prefill(ids[9:60])
    for event in ids[:60]:
        single.append(event)
    for one, other in zip(all_logits(blocks, ids[60]), all_logits(single, ids[60]), strict=True):
        assert (one == other).all()


@pytest.mark.parametrize("as_int8", [False, True])
def test_stepping_back_forgets_what_came_after(as_int8):
    decoder = random_decoder()
    ids = random_ids(decoder, 70)
    engine = NumbaEngine(decoder, as_int8=as_int8)
    straight, bent = engine.begin(), engine.begin()
    straight.prefill(ids[:21])
    bent.prefill(ids[:70])
    bent.truncate(20)
    with pytest.raises(ValueError, match="no event was read"):
        bent.logits(0, ())
    bent.append(ids[20])
    for one, other in zip(all_logits(straight, ids[21]), all_logits(bent, ids[21]), strict=True):
        assert np.abs(one - other).max() < 1e-5


def test_two_takes_of_one_engine_do_not_meet():
    decoder = random_decoder()
    ids = random_ids(decoder, 40)
    engine = NumbaEngine(decoder, as_int8=True)
    alone = engine.begin()
    alone.prefill(ids[:30])
    expected = all_logits(alone, ids[30])
    one, other = engine.begin(), engine.begin()
    for event in ids[:30]:
        one.append(event)
        other.append(ids[35])
    assert all((a == b).all() for a, b in zip(all_logits(one, ids[30]), expected, strict=True))


def test_what_would_read_foreign_memory_is_refused():
    decoder = random_decoder("flat")
    steps = NumbaEngine(decoder, as_int8=True).begin()
    with pytest.raises(ValueError, match="at least one event"):
        steps.prefill([])
    for event in ((-1,), (131,)):
        with pytest.raises(ValueError, match="vocabulary"):
            steps.append(event)
    with pytest.raises(ValueError, match="do not fit"):
        steps.prefill([(1,)] * 71)
    steps.append((0,))
    with pytest.raises(ValueError, match="not the ids before"):
        steps.logits(0, (1,))
    with pytest.raises(ValueError, match="cannot step back"):
        steps.truncate(2)


@pytest.mark.parametrize("as_int8", [False, True])
@pytest.mark.parametrize("where", ["embeddings.0.weight", "blocks.1.mlp.down.weight"])
def test_a_weight_that_is_no_number_is_refused(as_int8, where):
    # nan becomes some whole number when it is rounded: it must not pass as music
    decoder = random_decoder()
    with torch.no_grad():
        decoder.get_parameter(where)[3] = float("nan")
    engine = NumbaEngine(decoder, as_int8=as_int8)
    steps = engine.begin()
    steps.append((3, 3, 3, 3))
    logits = steps.logits(0, ())
    with pytest.raises(GenerationError, match="no numbers"):
        steps.draw(logits, np.ones(len(logits), dtype=bool), Plain, 0.5)


class Plain:
    temperature, top_k, top_p, min_p = 1.0, 0, 0.95, 0.0


def test_masks_of_any_kind_are_drawn_from_by_the_same_code():
    # Read-only masks, which tokenizers give, were compiled once more within the first take.
    steps = NumbaEngine(random_decoder("tiny"), as_int8=True).begin()
    steps.append((0, 0))
    logits = steps.logits(0, ())
    before = len(steps._chooser._draw.signatures)
    fixed = np.array([False, False, False, True, False])
    fixed.flags.writeable = False
    spread = np.tile(fixed, (2, 1)).T[:, 0]
    for mask in (fixed, fixed.copy(), spread):
        assert steps.draw(logits, mask, Plain, 0.5) == 3
    assert len(steps._chooser._draw.signatures) == before


def test_an_engine_is_named_and_an_unknown_one_refused():
    decoder = random_decoder("tiny")
    names = {wanted: make_engine(decoder, wanted).name for wanted in ("auto", "torch")}
    assert names == {"auto": "numba-int8", "torch": "torch"}
    assert make_engine(decoder, "numba-float32").name == "numba-float32"
    with pytest.raises(ValueError, match="none of the engines"):
        make_engine(decoder, "fast")
