"""What Muon makes of a gradient."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
import torch

from musicgen.engine.orthogonal import orthogonal_compiled
from musicgen.model import Decoder
from musicgen.training import TrainingRecipe
from musicgen.training.muon import Muon, orthogonal, orthogonal_for
from musicgen.training.optim import make_optimizers


@pytest.mark.parametrize("shape", [(3, 24, 24), (2, 16, 40), (2, 40, 16)])
def test_singular_values_are_pulled_together_and_vectors_kept(shape):
    """Guards the polynomials: a wrong coefficient leaves the values apart, or turns the vectors."""
    matrices = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    left, values, right = torch.linalg.svd(matrices, full_matrices=False)
    found = left.mT @ torch.stack(orthogonal(list(matrices))) @ right.mT
    diagonal = torch.diagonal(found, dim1=1, dim2=2)
    assert torch.allclose(found, torch.diag_embed(diagonal), atol=1e-4)
    strong = values > 0.02 * values.norm(dim=1, keepdim=True)
    assert strong.float().mean() > 0.9
    assert diagonal[strong].min() > 0.18
    assert diagonal[strong].max() < 1.9
    assert diagonal[strong].median() > 0.8


def test_the_size_of_a_gradient_does_not_matter():
    matrix = torch.randn((8, 8), generator=torch.Generator().manual_seed(2))
    assert torch.allclose(orthogonal([matrix])[0], orthogonal([1e-3 * matrix])[0], atol=1e-3)


def test_only_matrices_are_taken():
    with pytest.raises(ValueError, match="no matrix"):
        Muon([torch.nn.Parameter(torch.zeros(3))], lr=0.1)


def _weights_and_optimizer(n: int, **settings) -> tuple[list[torch.nn.Parameter], Muon]:
    generator = torch.Generator().manual_seed(3)
    weights = [torch.nn.Parameter(torch.randn(8, 16, generator=generator)) for _ in range(n)]
    return weights, Muon(weights, lr=0.1, **settings)


def _step(weights: list[torch.nn.Parameter], optimizer: Muon, turn: int) -> list[bool]:
    """Take a step with gradients that the turn names; return which matrices it changed."""
    generator = torch.Generator().manual_seed(100 + turn)
    before = [each.detach().clone() for each in weights]
    for each in weights:
        each.grad = torch.randn(each.shape, generator=generator)
    optimizer.step(turn=turn)
    return [not torch.equal(a, b) for a, b in zip(before, weights, strict=True)]


def test_matrices_take_turns():
    """Guards a matrix that is never updated, and steps of which one does all the work."""
    weights, optimizer = _weights_and_optimizer(4, period=2)
    assert _step(weights, optimizer, 0) == [True, False, True, False]
    assert _step(weights, optimizer, 1) == [False, True, False, True]
    assert _step(weights, optimizer, 2) == [True, False, True, False]
    alone, optimizer = _weights_and_optimizer(1, period=2)
    assert [_step(alone, optimizer, turn) for turn in range(3)] == [[True], [False], [True]]


def test_odd_matrices_of_different_shapes_come_at_different_turns():
    """Guards steps of which some take much longer: each shape's odd matrix at the first turn."""
    wide, tall = (torch.nn.Parameter(torch.ones(shape)) for shape in ((8, 16), (16, 8)))
    optimizer = Muon([wide, tall], lr=0.1, period=2)
    assert [_step([wide, tall], optimizer, turn) for turn in range(2)] == [
        [True, False],
        [False, True],
    ]


def test_a_turn_s_update_is_that_of_all_gradients_and_so_much_larger():
    """Guards gradients that are lost between turns, and a rate that falls with the period."""
    weights, optimizer = _weights_and_optimizer(1, period=2, weight_decay=0.0)
    others, at_once = _weights_and_optimizer(1, period=1, weight_decay=0.0)
    for turn in range(2):
        _step(weights, optimizer, turn)
        _step(others, at_once, turn)
    held = optimizer.state[weights[0]]["momentum"]
    assert torch.equal(held, at_once.state[others[0]]["momentum"])
    before, before_other = weights[0].detach().clone(), others[0].detach().clone()
    _step(weights, optimizer, 2)
    _step(others, at_once, 2)
    moved, moved_other = weights[0] - before, others[0] - before_other
    assert torch.allclose(moved, 2 * moved_other, atol=1e-6)


