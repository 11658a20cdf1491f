"""`musicgen quality`: a card a file, the closest to real music, and bad files that stop nothing."""

from __future__ import annotations

import re
from pathlib import Path

from musicgen.assets import asset_dir
from musicgen.evaluation import heard_notes, ranges_of
from musicgen.midi import read_midi

EXAMPLES = sorted((asset_dir("ui") / "examples").glob("*.mid"))


def test_files_have_their_cards_and_one_is_named(call, small_model, tmp_path: Path) -> None:
    bad = tmp_path / "bad.mid"
    bad.write_text("no music")
    done = call("quality", *EXAMPLES, bad, "--model", small_model)
    assert done.exit_code == 1
    assert done.stdout.count("figures of its first") == len(EXAMPLES)
    assert "is not a MIDI file" in done.stdout
    assert done.stdout.count("no copy index") == len(EXAMPLES)
    assert done.stdout.splitlines()[-1].startswith("closest to real music")
    # The words and units of the studio's card, not names of code.
    assert done.stdout.count("From lowest to highest, semitones") == len(EXAMPLES)
    assert "_" not in re.sub(r"\S*\.mid", "", done.stdout)
    assert max(map(len, done.stdout.splitlines()[1:20])) <= 80


def test_what_is_counted_is_listed_as_on_the_page(call, small_model) -> None:
    """Guards: 22 figures here and 21 on the page, and a line "0% to 100%"."""
    said = call("quality", EXAMPLES[0], "--model", small_model).stdout
    ranges = ranges_of(heard_notes(read_midi(EXAMPLES[0]).score))
    assert len(ranges.telling) == len(ranges.figures) - 1  # else this file shows nothing
    assert f": {ranges.n_inside} of {len(ranges.telling)} figures of its first" in said
    listed = [line for line in said.splitlines() if re.search(r"\d%? to -?\d", line)]
    assert len(listed) == len(ranges.telling)
    assert sum(line.endswith("  outside") for line in listed) == len(listed) - ranges.n_inside
    assert "0% to 100%" not in said


def test_the_card_as_data(call_json, small_model) -> None:
    card = call_json("quality", EXAMPLES[0], "--model", small_model)
    assert card["ok"]
    assert 0 <= card["share_inside"] <= 1
    assert card["copies"] is None
    assert {figure["name"] for figure in card["ranges"]["figures"]} >= {"polyphony", "pitch_range"}
