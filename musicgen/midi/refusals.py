"""The sentences with which a file is refused: what, the value met, what is allowed, what to do."""

from __future__ import annotations

from musicgen.errors import MidiReadError

SAVE_AGAIN = "Open it in the program that made it and export it again as a standard MIDI file."


def refuse(code: str, message: str, hint: str = SAVE_AGAIN) -> MidiReadError:
    """Return the error to raise; `code` is what programs see."""
    return MidiReadError(message, hint=hint, code=code)


def corrupt(track: int, position: int, what: str) -> MidiReadError:
    """Return the error for a damaged event; tracks count from 1 as people do, bytes from 0."""
    return refuse(
        "midi-corrupt", f"The MIDI file is corrupt: track {track}, byte {position}: {what}."
    )


def too_much(what: str, met: int | float, allowed: int | float) -> MidiReadError:
    """Return the error for a file that goes past a limit."""
    return refuse(
        "midi-too-large",
        f"The MIDI file is too large: {met:,} {what}, and the limit is {allowed:,}.",
        "Cut it into shorter pieces.",
    )
