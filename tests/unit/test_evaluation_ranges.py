"""A piece's figures beside the ranges of the shipped reference."""

from __future__ import annotations

import math

import pytest

from musicgen.evaluation import STATISTICS, load_reference, ranges_of
from musicgen.midi import NoteTable


def music(seconds: float, *, every_s: float = 0.25) -> NoteTable:
    n = int(seconds / every_s)
    return NoteTable.of(
        [i * every_s for i in range(n)],
        [(i + 1) * every_s for i in range(n)],
        [48 + (7 * i) % 36 for i in range(n)],
        [50 + (11 * i) % 40 for i in range(n)],
    )


@pytest.mark.parametrize(
    ("seconds", "excerpt_s", "measured_s"),
    [(10, 30, 10), (29, 30, 29), (45, 30, 30), (58, 60, 58), (500, 120, 120)],
)
def test_the_longest_excerpt_that_is_filled_is_compared(seconds, excerpt_s, measured_s) -> None:
    found = ranges_of(music(seconds))
    assert (found.excerpt_s, found.seconds) == (excerpt_s, measured_s)


def test_figures_stand_beside_their_range() -> None:
    found = ranges_of(music(60))
    spread = load_reference(60.0).statistics
    assert [figure.name for figure in found.figures] == list(STATISTICS)
    for figure in found.figures:
        assert (figure.low, figure.high) == (spread[figure.name].low, spread[figure.name].high)
        assert figure.is_inside == (figure.low <= figure.value <= figure.high)
    by_name = {figure.name: figure for figure in found.figures}
    assert by_name["notes_per_s"].value == pytest.approx(4.0)
    assert by_name["notes_per_s"].is_inside
    assert not by_name["polyphony"].is_inside  # one note at a time is not how pianists play
    assert found.telling == found.figures  # in a minute each of them can be outside
    assert found.share_inside == sum(f.is_inside for f in found.figures) / len(STATISTICS)


def test_a_figure_that_is_usual_whatever_it_is_counts_for_nothing() -> None:
    """Guards: a share of 22 figures where the card of the page listed and counted 21."""
    found = ranges_of(music(30))
    (aside,) = set(found.figures) - set(found.telling)
    assert (aside.name, aside.low, aside.high) == ("key_stability", 0.0, 1.0)
    assert aside.is_inside
    assert found.n_inside == sum(figure.is_inside for figure in found.figures) - 1
    assert found.share_inside == found.n_inside / (len(STATISTICS) - 1)


def test_without_notes_there_are_no_figures_and_no_failure() -> None:
    found = ranges_of(NoteTable.of([], [], [], []))
    undefined = [figure for figure in found.figures if figure.value is None]
    assert undefined
    assert not any(figure.is_inside for figure in undefined)
    assert not any(
        figure.value is not None and math.isnan(figure.value) for figure in found.figures
    )
