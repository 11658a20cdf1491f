"""What the filters apply to."""

from __future__ import annotations

import pytest

from musicgen.generation import SamplingSettings

NAMES = ("gap", "pitch", "velocity", "length")


def top_p(settings: SamplingSettings, names: tuple[str, ...] = NAMES) -> list[float]:
    return [each.top_p for each in settings.resolve(names)]


@pytest.mark.parametrize("asked", [0.0, 0.9, 1.0])
def test_a_nucleus_that_is_asked_for_is_one_of_every_attribute(asked):
    """Guards the command line's contract: --top-p acts on all attributes, not on pitches alone."""
    assert top_p(SamplingSettings(top_p=asked)) == [asked] * 4


def test_by_default_scales_have_no_nucleus():
    """Guards dry music: of 323 narrow lengths a nucleus of 95% kept the short ones."""
    assert top_p(SamplingSettings()) == [1.0, 0.95, 1.0, 1.0]
    assert top_p(SamplingSettings(), ("token",)) == [0.95]


def test_one_attribute_may_differ():
    settings = SamplingSettings(per_attribute={"length": {"top_p": 0.8}})
    assert top_p(settings) == [1.0, 0.95, 1.0, 0.8]
