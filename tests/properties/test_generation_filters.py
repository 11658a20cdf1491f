"""Whatever the scores and settings, a filter leaves at least the best, and a draw is legal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from musicgen.engine.filters import (
    apply_min_p,
    apply_temperature,
    apply_top_k,
    apply_top_p,
    checked_logits,
    choose,
    filtered_probabilities,
    probabilities,
)
from musicgen.errors import ConfigError, GenerationError
from musicgen.generation.settings import AttributeSettings, SamplingSettings

SCORES = arrays(
    np.float32, st.integers(1, 40), elements=st.floats(-1e4, 1e4, width=32, allow_subnormal=True)
)
TEMPERATURES = st.sampled_from([0.0, 1e-45, 1e-30, 1e-6, 1e-4, 0.7, 1.0, 100.0])
TOP_P = st.sampled_from([0.0, 1e-4, 0.5, 0.95, 1.0])
TOP_K = st.sampled_from([0, 1, 3, 1000])
MIN_P = st.sampled_from([0.0, 1e-4, 0.1, 1.0])


@st.composite
def cases(draw):
    logits = draw(SCORES)
    allowed = draw(arrays(bool, len(logits)))
    allowed[draw(st.integers(0, len(logits) - 1))] = True
    settings = AttributeSettings(
        temperature=draw(TEMPERATURES),
        top_p=draw(TOP_P),
        top_k=draw(TOP_K),
        min_p=draw(MIN_P),
    )
    return logits, allowed, settings


@given(cases(), st.floats(0, 1, exclude_max=True))
def test_a_draw_is_always_possible_finite_and_legal(case, uniform):
    # vllm #1623 (inf/nan at tiny temperature or top_p), speechturn #14 (an empty set)
    logits, allowed, settings = case
    chances = filtered_probabilities(logits, allowed, settings)
    assert np.isfinite(chances).all()
    assert chances.sum() == pytest.approx(1)
    assert not chances[~allowed].any()
    assert allowed[choose(chances, uniform)]
    best = np.where(allowed, logits, -np.inf)
    assert chances[np.argmax(best)] == chances.max()


@given(cases())
def test_greedy_is_the_limit_of_cold(case):
    logits, allowed, _ = case
    best = int(np.argmax(np.where(allowed, logits, -np.inf)))
    cold = filtered_probabilities(logits, allowed, AttributeSettings(temperature=0.0))
    assert cold[best] == 1.0
    for narrow in ({"top_k": 1}, {"top_p": 0.0}):
        assert filtered_probabilities(logits, allowed, AttributeSettings(**narrow))[best] == 1.0


@given(SCORES, TOP_K, TOP_P, MIN_P)
def test_filters_keep_the_best_and_change_no_score(logits, top_k, top_p, min_p):
    for filtered in (
        apply_top_k(logits, top_k),
        apply_top_p(logits, top_p),
        apply_min_p(logits, min_p),
    ):
        kept = np.isfinite(filtered)
        assert kept.any()
        assert (filtered[kept] == logits[kept]).all()
        assert logits[kept].min() >= logits[~kept].max(initial=-np.inf)
    if top_k:
        assert np.isfinite(apply_top_k(logits, top_k)).sum() == min(top_k, len(logits))


@given(SCORES, st.floats(0.01, 0.99))
def test_top_p_keeps_the_fewest_that_reach_it(logits, top_p):
    kept = np.isfinite(apply_top_p(logits, top_p))
    chances = np.sort(probabilities(logits)[kept])[::-1]
    assert chances.sum() >= top_p - 1e-9
    assert chances[:-1].sum() < top_p + 1e-9


@given(st.floats(0, 1, exclude_max=True), arrays(np.float64, 8, elements=st.floats(0, 1)))
def test_choose_follows_the_running_sum(uniform, weights):
    weights[3] += 0.1
    chances = weights / weights.sum()
    chosen = choose(chances, uniform)
    assert chances[chosen] > 0
    running = np.concatenate(([0.0], np.cumsum(chances)))
    assert running[chosen] - 1e-12 <= uniform <= running[chosen + 1] + 1e-12


def test_choose_never_takes_what_has_no_chance_at_the_ends():
    chances = np.array([0.0, 0.5, 0.5, 0.0])
    assert choose(chances, 0.0) == 1
    assert choose(chances, np.nextafter(1.0, 0.0)) == 2


def test_temperature_flattens_and_sharpens():
    logits = np.array([0.0, 1.0, 2.0], dtype=np.float32)
    hot = probabilities(apply_temperature(logits, 100.0))
    assert hot == pytest.approx([1 / 3] * 3, abs=0.01)
    assert probabilities(apply_temperature(logits, 0.5))[2] == pytest.approx(0.8668, abs=1e-4)


def test_of_equal_scores_greedy_takes_the_first():
    chances = filtered_probabilities(
        np.zeros(5, np.float32), np.ones(5, bool), AttributeSettings(temperature=0.0)
    )
    assert choose(chances, 0.99) == 0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_refused(bad):
    # nari-labs/dia #251: NaN logits reach the sampler
    with pytest.raises(GenerationError, match="The model gave no numbers") as caught:
        checked_logits(np.array([0.0, bad], dtype=np.float32))
    assert caught.value.code == "no-numbers"
    assert caught.value.hint


def test_nothing_allowed_is_a_programmers_error():
    with pytest.raises(ValueError, match="at least one"):
        filtered_probabilities(np.zeros(3, np.float32), np.zeros(3, bool), AttributeSettings())


@pytest.mark.parametrize(
    "bad",
    [
        {"temperature": -0.1},
        {"temperature": float("nan")},
        {"temperature": 101},
        {"temperature": "warm"},
        {"top_p": 1.5},
        {"top_k": -1},
        {"top_k": 2.5},
        {"top_k": True},
        {"min_p": 2},
        {"per_attribute": {"pitch": {"temperature": -1}}},
        {"per_attribute": {"pitch": {"heat": 1}}},
    ],
)
def test_settings_out_of_range_are_a_sentence(bad):
    with pytest.raises(ConfigError) as caught:
        SamplingSettings(**bad)
    assert caught.value.hint


def test_settings_by_attribute():
    settings = SamplingSettings(top_p=0.9, per_attribute={"velocity": {"temperature": 0.5}})
    pitch, velocity = settings.resolve(("pitch", "velocity"))
    assert (pitch.temperature, pitch.top_p) == (1.0, 0.9)
    assert (velocity.temperature, velocity.top_p) == (0.5, 0.9)
    with pytest.raises(ConfigError, match="'velocity'"):
        settings.resolve(("token",))
