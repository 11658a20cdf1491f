"""What the filters apply to."""

from __future__ import annotations

from musicgen.generation import SamplingSettings

NAMES = ("gap", "pitch", "velocity", "length")


def test_a_nucleus_leaves_scales_alone():
    """Guards dry music: of 323 narrow lengths a nucleus of 95% kept the short ones."""
    top_p = [each.top_p for each in SamplingSettings(top_p=0.9).resolve(NAMES)]
    assert top_p == [1.0, 0.9, 1.0, 1.0]


def test_a_nucleus_of_nothing_takes_the_likeliest_everywhere():
    assert [each.top_p for each in SamplingSettings(top_p=0.0).resolve(NAMES)] == [0.0] * 4


def test_a_scale_has_a_nucleus_where_one_asks_for_it():
    settings = SamplingSettings(per_attribute={"length": {"top_p": 0.8}})
    assert [each.top_p for each in settings.resolve(NAMES)] == [1.0, 0.95, 1.0, 0.8]
    assert [each.top_p for each in SamplingSettings().resolve(("token",))] == [0.95]
