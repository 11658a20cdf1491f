"""Bars: drawn for whatever counts there are, refused for what are none."""

from __future__ import annotations

import numpy as np
import pytest

from musicgen.figures import bars_png


@pytest.mark.parametrize("counts", [[0], [5], [0, 0, 3], np.arange(128), [1e9, 1], [0.25, 0.5]])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_any_counts_make_a_picture(counts, theme):
    """Guards a division by nothing where all counts are 0."""
    labels = [(place + 0.5, f"bar {place}") for place in range(len(counts))]
    png = bars_png(counts, labels, title="t", x_label="x", y_label="y", theme=theme)
    assert png.startswith(b"\x89PNG")
    assert png == bars_png(counts, labels, title="t", x_label="x", y_label="y", theme=theme)


@pytest.mark.parametrize("counts", [[], [-1], [np.nan], [[1, 2]]])
def test_what_are_no_counts_is_refused(counts):
    with pytest.raises(ValueError, match="bars need"):
        bars_png(counts, [])
