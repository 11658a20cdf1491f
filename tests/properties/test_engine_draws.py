"""The compiled filters choose what the reference chooses."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from musicgen.engine import compiled
from musicgen.engine.draws import NO_NUMBER, NOTHING_ALLOWED
from musicgen.engine.filters import choose, filtered_probabilities

SCORES = st.one_of(
    arrays(np.float32, st.integers(1, 40), elements=st.floats(-30, 30, width=32)),
    # many equal ones: of equals the first is the better
    arrays(np.float32, st.integers(1, 40), elements=st.sampled_from([-1.0, 0.0, 0.5, 2.0])),
    arrays(np.float32, st.integers(1, 40), elements=st.floats(-1e4, 1e4, width=32)),
)
FILTERS = st.builds(
    SimpleNamespace,
    temperature=st.sampled_from([0.0, 1e-45, 1e-30, 1e-4, 0.7, 1.0, 1.3, 100.0]),
    top_k=st.sampled_from([0, 1, 3, 7, 1000]),
    top_p=st.sampled_from([0.0, 1e-4, 0.5, 0.93, 0.98, 1.0]),
    min_p=st.sampled_from([0.0, 1e-4, 0.013, 0.1, 1.0]),
)


def compiled_choice(logits, allowed, filters, uniform):
    values = np.array([filters.temperature, filters.top_k, filters.top_p, filters.min_p])
    size = len(logits) + 3  # there may be more room than ids
    room = np.full(size, np.nan, np.float32), np.full(size, np.nan), np.full(size, -7, np.int64)
    return compiled.draw()(logits, allowed, values.astype(np.float64), uniform, *room)


@settings(max_examples=600, deadline=None)
@given(scores=SCORES, filters=FILTERS, data=st.data())
def test_the_same_choice(scores, filters, data):
    allowed = data.draw(arrays(bool, len(scores)))
    allowed[data.draw(st.integers(0, len(scores) - 1))] = True
    uniform = data.draw(st.floats(0, 1, exclude_max=True))
    chances = filtered_probabilities(scores, allowed, filters)
    chosen = compiled_choice(scores, allowed, filters, uniform)
    if chosen != choose(chances, uniform):
        # Only where the uniform number falls on the border between two, to the last digit.
        borders = np.cumsum(chances)
        assert chances[chosen] > 0
        assert np.abs(borders - uniform).min() < 1e-12


@pytest.mark.parametrize("n_alike", range(2, 41))
def test_a_sum_that_is_just_reached_is_reached_in_any_order(n_alike):
    """Guards engines that part ways: half of 24 equal chances is 0.5, or a hair below it."""
    scores, allowed = np.zeros(n_alike, np.float32), np.ones(n_alike, bool)
    for n_kept in range(1, n_alike):
        share = n_kept / n_alike
        filters = SimpleNamespace(temperature=1.0, top_k=0, top_p=share, min_p=0.0)
        assert np.count_nonzero(filtered_probabilities(scores, allowed, filters)) == n_kept
        assert compiled_choice(scores, allowed, filters, 1 - 1e-12) == n_kept - 1


def test_real_sizes_choose_alike():
    generator = np.random.default_rng(0)
    filters = SimpleNamespace(temperature=0.9, top_k=0, top_p=0.95, min_p=0.0)
    for _ in range(2000):
        logits = generator.normal(0, 3, 218).astype(np.float32)
        allowed = generator.random(218) < 0.9
        uniform = generator.random()
        chances = filtered_probabilities(logits, allowed, filters)
        assert compiled_choice(logits, allowed, filters, uniform) == choose(chances, uniform)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_told(bad):
    logits = np.zeros(5, np.float32)
    logits[3] = bad
    filters = SimpleNamespace(temperature=1.0, top_k=0, top_p=0.9, min_p=0.0)
    assert compiled_choice(logits, np.ones(5, bool), filters, 0.5) == NO_NUMBER
    logits[3] = 0.0
    assert compiled_choice(logits, np.zeros(5, bool), filters, 0.5) == NOTHING_ALLOWED


@pytest.mark.parametrize("step", [-0.01, 0.0, 0.01])
@pytest.mark.parametrize("top_k", [0, 1, 600])
def test_scores_in_order_are_parted_like_any_others(step, top_k):
    """Guards the selection of the best: orders in which a pivot's place may lose an id or turn."""
    scores, allowed = np.float32(step) * np.arange(1000, dtype=np.float32), np.ones(1000, bool)
    for top_p in (0.0, 0.3, 0.95, 1.0):
        filters = SimpleNamespace(temperature=1.0, top_k=top_k, top_p=top_p, min_p=0.0)
        chances = filtered_probabilities(scores, allowed, filters)
        for uniform in (0.0, 0.40037, 1 - 1e-9):  # no border between two
            assert compiled_choice(scores, allowed, filters, uniform) == choose(chances, uniform)
