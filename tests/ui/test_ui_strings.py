"""What the page says of times and names."""

from __future__ import annotations

import pytest

from musicgen.figures import DARK, LIGHT, css
from musicgen.midi import PART_NAME, TrackFacts
from musicgen.ui import roll_strings, strings, take_strings
from musicgen.ui.components import roll, versus
from musicgen.ui.parts import part_names
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


def tracks(*names):
    return [TrackFacts(name=name, program=0, is_drum=False, notes=1) for name in names]


@pytest.mark.parametrize(
    ("names", "new_track", "before", "said"),
    [
        (["piano"], None, None, ["New music"]),
        ([], 0, None, ["New music"]),
        (["piano"], -1, None, ["Your music"]),
        (["piano", PART_NAME], 1, None, ["Your music", "New music"]),
        (["piano", PART_NAME], 1, "Take 1", ["Take 1", "New music"]),
        (
            ["piano", PART_NAME, PART_NAME],
            2,
            "Take 1",
            ["Take 1", "Continuation 1", "Continuation 2 (new)"],
        ),
        (  # the second one is still to come
            ["piano", PART_NAME],
            2,
            "Take 1",
            ["Take 1", "Continuation 1", "Continuation 2 (new)"],
        ),
        (["piano", PART_NAME], -1, None, ["Your music", "Continuation 1"]),
        (
            ["Lead", "Lead", "", PART_NAME],
            3,
            None,
            ["Lead 1", "Lead 2", "Acoustic Grand Piano", "New music"],
        ),
    ],
)
def test_the_parts_of_a_piece_are_told_apart(names, new_track, before, said):
    """Guards: "musicgen" twice in the legend of a take that was gone on from two times."""
    found = part_names(tracks(*names), new_track=new_track, before=before)
    assert found == said
    assert len(set(found)) == len(found)


def test_a_take_says_in_what_time_it_was_made():
    """Guards: "1668 notes a second" under a piece, which looks like its tempo."""
    facts = {"notes": 500, "seconds": 30.0, "seed": 1, "model": "piano"}
    assert strings.take_facts(**facts, made_s=0.3).endswith("· made in 0.3 s")
    assert strings.take_facts(**facts, made_s=12.4).endswith("· made in 12 s")
    assert strings.take_facts(**facts, made_s=None).endswith("model piano")


@pytest.mark.parametrize(
    ("megabytes", "said"), [(0.0, "0 KB of 32 MB"), (0.05, "51 KB of"), (0.1, "0.1 of 32 MB")]
)
def test_little_is_said_in_kilobytes(megabytes, said):
    """Guards: "0.0 of 32 MB" of a take that is kept."""
    assert said in take_strings.kept(count=1, megabytes=megabytes, most=64, most_megabytes=32)


def test_habits_say_when_they_are_measured():
    """Guards: a note that looks at itself, beside "when notes were written"."""
    for name in ("habits", "habitsHelp"):
        assert "right after each note" in roll_strings.ROLL[name]


def test_colours_of_music_have_one_owner():
    """Guards: pictures of the command line in other colours than the studio's."""
    for css_text, root in ((roll._CSS, ".mg"), (versus._CSS, ".mg-versus")):
        assert f"{root} {{ --new: {css(LIGHT.new)}; }}" in css_text
        assert f"{root}[data-dark] {{ --new: {css(DARK.new)}; }}" in css_text
        assert css_text.count("--new:") == 2
    for theme in (LIGHT, DARK):
        for colours in (theme.tracks, theme.heads):
            assert f'["{css(colours[0])}", "{css(colours[1])}"' in roll._JS


def test_what_the_roll_says_has_one_owner():
    """Guards: "the start" on the button "To the start": a word of the map that came over it."""
    owners = (strings.ROLL, roll_strings.ROLL, strings.VOLUME, take_strings.HERE)
    names = [name for said in owners for name in said]
    assert len(set(names)) == len(names)
    assert take_strings.VERSUS["start"] == strings.ROLL["toStart"]
