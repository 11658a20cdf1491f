"""What a take says of itself: nothing that was mended stays unsaid."""

from __future__ import annotations

import pytest

from musicgen.pipeline.report import event_warnings, length_warnings


@pytest.mark.parametrize(
    ("repairs", "words"),
    [
        ((), []),
        ((("struck-again", 1),), ["One note ends earlier"]),
        ((("struck-again", 46),), ["46 notes end earlier"]),
        ((("after-end", 2), ("struck-again", 3)), ["3 notes end earlier", "mended: 2 after-end"]),
    ],
)
def test_every_repair_is_said(repairs: tuple[tuple[str, int], ...], words: list[str]) -> None:
    """Guards: hundreds counted in `repairs` with not a word in `warnings`."""
    sentences = event_warnings(repairs)
    assert len(sentences) == len(words)
    for sentence, expected in zip(sentences, words, strict=True):
        assert expected in sentence


@pytest.mark.parametrize(
    ("reason", "wanted_s", "new_s", "rings_s", "words"),
    [
        ("length", 10.0, 10.4, 0.0, []),
        ("length", 10.0, 9.6, 10.4, []),
        ("length", 10.0, 9.4, 0.0, ["ends after 9.4 s of the 10 s"]),
        ("length", 10.0, 10.6, 0.0, ["ends after 10.6 s of the 10 s"]),
        ("end", 10.0, 9.7, 0.0, []),
        ("end", 10.0, 4.0, 0.0, ["ended the piece by itself after 4.0 s of the 10 s"]),
        ("end", None, 4.0, 90.0, []),
        ("stopped", 10.0, 4.0, 0.0, []),
        ("stopped", 10.0, 4.0, 12.0, ["sounds until 12.0 s after the cut"]),
        ("event_limit", 10.0, 4.0, 0.0, ["stopped after 4.0 s of the 10 s"]),
        ("event_limit", None, 4.0, 0.0, ["stopped after 4.0 s."]),
        ("length", 2.0, 2.0, 3.1, ["sounds until 3.1 s after the cut, longer than the 2 s"]),
        ("end", 2.0, 1.0, 3.1, ["by itself after 1.0 s", "sounds until 3.1 s"]),
    ],
)
def test_a_length_that_is_not_met_is_said(reason, wanted_s, new_s, rings_s, words) -> None:
    """Guards: takes more than 5% too short or too long, with no word on why."""
    sentences = length_warnings(reason, wanted_s=wanted_s, new_s=new_s, prompt_rings_s=rings_s)
    assert len(sentences) == len(words)
    for sentence, expected in zip(sentences, words, strict=True):
        assert expected in sentence
