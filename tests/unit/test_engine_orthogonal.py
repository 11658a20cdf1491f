"""Muon's matrices by compiled code: those of the formula, whatever their shape."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from musicgen.engine import products
from musicgen.engine.orthogonal import orthogonal_compiled
from musicgen.training.muon import MARGIN, POLYNOMIALS, orthogonal

pytestmark = pytest.mark.skipif(
    not products.multiplies_bf16(), reason="this machine does not multiply bf16"
)
SHAPES = [(64, 64), (64, 96), (96, 64), (50, 83), (1, 7), (7, 1), (33, 200), (128, 31)]


def _drawn(shape: tuple[int, int], seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def _compiled(*matrices: Tensor) -> list[Tensor]:
    return orthogonal_compiled(matrices, polynomials=POLYNOMIALS, margin=MARGIN)


def _by_the_formula(matrix: Tensor, products: torch.dtype) -> Tensor:
    """Return X times its polynomials, of products as rough as those numbers."""

    def rounded(x: Tensor) -> Tensor:
        return x.to(products).double()

    x = matrix.double() if matrix.shape[0] <= matrix.shape[1] else matrix.double().mT
    x = x / (MARGIN * x.norm())
    at_once = 2 if x.shape[1] >= 2 * x.shape[0] else 1
    for first in range(0, len(POLYNOMIALS), at_once):
        x = rounded(x)
        gram, factor, matrices = rounded(x @ x.mT), 1.0, torch.zeros(())
        for a, b, c in POLYNOMIALS[first : first + at_once]:
            polynomial = rounded(b * gram + c * gram @ gram)
            between = rounded(a * gram + polynomial @ gram)
            gram = rounded(a * between + polynomial @ between)
            together = matrices @ polynomial if matrices.ndim else matrices
            matrices = rounded(a * matrices + factor * polynomial + together)
            factor *= a
        x = factor * x + matrices @ x
    return x if matrix.shape[0] <= matrix.shape[1] else x.mT


@pytest.mark.parametrize("shape", SHAPES)
def test_a_matrix_is_that_of_the_formula(shape):
    """Guards shapes of no whole number of tiles, matrices on their side, the copied half."""
    matrix = _drawn(shape)
    found = _compiled(matrix)[0]
    assert found.dtype == torch.float32
    assert found.shape == matrix.shape
    # The same but for sums in another order, which here and there round to another number.
    expected = _by_the_formula(matrix, torch.bfloat16)
    assert (found - expected).norm() <= 0.01 * expected.norm()


@pytest.mark.parametrize("shape", [(128, 128), (256, 100)])
def test_it_is_no_rougher_than_torch_s_products(shape):
    """Guards rounding where terms cancel: X · Xᵀ must be rounded before both of its terms."""
    matrix = _drawn(shape)
    exact = _by_the_formula(matrix, torch.float64)
    theirs = orthogonal([matrix], torch.bfloat16)[0]
    assert (_compiled(matrix)[0] - exact).norm() <= 1.03 * (theirs - exact).norm()


def test_matrices_are_told_apart_whatever_their_order_in_memory():
    """Guards a matrix that is read along its columns, and results in another's place."""
    matrices = [_drawn((40, 60), 1), _drawn((60, 40), 2).mT, _drawn((96, 32), 3)[::2]]
    for matrix, found in zip(matrices, _compiled(*matrices), strict=True):
        assert torch.equal(found, _compiled(matrix.clone())[0])
    assert _compiled() == []


def test_the_number_of_threads_changes_no_bit():
    matrices = [_drawn((64, 64 + 16 * i), i) for i in range(5)]
    threads = torch.get_num_threads()
    made = []
    try:
        for n in (1, 2, 3):
            torch.set_num_threads(n)
            made.append(_compiled(*matrices))
    finally:
        torch.set_num_threads(threads)
    assert all(torch.equal(a, b) for other in made[1:] for a, b in zip(made[0], other, strict=True))


@pytest.mark.parametrize("size", [0.0, 1e-20, 1e15])
def test_the_size_of_a_matrix_does_not_matter(size):
    """Guards a gradient of zeros, which has no direction, and sums that overflow."""
    matrix = size * _drawn((64, 96))
    found = _compiled(matrix)[0]
    if size > 1e-15:
        assert (found - _compiled(_drawn((64, 96)))[0]).norm() <= 0.02 * found.norm()
    else:
        assert found.isfinite().all()


def test_other_numbers_are_refused():
    """Guards memory: compiled code would read numbers of another size."""
    with pytest.raises(ValueError, match="float64"):
        _compiled(_drawn((8, 8)), _drawn((8, 8)).double())


def test_a_parameter_is_a_matrix_like_others():
    matrix = _drawn((32, 40))
    assert torch.equal(_compiled(torch.nn.Parameter(matrix))[0], _compiled(matrix)[0])
