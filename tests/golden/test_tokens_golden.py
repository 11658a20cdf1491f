"""Ids of a small piece, written down: models that exist were trained on exactly these."""

from __future__ import annotations

from pathlib import Path

import symusic

from musicgen.tokens import get_tokenizer

GOLDEN = [
    [1, 1, 1, 1],
    [203, 3, 3, 3],  # two seconds of silence, and half a second more before ...
    [53, 52, 24, 130],  # ... C3, velocity 80, rings 2.00 s in the pedal
    [3, 64, 20, 28],  # with it C4, 64, 0.25 s (another track, no pedal)
    [28, 68, 22, 28],  # a quarter of a second later E4
    [28, 59, 21, 329],  # G3, until the pedal lets go of C3, too
    [3, 71, 24, 28],
    [28, 68, 22, 103],  # E4 again, a whole second
    [3, 131, 4, 4],  # the highest key as softly and shortly as can be
    [2, 2, 2, 2],
]


def small_piece() -> symusic.Score:
    score = symusic.Score(480)
    score.tempos.append(symusic.Tempo(0, 60))
    score.tempos.append(symusic.Tempo(960, 120))  # at 2 s: from here on 480 ticks are 0.5 s
    right, left = symusic.Track("right", 0, False), symusic.Track("left", 0, False)
    for time, duration, pitch, velocity in [
        (1440, 240, 60, 64),
        (1680, 240, 64, 72),
        (1920, 240, 67, 80),
        (2160, 960, 64, 75),
        (2160, 1, 127, 1),
    ]:
        right.notes.append(symusic.Note(time, duration, pitch, velocity))
    left.notes.append(symusic.Note(1440, 480, 48, 80))
    left.notes.append(symusic.Note(1920, 100, 55, 70))
    left.controls.append(symusic.ControlChange(1500, 64, 100))
    left.controls.append(symusic.ControlChange(3360, 64, 0))
    score.tracks.append(right)
    score.tracks.append(left)
    return score


def test_the_ids_of_a_small_piece():
    piano = get_tokenizer("piano")
    ids = piano.encode(small_piece())
    assert ids.tolist() == GOLDEN
    assert ids.dtype == "int64"
    assert piano.encode(piano.decode(ids)).tolist() == GOLDEN


def test_the_page_shows_these_ids_in_these_words():
    page = (Path(__file__).parents[2] / "docs" / "tokens.md").read_text(encoding="utf-8")
    piano = get_tokenizer("piano")
    for event in GOLDEN:
        ids = " ".join(f"{number:3d}" for number in event)
        assert f"{ids}    {piano.describe(tuple(event))}\n" in page
