"""What the figures are called and how they are written, wherever people read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureWords:
    """How people are told a figure.

    Attributes:
        title: What it is called, with its unit.
        form: How a value is written.
        factor: What it is multiplied with before.
    """

    title: str
    form: str
    factor: float = 1.0

    @property
    def is_share(self) -> bool:
        """Whether it lies between 0 and 1, and is written in per cent."""
        return self.form.endswith("%")

    def written(self, value: float | None) -> str:
        """Return a value as it is written; None is one that a piece has too few notes for."""
        return "none" if value is None else self.form.format(value * self.factor)


FIGURE_WORDS: Final[dict[str, FigureWords]] = {
    name: FigureWords(title=title, form=form, factor=100.0 if form.endswith("%") else 1.0)
    for name, (title, form) in {
        "notes_per_s": ("Notes a second", "{:.1f}"),
        "polyphony": ("Notes that sound at once", "{:.1f}"),
        "onset_notes": ("Notes struck together", "{:.2f}"),
        "pitch_mean": ("Mean key, middle C is 60", "{:.0f}"),
        "pitch_range": ("From lowest to highest, semitones", "{:.0f}"),
        "pitch_class_entropy": ("Variety of the twelve tones, bits", "{:.2f}"),
        "interval": ("Step from note to note, semitones", "{:.1f}"),
        "ioi_s": ("Median time from stroke to stroke, s", "{:.3f}"),
        "ioi_spread": ("Spread of that time, octaves", "{:.2f}"),
        "length_s": ("Median length of a note, s", "{:.2f}"),
        "ringing_share": ("Notes that ring on", "{:.0f}%"),
        "velocity_mean": ("Loudness of the keys, 1 to 127", "{:.0f}"),
        "velocity_spread": ("Spread of the loudness", "{:.1f}"),
        "velocity_mean_movement": ("Loudness, from 4 s to the next", "{:.1f}"),
        "velocity_spread_movement": ("Its spread, from 4 s to the next", "{:.1f}"),
        "key_clarity": ("Clearness of the key, at most 1", "{:.2f}"),
        "key_stability": ("Time in its main key", "{:.0f}%"),
        "repeated_share": ("4-second passages that return", "{:.0f}%"),
        "similarity_near": ("Harmony like that 4 to 15 s away", "{:.2f}"),
        "similarity_far": ("Harmony like that 15 s and more away", "{:.2f}"),
        "longest_silence_s": ("Longest silence, s", "{:.1f}"),
        "longest_note_s": ("Longest note, s", "{:.1f}"),
    }.items()
}
"""By the names of `STATISTICS`; in one column, so no title is longer than 36 letters."""

HISTOGRAM_WORDS: Final[dict[str, str]] = {
    "degree": "Degrees of the key",
    "pitch": "Keys",
    "interval": "Steps from note to note",
    "ioi": "Times from stroke to stroke",
    "length": "Lengths of notes",
    "velocity": "Loudness of the keys",
    "onset_notes": "Notes struck together",
    "polyphony": "Notes that sound at once",
}
"""By the names of `HISTOGRAM_EDGES`: what is counted in each."""
