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
MORE: Final = "The other {n}, all usual"
USUAL: Final = "usual"
UNUSUAL: Final = "unusual"
TOO_SHORT: Final = "too short to tell"
NONE: Final = "none"
COLUMNS: Final = ("Figure", "Here", "", "Usual", "")
ALWAYS: Final = (
    "notes_per_s",
    "polyphony",
    "pitch_range",
    "pitch_class_entropy",
    "key_stability",
    "velocity_mean",
    "velocity_spread",
    "repeated_share",
    "longest_silence_s",
    "longest_note_s",
)
"""Figures that are told of every piece; others where they are unusual, else behind a fold."""
BITS: Final = (
    "The model was surprised by its own music by {bits:.1f} bits a note (each bit more means that "
    "it held the note for half as likely): low is predictable, high is daring."
)
BITS_HELD_OUT: Final = " Pianists whom it never heard surprise it by {held_out:.1f}."
FAULTS: Final = {
    "loops": ("A passage goes round and round.", "Passages go round and round, {n} of them."),
    "silences": ("There is a silence of more than 4 s.", "{n} silences last more than 4 s."),
    "long_notes": ("A note lasts more than 20 s.", "{n} notes last more than 20 s."),
}
NO_FAULTS: Final = "No loops, no silences of more than 4 s, no notes of more than 20 s."
COPIES: Final = (
    "Its longest passage in common with the training music, in any key or tempo: {notes} notes in "
    "{seconds:.1f} s from {at} on, as in {piece} from {piece_at} on"
)
A_RECORDING: Final = "a performance in MAESTRO"
COPIED: Final = ". No music that it never heard shares more than {most} notes with it: a copy."
MUCH: Final = (
    ". That is much, but music that it never heard shares up to {most} (95% of it "
    "{usually:.0f} at most)."
)
AS_OTHERS: Final = (
    ": no more than music that it never heard, of which 95% shares {usually:.0f} at most."
)
NO_YARDSTICK: Final = ". How much other music shares with it has not been measured."
NO_COPIES: Final = "It shares no passage with the music the model was trained on."
RANK: Final = "Which of my last takes is closest to real music?"
RANK_HELP: Final = (
    "Takes without a copied passage first, then those with fewer faults, then those with more "
    "usual figures."
)
RANK_COLUMNS: Final = ("", "Take", "Usual figures", "Faults", "Notes in common")
NO_INDEX: Final = "This model does not know which music it was trained on: nothing to compare with."
