"""What a take says of itself: nothing that was mended stays unsaid."""

from __future__ import annotations

import pytest

from musicgen.pipeline.report import event_warnings


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
