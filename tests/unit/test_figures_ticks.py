"""Marks of axes."""

from __future__ import annotations

import pytest

from musicgen.figures.ticks import clock, marks, round_step, time_step


@pytest.mark.parametrize(
    ("seconds", "step", "text"),
    [
        (0, 1, "0:00"),
        (59.96, 1, "1:00"),
        (75, 5, "1:15"),
        (3725, 60, "1:02:05"),
        (1.2, 0.2, "0:01.2"),
        (9.9999, 0.1, "0:10.0"),
    ],
)
def test_times_are_written_as_clocks(seconds: float, step: float, text: str) -> None:
    """Guards against 0:60 and 1:75."""
    assert clock(seconds, step) == text


@pytest.mark.parametrize("seconds", [0.5, 3, 30, 600, 7200, 90_000, 10_000_000])
def test_marks_of_time_stay_apart(seconds: float) -> None:
    """Guards against labels that run into each other."""
    step = time_step(seconds, 1500)
    assert step / seconds * 1500 >= 80
    assert len(marks(0, seconds, step)) >= 1


def test_marks_are_round_and_inside() -> None:
    """Guards against marks at 0.30000000000000004 or outside the axis."""
    assert marks(0.1, 0.5, 0.1) == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5])
    assert marks(-1.2, 1.2, 0.5) == [-1.0, -0.5, 0.0, 0.5, 1.0]
    assert [round_step(span, 5) for span in (1, 9, 60, 2300)] == [0.2, 2, 20, 500]
