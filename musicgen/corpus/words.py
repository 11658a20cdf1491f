"""The codes of reasons and repairs as words: what people read where programs read codes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

REASONS: Final = {
    "kept": "kept",
    "duplicate": "the same file again",
    "near-duplicate": "the same music again",
    "other-file": "no MIDI file",
    "not-midi": "no MIDI file",
    "web-page": "a web page",
    "midi-corrupt": "damaged",
    "midi-unreadable": "cannot be read",
    "midi-truncated": "cut off",
    "midi-header": "damaged at its head",
    "midi-type": "an unknown kind of MIDI",
    "midi-division": "no usable unit of time",
    "midi-tempo": "no usable tempo",
    "midi-too-large": "too large",
    "midi-too-long": "too long",
    "absurd-length": "too long",
    "no-notes": "no notes",
    "drums-only": "drums alone",
    "too-short": "too short",
    "silence": "mostly silence",
    "too-dense": "too dense",
    "unreadable-folder": "a folder that cannot be read",
    "bad-archive": "a zip that cannot be read",
}
"""Why a file is left out, and what is said of one that is not."""

CHANGES: Final = {
    "drums-left-out": "without drums",
    "read-as-piano": "other instruments as piano",
    "truncated": "up to where the file breaks off",
    "unended-notes": "with ends for notes that had none",
}
"""With what changes a file is read; others are small repairs (`docs/midi.md`)."""

_REPAIRED: Final = "with small repairs"
_OUT: Final = "left out"


def reason_words(code: str) -> str:
    """Return what a reason is called."""
    return REASONS.get(code, _OUT)


def told_reasons(counts: Mapping[str, int]) -> str:
    """Return how many files each reason cost: "damaged (2), too short (1)".

    Args:
        counts: Files by code; two codes may have the same words.
    """
    told: Counter[str] = Counter()
    for code, number in counts.items():
        told[reason_words(code)] += number
    return ", ".join(f"{words} ({number:,})" for words, number in told.most_common())


def told_changes(codes: Iterable[str]) -> str:
    """Return with what changes something is read, as the end of a sentence; "" for none."""
    return ", ".join(dict.fromkeys(CHANGES.get(code, _REPAIRED) for code in codes))


def told_changed(counts: Mapping[str, int]) -> str:
    """Return in how many files something changed: "without drums (3), with small repairs (1)"."""
    told: Counter[str] = Counter()
    for code, number in counts.items():
        told[CHANGES.get(code, _REPAIRED)] += number
    return ", ".join(f"{words} ({number:,})" for words, number in told.most_common())
