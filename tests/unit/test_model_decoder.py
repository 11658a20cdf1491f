"""The decoder: who may know what, and one result whatever the way to it."""

from __future__ import annotations

import threading
from itertools import pairwise

import pytest
import torch

from musicgen.errors import ConfigError
from musicgen.model import PRESETS, AttentionRecord, Decoder, DecoderConfig, KVCache, preset
from musicgen.model.attention import attend, attention_weights, causal_mask

SIZES = (11, 7, 5, 9)


def make_decoder(seed: int = 3) -> Decoder:
    config = DecoderConfig(
        vocab_sizes=SIZES, d_model=32, n_layers=3, n_heads=8, d_ff=48, d_head_ff=32, max_seq_len=64
    )
    decoder = Decoder(config, seed=seed)
    # The branches begin at zero; a test needs a model in which everything matters.
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in decoder.parameters():
            parameter += 0.2 * torch.randn(parameter.shape, generator=generator)
    return decoder.eval()


def make_ids(batch: int = 2, length: int = 24, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    columns = [torch.randint(0, size, (batch, length), generator=generator) for size in SIZES]
    return torch.stack(columns, dim=-1)


@pytest.mark.parametrize("name", PRESETS)
def test_parameter_count_is_the_formula(name: str) -> None:
    config = preset(name, (204, 132, 36, 218))
    built = sum(parameter.numel() for parameter in Decoder(config).parameters())
    assert built == config.parameter_count()


def test_presets_have_the_sizes_they_promise() -> None:
    millions = [preset(n, (204, 132, 36, 218)).parameter_count() / 1e6 for n in PRESETS]
    for found, promised in zip(millions, (1, 6, 20), strict=True):
        assert abs(found - promised) <= 0.1 * promised


def test_shapes_of_the_logits() -> None:
    logits = make_decoder()(make_ids())
    assert [tuple(x.shape) for x in logits] == [(2, 23, size) for size in SIZES]


def test_logits_depend_on_the_past_and_the_attributes_before_and_on_nothing_else() -> None:
    """Guards: a head that sees its own answer, or a mask that leaks the future."""
    decoder, ids, t = make_decoder(), make_ids(), 10
    before = [x[:, t] for x in decoder(ids)]
    for k in range(4):
        changed = ids.clone()
        changed[:, t + 1, k] = (changed[:, t + 1, k] + 1) % SIZES[k]
        changed[:, t + 2 :] = 0
        after = [x[:, t] for x in decoder(changed)]
        for j in range(4):
            assert torch.equal(before[j], after[j]) == (j <= k), (k, j)
    past = ids.clone()
    past[:, 0, 3] = (past[:, 0, 3] + 1) % SIZES[3]
    assert not torch.equal(before[0], decoder(past)[0][:, t])


@pytest.mark.parametrize("cuts", [(1,), (5, 6, 20), (23,), tuple(range(1, 24))])
def test_any_chunking_gives_the_full_pass(cuts: tuple[int, ...]) -> None:
    """Guards torch's `is_causal`, which aligns upper-left: wrong against a filled cache."""
    decoder, ids = make_decoder(), make_ids()
    with torch.no_grad():
        full = decoder.trunk(ids)
        cache = KVCache.allocate(decoder.config, batch_size=2)
        borders = (0, *cuts, 24)
        parts = [decoder.trunk(ids[:, a:b], cache=cache) for a, b in pairwise(borders)]
    torch.testing.assert_close(torch.cat(parts, dim=1), full, atol=2e-5, rtol=1e-4)
    assert cache.length == 24


def test_stepping_back_forgets() -> None:
    decoder, ids = make_decoder(), make_ids()
    with torch.no_grad():
        cache = KVCache.allocate(decoder.config, batch_size=2)
        decoder.trunk(ids[:, :9], cache=cache)
        decoder.trunk(make_ids(seed=9)[:, :8], cache=cache)
        cache.truncate(9)
        again = decoder.trunk(ids[:, 9:], cache=cache)
        full = decoder.trunk(ids)
    torch.testing.assert_close(again, full[:, 9:], atol=2e-5, rtol=1e-4)


def test_cache_refuses_what_does_not_fit() -> None:
    decoder, ids = make_decoder(), make_ids()
    cache = KVCache.allocate(decoder.config, batch_size=2, capacity=10)
    with pytest.raises(ValueError, match="do not fit"):
        decoder.trunk(ids, cache=cache)
    with pytest.raises(ValueError, match="step back"):
        cache.truncate(1)


def test_looking_does_not_change_a_bit() -> None:
    decoder, ids, record = make_decoder(), make_ids(), AttentionRecord()
    with torch.no_grad():
        assert torch.equal(decoder.trunk(ids, record=record), decoder.trunk(ids))
    assert [tuple(w.shape) for w in record.weights] == [(2, 8, 24, 24)] * 3


@pytest.mark.parametrize(("queries", "keys"), [(6, 6), (1, 9), (4, 9)])
@pytest.mark.parametrize("causal", [True, False])
def test_weights_times_values_is_the_output(queries: int, keys: int, causal: bool) -> None:
    q, k, v = torch.randn(1, 2, queries, 8), torch.randn(1, 2, keys, 8), torch.randn(1, 2, keys, 8)
    expected = attention_weights(q, k, causal=causal) @ v
    torch.testing.assert_close(attend(q, k, v, causal=causal), expected, atol=1e-5, rtol=1e-4)


def test_causal_mask_ends_at_the_last_key() -> None:
    assert causal_mask(2, 4).tolist() == [[True, True, True, False], [True] * 4]
    with pytest.raises(ValueError, match="queries"):
        causal_mask(3, 2)


def test_six_threads_on_one_model_give_the_serial_result() -> None:
    """Guards against state in the module: many sessions share one model."""
    decoder = make_decoder()
    inputs = [make_ids(1, 20, seed) for seed in range(6)]
    with torch.no_grad():
        serial = [decoder.trunk(ids) for ids in inputs]
    found: dict[int, torch.Tensor] = {}

    def work(index: int) -> None:
        cache = KVCache.allocate(decoder.config)
        with torch.no_grad():
            chunks = inputs[index].split(5, dim=1)
            parts = [decoder.trunk(chunk, cache=cache) for chunk in chunks]
        found[index] = torch.cat(parts, dim=1)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for index, expected in enumerate(serial):
        torch.testing.assert_close(found[index], expected, atol=2e-5, rtol=1e-4)


def test_building_draws_nothing_from_the_global_generator() -> None:
    torch.manual_seed(1)
    expected = torch.rand(1)
    torch.manual_seed(1)
    first, second = make_decoder(5), make_decoder(5)
    assert torch.equal(torch.rand(1), expected)
    assert all(
        torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True)
    )


