"""What Muon makes of a gradient."""

from __future__ import annotations

import pytest
import torch

from musicgen.training.muon import Muon, orthogonal


@pytest.mark.parametrize("shape", [(3, 24, 24), (2, 16, 40), (2, 40, 16)])
def test_singular_values_are_pulled_together_and_vectors_kept(shape):
    """Guards the polynomials: a wrong coefficient leaves the values apart, or turns the vectors."""
    matrices = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    left, values, right = torch.linalg.svd(matrices, full_matrices=False)
    found = left.mT @ orthogonal(matrices) @ right.mT
    diagonal = torch.diagonal(found, dim1=1, dim2=2)
    assert torch.allclose(found, torch.diag_embed(diagonal), atol=1e-4)
    strong = values > 0.02 * values.norm(dim=1, keepdim=True)
    assert strong.float().mean() > 0.9
    assert diagonal[strong].min() > 0.18
    assert diagonal[strong].max() < 1.9
    assert diagonal[strong].median() > 0.8


def test_the_size_of_a_gradient_does_not_matter():
    matrices = torch.randn((1, 8, 8), generator=torch.Generator().manual_seed(2))
    assert torch.allclose(orthogonal(matrices), orthogonal(1e-3 * matrices), atol=1e-3)


def test_only_matrices_are_taken():
    with pytest.raises(ValueError, match="no matrix"):
        Muon([torch.nn.Parameter(torch.zeros(3))], lr=0.1)
