"""The printed numbers of the attention text behind the project, to four decimals.

Source: M. Liu, "Learn Generative AI with PyTorch", chapters 9 to 14; figures only.
"""

from __future__ import annotations

import pytest
import torch
from torch import nn

from musicgen.model.attention import (
    MultiHeadAttention,
    attend,
    attention_scores,
    attention_weights,
    join_heads,
    split_heads,
)
from musicgen.model.rope import sinusoidal_encoding


@pytest.fixture
def four_tokens() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """q, k, v (1, 25, 4, 64) of the GPT-2 XL example: four tokens, 25 heads."""
    torch.manual_seed(42)
    x = torch.randn((1, 4, 1600))
    q, k, v = nn.Linear(1600, 4800)(x).split(1600, dim=2)
    assert q.shape == (1, 4, 1600)
    return split_heads(q, 25), split_heads(k, 25), split_heads(v, 25)


def test_causal_scores_of_head_0(four_tokens: tuple[torch.Tensor, ...]) -> None:
    q, k, _ = four_tokens
    assert q.shape == (1, 25, 4, 64)
    expected = [
        [0.2334, 0.1385, -0.1305, 0.2664],
        [0.2916, 0.1044, 0.0095, 0.0993],
        [0.8250, 0.2454, 0.0214, 0.8667],
        [-0.1557, 0.2034, 0.2172, -0.2740],
    ]
    torch.testing.assert_close(
        attention_scores(q, k)[0, 0], torch.tensor(expected), atol=5e-5, rtol=0
    )


def test_causal_weights_of_head_0(four_tokens: tuple[torch.Tensor, ...]) -> None:
    q, k, _ = four_tokens
    expected = [
        [1.0, 0.0, 0.0, 0.0],
        [0.5467, 0.4533, 0.0, 0.0],
        [0.4980, 0.2790, 0.2230, 0.0],
        [0.2095, 0.3001, 0.3042, 0.1862],
    ]
    torch.testing.assert_close(
        attention_weights(q, k)[0, 0], torch.tensor(expected), atol=5e-5, rtol=0
    )


def test_heads_rejoin_to_the_model_width(four_tokens: tuple[torch.Tensor, ...]) -> None:
    q, k, v = four_tokens
    assert join_heads(attend(q, k, v)).shape == (1, 4, 1600)


def test_four_word_sentence_shapes() -> None:
    """How, are, you, ?: 8 heads of 32 over a 4 × 256 input, without a mask."""
    x = torch.randn(1, 4, 256) + sinusoidal_encoding(4, 256)
    q = k = split_heads(x, 8)
    assert q.shape == (1, 8, 4, 32)
    weights = attention_weights(q, k, causal=False)
    assert weights.shape == (1, 8, 4, 4)
    torch.testing.assert_close(weights.sum(-1), torch.ones(1, 8, 4))
    assert (weights[0, 0].triu(1) > 0).any(), "without a mask every word sees every word"
    attention = MultiHeadAttention(256, 8, qk_norm=False)
    assert attention(x, causal=False).shape == (1, 4, 256)


def test_cross_attention_shapes() -> None:
    """Queries of the target, keys and values of the source: (heads, target, source) weights."""
    target, source = torch.randn(1, 5, 256), torch.randn(1, 9, 256)
    attention = MultiHeadAttention(256, 8, qk_norm=False)
    assert attention(target, source, causal=False).shape == (1, 5, 256)
    q = split_heads(attention.to_q(target), 8)
    k = split_heads(attention.to_k(source), 8)
    assert attention_weights(q, k, causal=False)[0].shape == (8, 5, 9)


def test_sinusoidal_encoding() -> None:
    encoding = sinusoidal_encoding(2, 256)
    torch.testing.assert_close(encoding[0, :4], torch.tensor([0.0, 1.0, 0.0, 1.0]))
    torch.testing.assert_close(encoding[1, :2], torch.tensor([0.84147, 0.54030]), atol=5e-6, rtol=0)


def _layer(d: int, d_ff: int) -> int:
    """Parameters of attention (with biases) and a two-matrix MLP."""
    return 4 * (d * d + d) + (d * d_ff + d_ff) + (d_ff * d + d)


def test_parameter_counts_by_formula() -> None:
    """19.66 M (English to French), 1557.61 M (GPT-2 XL), 20.16 M (music), as printed."""
    norm = 2 * 256
    encoder = 6 * (_layer(256, 1024) + 2 * norm) + norm
    decoder = 6 * (_layer(256, 1024) + 4 * (256 * 256 + 256) + 3 * norm) + norm
    translation = encoder + decoder + (11_055 + 11_239) * 256 + 256 * 11_239 + 11_239
    assert round(translation / 1e6, 2) == 19.66
    xl = 50_257 * 1600 + 1024 * 1600 + 48 * (_layer(1600, 6400) + 4 * 1600) + 2 * 1600
    assert round(xl / 1e6, 2) == 1557.61
    music = 390 * 512 + 2048 * 512 + 6 * (_layer(512, 2048) + 4 * 512) + 2 * 512
    assert round(music / 1e6, 2) == 20.16
