"""What keys are called, everywhere: C♯, E♭, F♯, A♭, B♭, the spellings that music uses most.

The keys that music is in have other names than single ones: D♭ major and C♯ minor, A♭ major and
G♯ minor, by the fewer accidentals.

On a page and in words they have their signs; pictures, whose font has none, and tables for other
programs have plain letters instead.
"""

from __future__ import annotations

from typing import Final

KEY_NAMES: Final = ("C", "C♯", "D", "E♭", "E", "F", "F♯", "G", "A♭", "A", "B♭", "B")
PLAIN_TONIC_NAMES: Final = (
    *("C", "Db", "D", "Eb", "E", "F", "F#", "G", "Ab", "A", "Bb", "B"),
    *("C", "C#", "D", "Eb", "E", "F", "F#", "G", "G#", "A", "Bb", "B"),
)
"""Of the twelve major keys from C on, then of the minor ones, in plain letters."""
_PLAIN_KEY_NAMES: Final = tuple(name.replace("♯", "#").replace("♭", "b") for name in KEY_NAMES)


def note_name(pitch: int) -> str:
    """Return a key's name with its octave: 60 is C4, 70 is B♭4."""
    return f"{KEY_NAMES[pitch % 12]}{pitch // 12 - 1}"


def plain_note_name(pitch: int) -> str:
    """Return the same in plain letters: 70 is Bb4."""
    return f"{_PLAIN_KEY_NAMES[pitch % 12]}{pitch // 12 - 1}"
