"""Attention taken apart: the printed figures, the model's own numbers, and what a mask is worth."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from musicgen.errors import ConfigError
from musicgen.lesson import (
    largest_terms,
    layer_lesson,
    leak_trial,
    next_event_bits,
    printed_lesson,
    sentence_lesson,
    split_sentence,
    words_in,
)
from musicgen.lesson.sentence import MAX_TOKENS
from musicgen.model import AttentionRecord, Decoder
from musicgen.tokens import get_tokenizer
from small_models import small_config

PRINTED_SCORES = [
    [0.2334, 0.1385, -0.1305, 0.2664],
    [0.2916, 0.1044, 0.0095, 0.0993],
    [0.8250, 0.2454, 0.0214, 0.8667],
    [-0.1557, 0.2034, 0.2172, -0.2740],
]
PRINTED_WEIGHTS = [
    [1.0, 0.0, 0.0, 0.0],
    [0.5467, 0.4533, 0.0, 0.0],
    [0.4980, 0.2790, 0.2230, 0.0],
    [0.2095, 0.3001, 0.3042, 0.1862],
]


@pytest.fixture(scope="module")
def music() -> tuple[Decoder, np.ndarray]:
    """A small model whose branches are not zero, and five events."""
    decoder = Decoder(small_config(d_model=32, n_heads=4, d_ff=64, d_head_ff=64))
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for name, parameter in decoder.named_parameters():
            if name.endswith(("to_out.weight", "down.weight", "_norm.weight")):
                parameter.normal_(0.5, 0.3, generator=generator)
    ids = np.array([[1, 1, 1, 1], [4, 63, 19, 50], [9, 67, 20, 60], [30, 63, 19, 50], [5, 3, 3, 3]])
    return decoder.eval(), ids


def test_the_four_tokens_give_the_printed_figures():
    """Exactly as printed: rounded to four decimals, nothing is left to a tolerance."""
    lesson = printed_lesson()
    assert lesson.x.shape == (4, 1600)
    assert lesson.q.shape == lesson.k.shape == lesson.v.shape == (25, 4, 64)
    assert lesson.joined.shape == (4, 1600)
    assert (lesson.scores[0].round(4) == np.float32(PRINTED_SCORES)).all()
    assert (lesson.weights[0].round(4) == np.float32(PRINTED_WEIGHTS)).all()


def test_the_printed_lesson_leaves_the_worlds_random_numbers_alone():
    before = torch.get_rng_state()
    printed_lesson()
    assert torch.equal(torch.get_rng_state(), before)


def test_without_the_mask_the_future_leaks():
    masked, open_ = printed_lesson(), printed_lesson(causal=False)
    assert (masked.leaked() == 0).all()
    assert (open_.leaked()[:, :-1] > 0).all()
    np.testing.assert_allclose(open_.leaked()[:, -1], 0)  # nothing comes after the last
    np.testing.assert_allclose(open_.weights.sum(-1), 1, rtol=1e-5)
    np.testing.assert_array_equal(masked.scores, open_.scores)


def test_the_steps_of_a_sentence_follow_from_each_other():
    lesson = sentence_lesson("How are you?", d_model=256, n_heads=8)
    assert lesson.tokens == ("how", "are", "you", "?")
    assert lesson.x.shape == (4, 256)
    assert lesson.q.shape == (8, 4, 32)
    assert lesson.weights.shape == (8, 4, 4)
    parts = lesson.parts
    np.testing.assert_allclose(lesson.x, 16 * parts["embedding"] + parts["position"], rtol=1e-5)
    np.testing.assert_allclose(parts["position"][0, :4], [0, 1, 0, 1])
    q = (lesson.x @ lesson.matrices["q"]).reshape(4, 8, 32).transpose(1, 0, 2)
    np.testing.assert_allclose(lesson.q, q, atol=1e-5)
    scores = lesson.q @ lesson.k.transpose(0, 2, 1) / math.sqrt(32)
    np.testing.assert_allclose(lesson.scores, scores, atol=1e-5)
    np.testing.assert_allclose(lesson.gathered, lesson.weights @ lesson.v, atol=1e-5)
    joined = lesson.gathered.transpose(1, 0, 2).reshape(4, 256)
    np.testing.assert_array_equal(lesson.joined, joined)
    np.testing.assert_allclose(lesson.out, joined @ lesson.matrices["out"], atol=1e-5)


def test_a_word_is_one_embedding_wherever_it_stands():
    embedding = sentence_lesson("the cat saw the dog").parts["embedding"]
    np.testing.assert_array_equal(embedding[0], embedding[3])
    assert (embedding[0] != embedding[1]).all()
    assert (sentence_lesson("the", seed=1).parts["embedding"][0] != embedding[0]).all()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("How are you?", ("how", "are", "you", "?")),
        ("l'été\x00\u202e 3x", ("l", "'", "été", "3x")),
        ("<img src=x>", ("<", "img", "src", "=", "x", ">")),
        ("नमस्ते", ("नमस्ते",)),
        (" \u0301 ", ()),
        ("word " * 50, ("word",) * MAX_TOKENS),
        ("a" * 5000, ("a" * 80,)),
    ],
)
def test_a_sentence_is_split_into_words_and_marks(text, tokens):
    assert split_sentence(text) == tokens


def test_the_words_of_a_sentence_that_is_cut_are_counted():
    """Guards: a long sentence that lost its end without a word."""
    assert words_in("one two, three " * 4) == 16
    assert len(split_sentence("one two, three " * 4)) == MAX_TOKENS == 12


@pytest.mark.parametrize("causal", [True, False])
def test_some_tokens_of_a_lesson_keep_the_numbers_of_all(music, causal):
    """Guards: numbers of an excerpt that are not those of the piece, and sums that lose a part."""
    decoder, ids = music
    whole = layer_lesson(decoder, get_tokenizer("piano"), ids, layer=1, causal=causal)
    some = whole.only([0, 2, 3])
    assert some.places == (0, 2, 3)
    assert some.tokens == tuple(whole.tokens[place] for place in some.places)
    at = list(some.places)
    np.testing.assert_array_equal(some.weights, whole.weights[:, at][:, :, at])
    np.testing.assert_array_equal(some.turned.cos, whole.turned.cos[at])
    others = some.others
    assert others.count == len(ids) - 3
    np.testing.assert_allclose(some.weights.sum(-1) + others.weights, 1, atol=1e-6)
    np.testing.assert_allclose(some.weights @ some.v + others.gathered, some.gathered, atol=1e-5)
    seen = np.tril(np.ones((3, 3))) if causal else np.ones((3, 3))
    sums = (np.exp(some.scores.astype(float)) * seen).sum(-1) + others.powers
    np.testing.assert_allclose(
        np.exp(some.scores[:, 2, 2]) / sums[:, 2], some.weights[:, 2, 2], 1e-5
    )
    np.testing.assert_allclose(some.leaked(), whole.leaked()[:, at], atol=1e-6)


def test_what_the_docs_say_of_the_printed_example_is_what_the_lab_says(root):
    """Guards: 2.4486 in docs/attention.md, a sum of rounded numbers, beside 2.4485 in the lab."""
    scores = printed_lesson().scores[0, 1, :2].astype(np.float64)
    powers = np.exp(scores)
    text = (root / "docs" / "attention.md").read_text(encoding="utf-8")
    by_hand = text.split("The second row by hand")[1].split("\n")[0]
    for name, value in zip(scores, powers, strict=True):
        assert f"e^{name:.4f} = {value:.4f}" in by_hand
    total = f"{powers.sum():.4f}"
    assert f"their sum is {total}" in by_hand
    assert f"{powers[0]:.4f} ÷ {total} = {powers[0] / powers.sum():.4f}" in by_hand


@pytest.mark.parametrize("text", ["", "   ", "\n\x07"])
def test_a_sentence_without_a_word_is_refused(text):
    with pytest.raises(ConfigError, match="no word"):
        sentence_lesson(text)


def test_heads_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="does not split"):
        sentence_lesson("one", d_model=16, n_heads=3)


@pytest.mark.parametrize("layer", [0, 1])
def test_a_layer_of_a_model_shows_the_models_own_weights(music, layer):
    """Guards: a lesson beside the model, right in itself and not what the model does."""
    decoder, ids = music
    record = AttentionRecord()
    with torch.inference_mode():
        decoder.trunk(torch.as_tensor(ids)[None], record=record)
    lesson = layer_lesson(decoder, get_tokenizer("piano"), ids, layer=layer)
    np.testing.assert_allclose(lesson.weights, record.weights[layer][0].numpy(), atol=1e-6)
    assert lesson.tokens[0] == "start"
    assert lesson.tokens[1] == lesson.tokens[3]
    stream, gain = lesson.parts["stream"], lesson.parts["gain"]
    rms = np.sqrt((stream**2).mean(-1, keepdims=True) + 1e-6)
    np.testing.assert_allclose(lesson.x, stream / rms * gain, atol=1e-5)
    turned, half = lesson.turned, lesson.d_head // 2
    first, second = turned.q_normed[..., :half], turned.q_normed[..., half:]
    np.testing.assert_allclose(
        lesson.q[..., :half], first * turned.cos - second * turned.sin, atol=1e-5
    )


def test_bits_with_the_mask_are_the_models_and_without_it_others(music):
    decoder, ids = music
    with torch.inference_mode():
        logits = decoder(torch.as_tensor(ids)[None])
    bits = [
        -math.log2(math.e) * float(logits[k][0].log_softmax(-1)[t, ids[t + 1, k]])
        for t in range(len(ids) - 1)
        for k in range(4)
    ]
    masked = next_event_bits(decoder, ids)
    assert masked == pytest.approx(sum(bits) / (len(ids) - 1), rel=1e-5)
    assert next_event_bits(decoder, ids, causal=False) != pytest.approx(masked, rel=1e-4)


def test_a_layer_that_there_is_not(music):
    decoder, ids = music
    with pytest.raises(IndexError, match="layer 2"):
        layer_lesson(decoder, get_tokenizer("piano"), ids, layer=2)
    with pytest.raises(ValueError, match="after the first"):
        next_event_bits(decoder, ids[:1])


@pytest.mark.parametrize(("n", "named"), [(4, 4), (7, 7), (8, 6), (64, 6)])
def test_the_terms_of_a_number_sum_to_it(n, named):
    generator = np.random.default_rng(n)
    left, right = generator.normal(size=n), generator.normal(size=n)
    terms = largest_terms(left, right)
    assert len(terms.index) == named
    assert terms.n_rest == n - named
    assert (np.diff(terms.index) > 0).all()
    assert terms.total == pytest.approx(left @ right)
    others = np.delete(np.abs(left * right), terms.index)
    assert not others.size or others.max() <= np.abs(terms.left * terms.right).min()
    with pytest.raises(ValueError, match="no scalar product"):
        largest_terms(left, right[1:])


def test_a_model_without_a_mask_learns_to_read_the_answer():
    """What docs/attention.md says of dice: 3 bits with the mask, 0 without, lost alone."""
    trial = leak_trial()
    assert trial.masked == pytest.approx(3.0, abs=0.05)
    assert trial.leaking < 0.01
    assert trial.alone == pytest.approx(32, abs=10)
