"""Several heads as one, and events bar by bar, against sums done by hand."""

from __future__ import annotations

import numpy as np
import pytest

from musicgen.inspection import combine_heads, group_events, mean_by_group

HEADS = np.array([[[1.0, 0], [0.25, 0.75]], [[1, 0], [0.75, 0.25]], [[1, 0], [0, 1]]], np.float16)


def test_heads_as_one():
    assert combine_heads(HEADS, [0, 1]).tolist() == [[1, 0], [0.5, 0.5]]
    assert combine_heads(HEADS, [2, 0], "max").tolist() == [[1, 0], [0.25, 1]]
    assert combine_heads(HEADS, [1]).tolist() == HEADS[1].tolist()
    assert HEADS[0].tolist() == [[1.0, 0], [0.25, 0.75]]  # Guards: the map itself is added to.


@pytest.mark.parametrize(("heads", "how"), [([], "mean"), ([0], "median")])
def test_what_is_no_choice_of_heads(heads, how):
    with pytest.raises(ValueError, match="choose"):
        combine_heads(HEADS, heads, how)


def test_events_lie_in_the_bar_of_the_last_note():
    onset = [np.nan, 0.2, np.nan, 1.995, 2.5, np.nan, 6.1]
    assert group_events(onset, [0.0, 2.0, 4.0, 6.0]).tolist() == [0, 0, 0, 1, 1, 1, 3]


def test_a_bar_s_attention_is_the_mean_of_its_events():
    weights = [[1, 0, 0], [0.5, 0.5, 0], [0.2, 0.4, 0.4]]
    found = mean_by_group(weights, [0, 0, 2])
    assert found == pytest.approx(np.array([[1, 0], [0.6, 0.4]]), abs=1e-6)
    assert found.sum(axis=1) == pytest.approx(1)
