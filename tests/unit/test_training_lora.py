"""Low-rank adaptation: nothing changes at first, narrow matrices learn, the sum is the model."""

from __future__ import annotations

import copy

import pytest
import torch

from musicgen.training.lora import (
    LowRankLinear,
    adapt,
    is_adapted,
    merged,
    narrow_matrices,
    restore_narrow_matrices,
)
from small_models import small_decoder


@pytest.fixture
def ids():
    sizes = small_decoder().config.vocab_sizes
    generator = torch.Generator().manual_seed(3)
    return torch.stack(
        [torch.randint(size, (2, 12), generator=generator) for size in sizes], dim=-1
    )


def trained(decoder, ids, steps=3):
    learning = [parameter for parameter in decoder.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(learning, lr=1e-2)
    for _ in range(steps):
        optimizer.zero_grad()
        sum(logits.square().mean() for logits in decoder(ids)).backward()
        optimizer.step()
    return decoder


def logits(decoder, ids):
    with torch.no_grad():
        return torch.cat([scores.flatten() for scores in decoder(ids)])


def test_training_begins_with_the_model_as_it_is(ids):
    decoder = small_decoder()
    before = logits(decoder, ids)
    adapt(decoder, 4, seed=1)
    assert torch.equal(logits(decoder, ids), before)


def test_every_matrix_of_attention_mlps_and_heads_is_adapted():
    decoder = small_decoder()
    adapt(decoder, 4, seed=1)
    left = [name for name, p in decoder.named_parameters() if p.ndim == 2 and not p.requires_grad]
    assert all(name.startswith("embeddings") or ".base." in name for name in left)
    learning = {name for name, p in decoder.named_parameters() if p.requires_grad}
    assert learning == set(narrow_matrices(decoder))
    assert any(name.startswith("heads.0.mlp") for name in learning)
    assert any("attention.to_q" in name for name in learning)
    with pytest.raises(ValueError, match="already"):
        adapt(decoder, 4, seed=1)


def test_only_the_narrow_matrices_learn_and_the_sum_is_an_ordinary_model(ids):
    """Guards a checkpoint that no other part of the house could read."""
    plain = small_decoder()
    names = set(plain.state_dict())
    decoder = copy.deepcopy(plain)
    adapt(decoder, 4, seed=1)
    trained(decoder, ids)
    whole = merged(decoder)
    assert set(whole.state_dict()) == names
    assert not is_adapted(whole)
    assert torch.allclose(logits(whole, ids), logits(decoder, ids), atol=1e-5)
    assert not torch.allclose(logits(whole, ids), logits(plain, ids), atol=1e-3)
    bases = {n: m.base.weight for n, m in decoder.named_modules() if isinstance(m, LowRankLinear)}
    assert all(torch.equal(w, plain.state_dict()[f"{n}.weight"]) for n, w in bases.items())
    assert merged(plain) is plain
    # Merging is no step of the training: the adapted model goes on as it was.
    assert is_adapted(decoder)


def test_the_same_seed_draws_the_same_matrices_and_they_can_be_put_back(ids):
    first, second, third = (small_decoder() for _ in range(3))
    for decoder, seed in ((first, 1), (second, 1), (third, 2)):
        adapt(decoder, 4, seed=seed)
    a, b, c = (narrow_matrices(decoder) for decoder in (first, second, third))
    assert all(torch.equal(a[name], b[name]) for name in a)
    assert not all(torch.equal(a[name], c[name]) for name in a)
    trained(first, ids)
    restore_narrow_matrices(second, narrow_matrices(first))
    assert torch.equal(logits(first, ids), logits(second, ids))


def test_foreign_matrices_are_refused():
    decoder = small_decoder()
    adapt(decoder, 4, seed=1)
    own = dict(narrow_matrices(decoder))
    name = next(iter(own))
    with pytest.raises(ValueError, match="missing"):
        restore_narrow_matrices(decoder, {key: own[key] for key in own if key != name})
    with pytest.raises(ValueError, match="another model"):
        restore_narrow_matrices(decoder, {**own, "x.up": own[name]})
    with pytest.raises(ValueError, match="shape"):
        restore_narrow_matrices(decoder, {**own, name: own[name][:1]})
