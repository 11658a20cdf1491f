"""Every English sentence of the quality card, in one place."""

from __future__ import annotations

from typing import Final

TITLE: Final = "Beside real music"
MEASURING: Final = "Measuring …"
NO_FIGURES: Final = "It could not be measured:"
ABOUT: Final = (
    "Usual is what nine tenths of MAESTRO's performances are, in excerpts of {excerpt_s:g} s; "
    "{seconds:.0f} s of this were measured. What is unusual is no fault: how it sounds is for you "
    "to say."
)
INSIDE: Final = "{inside} of {all} figures are usual"
USUAL: Final = "usual"
UNUSUAL: Final = "unusual"
TOO_SHORT: Final = "too short to tell"
NONE: Final = "none"
COLUMNS: Final = ("Figure", "Here", "", "Usual", "")
FIGURES: Final[dict[str, tuple[str, str, float]]] = {
    # the statistic's name: what it is called here, how it is written, what it is multiplied with
    "notes_per_s": ("Notes a second", "{:.1f}", 1),
    "polyphony": ("Notes that sound at once", "{:.1f}", 1),
    "pitch_range": ("From lowest to highest, semitones", "{:.0f}", 1),
    "pitch_class_entropy": ("Variety of the twelve tones, bits", "{:.2f}", 1),
    "key_stability": ("Time in its main key", "{:.0f}%", 100),
    "velocity_mean": ("Loudness of the keys, 1 to 127", "{:.0f}", 1),
    "velocity_spread": ("Spread of the loudness", "{:.1f}", 1),
    "repeated_share": ("4-second passages that return", "{:.0f}%", 100),
    "longest_silence_s": ("Longest silence, s", "{:.1f}", 1),
    "longest_note_s": ("Longest note, s", "{:.1f}", 1),
}
FURTHER: Final[dict[str, tuple[str, str, float]]] = {
    # those that are told only where they are unusual
    "onset_notes": ("Notes struck together", "{:.2f}", 1),
    "pitch_mean": ("Mean key, middle C is 60", "{:.0f}", 1),
    "interval": ("Step from note to note, semitones", "{:.1f}", 1),
    "ioi_s": ("Median time from stroke to stroke, s", "{:.3f}", 1),
    "ioi_spread": ("Spread of that time, octaves", "{:.2f}", 1),
    "length_s": ("Median length of a note, s", "{:.2f}", 1),
    "ringing_share": ("Notes that ring on", "{:.0f}%", 100),
    "velocity_mean_movement": ("Loudness, from 4 seconds to the next", "{:.1f}", 1),
    "velocity_spread_movement": ("Its spread, from 4 seconds to the next", "{:.1f}", 1),
    "key_clarity": ("Clearness of the key, at most 1", "{:.2f}", 1),
    "similarity_near": ("Harmony like that of 4 to 15 s away", "{:.2f}", 1),
    "similarity_far": ("Harmony like that of 15 s and more away", "{:.2f}", 1),
}
BITS: Final = (
    "The model was surprised by its own music by {bits:.1f} bits a note: low is predictable, high "
    "is daring."
)
BITS_HELD_OUT: Final = " Pianists whom it never heard surprise it by {held_out:.1f}."
FAULTS: Final = {
    "loops": ("A passage goes round and round.", "Passages go round and round, {n} of them."),
    "silences": ("There is a silence of more than 4 s.", "{n} silences last more than 4 s."),
    "long_notes": ("A note lasts more than 20 s.", "{n} notes last more than 20 s."),
}
NO_FAULTS: Final = "No loops, no silences of more than 4 s, no notes of more than 20 s."
COPIES: Final = "Its longest passage in common with the training music, in any key or tempo: "
NO_COPIES: Final = "It shares no passage with the music the model was trained on."
RANK: Final = "Which of my last takes is likest to real music?"
RANK_HELP: Final = (
    "Takes without a copied passage first, then those with fewer faults, then those with more "
    "usual figures."
)
RANK_COLUMNS: Final = ("", "Take", "Usual figures", "Faults", "Notes in common")
NO_INDEX: Final = "This model does not know which music it was trained on: nothing to compare with."
