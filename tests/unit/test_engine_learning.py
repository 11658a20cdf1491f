"""Training's attention: the same as the plain formula, forward and backward, in either number type.

B windows   T events   H heads   D width of a head
"""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from musicgen.engine import products
from musicgen.engine.learning import attend_compiled, attention_for
from musicgen.model import Decoder, attend, preset
from musicgen.training import TrainingRecipe
from musicgen.training.step import make_loss

SHAPES = [(1, 2, 1, 32), (2, 1, 33, 16), (1, 3, 70, 32), (2, 2, 128, 64), (1, 1, 40, 48)]
"""B, H, T, D: lengths that are no whole blocks of rows, widths of one vector and of several."""
needs_bf16 = pytest.mark.skipif(
    not products.multiplies_bf16(), reason="this machine does not multiply bf16"
)


def _drawn(shape: tuple[int, int, int, int], dtype: torch.dtype, seed: int = 0) -> list[Tensor]:
    """Return q, k, v and a gradient (B, H, T, D), laid out as the model's: (B, T, H, D)."""
    b, h, t, d = shape
    generator = torch.Generator().manual_seed(seed)
    drawn = [torch.randn(b, t, h, d, generator=generator).to(dtype) for _ in range(4)]
    return [each.transpose(1, 2) for each in drawn]


def _by_the_formula(q: Tensor, k: Tensor, v: Tensor, gradient: Tensor) -> list[Tensor]:
    """Return the output and the three gradients in float64, by what the text says."""
    q, k, v = (each.double().detach().requires_grad_() for each in (q, k, v))
    length, d = q.shape[-2:]
    unseen = torch.ones(length, length, dtype=torch.bool).triu(1)
    scores = (q @ k.mT / math.sqrt(d)).masked_fill(unseen, -math.inf)
    out = scores.softmax(-1) @ v
    return [out.detach(), *torch.autograd.grad(out, (q, k, v), gradient.double())]


def _compiled(q: Tensor, k: Tensor, v: Tensor, gradient: Tensor) -> list[Tensor]:
    q, k, v = (each.detach().requires_grad_() for each in (q, k, v))
    out = attend_compiled(q, k, v)
    return [out.detach(), *torch.autograd.grad(out, (q, k, v), gradient)]


@pytest.mark.parametrize("shape", SHAPES)
def test_float32_is_the_formula_and_its_gradient(shape: tuple[int, int, int, int]) -> None:
    given = _drawn(shape, torch.float32)
    for found, expected in zip(_compiled(*given), _by_the_formula(*given), strict=True):
        torch.testing.assert_close(found.double(), expected, atol=2e-5, rtol=1e-5)


@needs_bf16
@pytest.mark.parametrize("shape", SHAPES)
def test_bf16_is_as_near_the_formula_as_its_numbers_allow(shape: tuple[int, int, int, int]) -> None:
    given = _drawn(shape, torch.bfloat16)
    for found, expected in zip(_compiled(*given), _by_the_formula(*given), strict=True):
        assert found.dtype == torch.bfloat16
        error = (found.double() - expected).abs().max()
        assert error <= 0.01 * expected.abs().max()


@needs_bf16
def test_bf16_rounds_less_than_torch_s_own() -> None:
    """A faster step must not be a rougher one: gradients, against the formula."""
    given = _drawn((2, 4, 256, 32), torch.bfloat16)
    q, k, v = (each.detach().requires_grad_() for each in given[:3])
    theirs = torch.autograd.grad(attend(q, k, v), (q, k, v), given[3])
    for mine, other, expected in zip(
        _compiled(*given)[1:], theirs, _by_the_formula(*given)[1:], strict=True
    ):
        assert (mine - expected).square().mean() <= 1.05 * (other - expected).square().mean()


@pytest.mark.parametrize("dtype", [torch.float32, pytest.param(torch.bfloat16, marks=needs_bf16)])
def test_where_numbers_lie_in_memory_changes_none(dtype: torch.dtype) -> None:
    """Guards rows that begin in the middle of a pair, and gradients without rows (of a sum)."""
    whole = torch.randn(3, 2, 20, 3, 33, generator=torch.Generator().manual_seed(5)).to(dtype)
    odd = [each[..., 1:].transpose(1, 2).requires_grad_() for each in whole]
    tidy = [each.detach().contiguous().requires_grad_() for each in odd]
    for first, second in zip(
        torch.autograd.grad(attend_compiled(*odd).sum(), odd),
        torch.autograd.grad(attend_compiled(*tidy).sum(), tidy),
        strict=True,
    ):
        assert torch.equal(first, second)


@needs_bf16
def test_whole_rows_that_begin_within_a_pair_are_read_too() -> None:
    """Guards a tensor that is contiguous, but begins at an odd number: its copy must be one."""
    line = torch.randn(1 + 2 * 20 * 32, generator=torch.Generator().manual_seed(6)).bfloat16()
    odd = line[1:].view(1, 2, 20, 32)
    assert torch.equal(attend_compiled(odd, odd, odd), attend_compiled(*[odd.clone()] * 3))