@pytest.mark.parametrize(
    "change",
    [{"d_model": 36}, {"n_layers": 0}, {"d_model": 10**9}, {"vocab_sizes": ()}, {"rope_base": 0.5}],
)
def test_impossible_sizes_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        DecoderConfig(**{"vocab_sizes": SIZES, **change})  # type: ignore[arg-type]


def test_wrong_number_of_attributes_is_the_callers_mistake() -> None:
    with pytest.raises(ValueError, match="not \\(B, T, 4\\)"):
        make_decoder().trunk(torch.zeros(1, 5, 3, dtype=torch.int64))


@pytest.mark.parametrize(("k", "wrong"), [(0, 11), (1, -1), (3, 9)])
def test_an_id_outside_its_vocabulary_is_named(k: int, wrong: int) -> None:
    """Guards: torch's "index out of range in self", or nothing at all for the last attribute."""
    ids = make_ids()
    ids[1, 23, k] = wrong
    with pytest.raises(
        ValueError, match=f"id {wrong} of attribute {k} is outside 0 … {SIZES[k] - 1}"
    ):
        make_decoder()(ids)


@pytest.mark.filterwarnings("ignore:dynamo_pgo force disabled:UserWarning")
@pytest.mark.filterwarnings("ignore:.*script_method:DeprecationWarning")
def test_a_compiled_step_s_tables_have_the_gradient_of_plain_ones() -> None:
    """Guards the kernel that a compiled step is left: ids that come often, and those that do not.

    Traced as for a machine's compiler, and run without one.
    """
    ids = make_ids(length=9)
    ids[0, :5], ids[1, 3] = ids[0, 5], torch.tensor([size - 1 for size in SIZES])
    found = []
    for traced in (False, True):
        decoder = make_decoder()
        run = torch.compile(decoder, backend="aot_eager", fullgraph=True) if traced else decoder
        torch.stack([scores.square().sum() for scores in run(ids)]).sum().backward()
        found.append([each.grad for each in decoder.parameters()])
    for plain, compiled in zip(*found, strict=True):
        torch.testing.assert_close(compiled, plain)
