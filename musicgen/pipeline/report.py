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
    "still": "The model made events without moving on in time, and was stopped.",
}


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