def test_no_query_sees_what_comes_later() -> None:
    """Keys and values behind a query, in its own block of rows and later ones, change nothing."""
    q, k, v, _ = _drawn((1, 1, 70, 32), torch.float32)
    before = attend_compiled(q, k, v)
    k[..., 41:, :], v[..., 41:, :] = 1e6, -1e6
    after = attend_compiled(q, k, v)
    assert torch.equal(before[..., :41, :], after[..., :41, :])
    assert not torch.allclose(before[..., 41:, :], after[..., 41:, :])


def test_the_number_of_threads_changes_no_bit() -> None:
    given = _drawn((4, 8, 256, 32), torch.float32)  # large enough to be shared out
    threads = torch.get_num_threads()
    made = []
    try:
        for n in (1, 2, 3):
            torch.set_num_threads(n)
            made.append(_compiled(*given))
    finally:
        torch.set_num_threads(threads)
    assert all(torch.equal(a, b) for other in made[1:] for a, b in zip(made[0], other, strict=True))


def test_large_scores_do_not_overflow() -> None:
    given = _drawn((1, 1, 40, 32), torch.float32)
    found = attend_compiled(100.0 * given[0], 100.0 * given[1], given[2])
    expected = attend(100.0 * given[0], 100.0 * given[1], given[2])
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("dtype", [torch.float32, pytest.param(torch.bfloat16, marks=needs_bf16)])
def test_huge_scores_have_no_weight_above_one(dtype: torch.dtype) -> None:
    """Guards gradients of 1e21 that are finite, so that no run stops for them: made again from the
    sum of exponentials, a weight's exponent can be rounded to far above 0."""
    q, k, v, gradient = _drawn((1, 2, 260, 32), dtype, seed=7)
    to_v = _compiled(1e8 * q, k, v, gradient)[3]
    assert to_v.abs().max() <= 1.01 * gradient.abs().float().sum(dim=2).max()


@pytest.mark.parametrize("which", [0, 1, 2])
def test_what_is_no_number_stays_none(which: int) -> None:
    """A run must stop at the loss that is not a number: nan must not be clipped to a weight."""
    given = _drawn((1, 1, 40, 32), torch.float32)
    given[which][0, 0, 5, 3] = math.nan
    assert attend_compiled(*given[:3])[0, 0, 5].isnan().any()


def test_other_attention_is_refused() -> None:
    q, k, v, _ = _drawn((1, 1, 8, 32), torch.float32)
    with pytest.raises(ValueError, match="only causal self-attention"):
        attend_compiled(q, k, v, causal=False)
    with pytest.raises(ValueError, match="only causal self-attention"):
        attend_compiled(q[:, :, :4], k, v)
    with pytest.raises(ValueError, match="12 wide"):
        attend_compiled(q[..., :12], k[..., :12], v[..., :12])


@pytest.mark.parametrize("dtype", [torch.float16, torch.float64])
def test_other_numbers_and_nothing_are_refused(dtype: torch.dtype) -> None:
    """Guards memory: compiled code would read numbers of another size, and write behind them."""
    drawn = [each.to(dtype) for each in _drawn((1, 1, 8, 32), torch.float32)[:3]]
    with pytest.raises(ValueError, match="256 values of torch"):
        attend_compiled(*drawn)
    with pytest.raises(ValueError, match="0 values"):
        attend_compiled(*[each[:0].float() for each in drawn])


def test_torch_s_own_is_taken_where_compiled_code_is_not_known_to_be_faster(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cpu = torch.device("cpu")
    assert attention_for("float32", torch.device("cuda"), 32) is attend
    assert attention_for("float32", cpu, 24) is attend
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "DEFAULT")
    assert attention_for("float32", cpu, 32) is attend
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX2")
    assert attention_for("float32", cpu, 32) is attend_compiled
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)
    assert attention_for("bf16", cpu, 32) is attend


@pytest.mark.parametrize("recompute", [False, True])
def test_a_step_s_loss_and_gradient_are_those_of_the_model_s_own_attention(
    recompute: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX2")
    recipe = TrainingRecipe(
        preset="tiny", precision="float32", compile=False, recompute_activations=recompute
    )
    ids = torch.randint(0, 20, (2, 50, 3), generator=torch.Generator().manual_seed(1))
    found = []
    for given in (attend_compiled, attend):
        monkeypatch.setattr("musicgen.training.step.attention_for", lambda *_, given=given: given)
        decoder = _with_all_branches(Decoder(preset("tiny", (20, 20, 20)), seed=0))
        loss = make_loss(decoder, recipe, torch.device("cpu"))(ids).sum()
        loss.backward()
        gradients = [each.grad for each in decoder.parameters() if each.grad is not None]
        found.append([loss.detach(), *gradients])
    for mine, theirs in zip(*found, strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-5, rtol=1e-4)


def _with_all_branches(decoder: Decoder) -> Decoder:
    """Let every branch count: those that begin at zero would hide attention and its gradient."""
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for parameter in decoder.parameters():
            if not parameter.any():
                parameter.normal_(0.0, 0.05, generator=generator)
    return decoder