def test_products_in_bf16_are_those_in_float32_but_for_rounding():
    matrix = torch.randn((64, 96), generator=torch.Generator().manual_seed(4))
    found = orthogonal([matrix], torch.bfloat16)[0]
    assert found.dtype == torch.float32
    error = (found - orthogonal([matrix])[0]).norm() / found.norm()
    assert 0 < error < 0.03


def test_matrices_of_all_shapes_are_given_back_in_their_order():
    """Guards the sorting by shape: a matrix that takes another's place."""
    generator = torch.Generator().manual_seed(5)
    matrices = [torch.randn(s, generator=generator) for s in ((8, 16), (16, 8), (8, 16), (8, 8))]
    for matrix, found in zip(matrices, orthogonal(matrices), strict=True):
        assert torch.allclose(found, orthogonal([matrix])[0], atol=1e-5)


def test_compiled_code_is_taken_where_it_is_faster_alone(monkeypatch: pytest.MonkeyPatch):
    """Guards machines with a unit for whole matrices, and those without bf16."""
    cpu = torch.device("cpu")
    monkeypatch.setattr("musicgen.engine.orthogonal.multiplies_bf16", lambda: True)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: False)
    assert getattr(orthogonal_for("bf16", cpu), "func", None) is orthogonal_compiled
    assert getattr(orthogonal_for("bf16", torch.device("cuda")), "func", None) is orthogonal
    assert orthogonal_for("float32", cpu) is orthogonal
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: True)
    assert getattr(orthogonal_for("bf16", cpu), "func", None) is orthogonal


@pytest.mark.parametrize(
    ("name", "seq_len", "batch_size", "period"),
    [("tiny", 512, 4, 1), ("small", 512, 4, 2), ("medium", 512, 4, 4), ("medium", 512, 64, 1)],
)
def test_the_period_is_one_unless_muon_were_much_of_a_step(name, seq_len, batch_size, period):
    """The sizes that are offered, at their usual steps, and on a GPU."""
    recipe = TrainingRecipe(preset=name, seq_len=seq_len, batch_size=batch_size)
    config = recipe.decoder_config((204, 132, 36, 218))
    inside = Decoder(config, seed=None)
    found = make_optimizers(inside, recipe)._optimizers[0]
    assert isinstance(found, Muon)
    assert found._period == period
    given = make_optimizers(inside, replace(recipe, muon_period=3))._optimizers[0]
    assert isinstance(given, Muon)
    assert given._period == 3


@pytest.mark.parametrize(("name", "seq_len"), [("tiny", 8), ("small", 128), ("medium", 64)])
def test_no_matrix_waits_for_tens_of_steps_where_a_step_reads_few_events(name, seq_len):
    """Guards small steps: without a bound a matrix of `tiny` would wait for 243, half a nat."""
    recipe = TrainingRecipe(preset=name, seq_len=seq_len, batch_size=1)
    inside = Decoder(recipe.decoder_config((204, 132, 36, 218)), seed=None)
    found = make_optimizers(inside, recipe)._optimizers[0]
    assert isinstance(found, Muon)
    assert found._period == 4


def test_a_period_below_one_is_refused():
    with pytest.raises(ValueError, match="period of 0"):
        _weights_and_optimizer(1, period=0)


@pytest.mark.parametrize("shape", [(64, 200), (200, 64), (64, 100)])
def test_rounding_lets_no_direction_grow(shape):
    """Guards three polynomials made one: of few strong directions they make some 5 times too long.

    Where one is strong, what the weak ones are multiplied by is 134 times as large as its own.
    """
    generator = torch.Generator().manual_seed(6)
    left, _, right = torch.linalg.svd(torch.randn(shape, generator=generator), full_matrices=False)
    matrix = left @ torch.diag(1 / torch.arange(1.0, 65.0)) @ right
    exact = orthogonal([matrix])[0]
    ways = [
        orthogonal_for("bf16", torch.device("cpu")),
        partial(orthogonal, products=torch.bfloat16),
    ]
    for way in ways:
        found = way([matrix])[0]
        assert (found - exact).norm() < 0.05 * exact.norm()
        assert torch.linalg.matrix_norm(found, 2) < 1.95
