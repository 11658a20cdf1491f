"""Reasons and repairs in words, where people read them."""

from __future__ import annotations

from pathlib import Path

from musicgen.corpus.words import reason_words, told_changed, told_changes, told_reasons

ROOT = Path(__file__).resolve().parents[2]


def test_what_has_the_same_words_is_counted_together():
    counts = {"midi-too-long": 1, "absurd-length": 2, "duplicate": 1, "not-midi": 1}
    assert told_reasons(counts) == "too long (3), the same file again (1), no MIDI file (1)"


def test_repairs_are_told_once():
    assert told_changes(("drums-left-out", "tempo", "track-count")) == (
        "without drums, with small repairs"
    )
    assert told_changed({"tempo": 2, "read-as-piano": 1, "track-count": 1}) == (
        "with small repairs (3), other instruments as piano (1)"
    )


def test_every_documented_reason_has_words():
    """Guards a code among words: "drums-left-out 1"."""
    rows = [
        line
        for line in (ROOT / "docs" / "corpus.md").read_text(encoding="utf-8").splitlines()
        if line[:3] == "| `"
    ]
    codes = [code for row in rows for code in row.split("|")[1].split("`")[1::2]]
    assert len(codes) > 10
    assert [code for code in codes if reason_words(code) == "left out"] == []
