"""What a listener should know of how a take came about, in sentences."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

#: What the stream noticed, by its code; "ending" is no fault: the music was to reach its length.
_NOTICED = {
    "loop": "The model began to repeat itself; it stepped back and went on differently ({times}).",
    "loop-left": (
        "The model kept repeating itself and was let go on: it may be trained too little, or the "
        "temperature is too low."
    ),
    "silence": "A silence of more than 4 seconds was sampled again ({times}).",
    "silence-left": "A silence of more than 4 seconds was left as it is.",
    "stuck-note": "A note of more than 20 seconds was sampled again ({times}).",
    "stuck-note-left": "A note of more than 20 seconds was left as it is.",
    "crowd": "More notes than can be played at once were sampled again ({times}).",
    "crowd-left": "More notes than can be played at once were left as they are.",
    "ending-held": "The last notes are held until the end of the wanted length.",
}

_TOLERANCE = 0.05  # of the wanted length: so much shorter or longer still meets it


def notice_warnings(notices: Mapping[str, int]) -> list[str]:
    """Say what was noticed while the events were made."""
    return [
        sentence.format(times="once" if notices[why] == 1 else f"{notices[why]} times")
        for why, sentence in _NOTICED.items()
        if notices.get(why)
    ]


def event_warnings(repairs: tuple[tuple[str, int], ...]) -> list[str]:
    """Say what the decoder had to mend, by its codes.

    That a note ends where its key is struck again is how a piano works; it is said in words of its
    own, so that it does not read like a fault.
    """
    counts = dict(repairs)
    again = counts.pop("struck-again", 0)
    sentences = []
    if again:
        notes = "One note ends" if again == 1 else f"{again} notes end"
        sentences.append(f"{notes} earlier than the model meant: the key is struck again there.")
    if counts:
        listed = ", ".join(f"{count} {code}" for code, count in sorted(counts.items()))
        sentences.append(f"The model made events that had to be mended: {listed}.")
    return sentences


def seen_warning(prompt_ids: np.ndarray, seen_events: int) -> list[str]:
    """Say that a prompt is longer than what the model sees."""
    if seen_events >= len(prompt_ids):
        return []
    return [
        f"The model saw the last {seen_events} of the prompt's {len(prompt_ids)} events; all of "
        "them are in the file."
    ]


def length_warnings(
    reason: str, *, wanted_s: float | None, new_s: float, prompt_rings_s: float
) -> list[str]:
    """Say why the music is more than 5% shorter or longer than was asked for.

    Whoever stopped a take knows why it is short: "stopped" is no warning.

    Args:
        reason: The take's finish reason.
        wanted_s: Seconds of new music that were asked for; None left it to the model.
        new_s: Seconds from the cut to the end of the last new note.
        prompt_rings_s: Seconds from the cut to the end of the last note of the prompt, as far as
            the file holds it.
    """
    sentences = []
    asked = "" if wanted_s is None else f" of the {wanted_s:g} s that were asked for"
    missed = wanted_s is not None and abs(new_s - wanted_s) > _TOLERANCE * wanted_s
    if reason == "event_limit":
        sentences.append(
            "The model made events without moving on in time, and was stopped after "
            f"{new_s:.1f} s{asked}."
        )
    elif missed and reason == "end":
        sentences.append(f"The model ended the piece by itself after {new_s:.1f} s{asked}.")
    elif missed and reason != "stopped":
        sentences.append(f"The last new note ends after {new_s:.1f} s{asked}.")
    if wanted_s is not None and prompt_rings_s > (1 + _TOLERANCE) * wanted_s:
        sentences.append(
            f"A note of the prompt sounds until {prompt_rings_s:.1f} s after the cut, longer than "
            f"the {wanted_s:g} s of new music: the file ends with it."
        )
    return sentences
