"""What the page says of times and names."""

from __future__ import annotations

import pytest

from musicgen.ui import strings
from musicgen.ui.pieces import from_upload


@pytest.mark.parametrize(
    ("seconds", "said"), [(0, "0:00"), (29.4, "0:29"), (29.9, "0:30"), (59.7, "1:00"), (-1, "0:00")]
)
def test_a_time_is_rounded_to_the_nearest_second(seconds, said):
    """Guards: 0:29 below a piece that its button calls 0:30."""
    assert strings.clock(seconds) == said


def test_tracks_without_a_name_are_called_by_their_instrument(band):
    """Guards: a legend that says "Your music" six times."""
    names = from_upload(band, name="band.mid").on_roll()["tracks"]
    assert sorted(names) == sorted(
        [
            "<b>Lead</b>",
            "Celesta",
            "Bass",
            "Nylon Guitar",
            "Acoustic Bass",
            "Violin",
            "String Ensemble 1",
            "Kit",
        ]
    )
