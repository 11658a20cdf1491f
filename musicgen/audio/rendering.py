"""MIDI in, sound out, whatever fails on the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from musicgen.audio.builtin import play_builtin
from musicgen.audio.engines import play_fluidsynth, play_midirenderer
from musicgen.audio.instruments import font_contents
from musicgen.audio.playable import TAIL_S, Playable, make_playable
from musicgen.audio.sound import SAMPLE_RATE, Sound, finish
from musicgen.errors import AudioError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Engine = Callable[[Playable], "NDArray[np.float32] | None"]
"""Plays music as float32 (C, N) at `SAMPLE_RATE`; None if it is not on this machine."""

MAX_SECONDS = 20 * 60.0  # of sound: 230 MB as WAV
FADE_S = 0.7 * TAIL_S
ENGINES: tuple[tuple[str, Engine], ...] = (
    ("midirenderer", play_midirenderer),
    ("fluidsynth", play_fluidsynth),
    ("built-in", play_builtin),
)


def render(
    midi: bytes,
    *,
    max_seconds: float = MAX_SECONDS,
    engines: Sequence[tuple[str, Engine]] = ENGINES,
) -> Sound:
    """Play a MIDI file. The same bytes give the same samples on one machine.

    Args:
        midi: A MIDI file.
        max_seconds: How much of it is played at most; the sound's warnings say so if there is more.
        engines: Synthesizers by name, the best first: each stands in for those before it.

    Returns:
        Stereo at `SAMPLE_RATE` that lasts from the file's beginning to the last note's end and
        `TAIL_S` seconds more, at a level that does not clip.

    Raises:
        MidiReadError: The bytes are no music.
        AudioError: The first note comes after `max_seconds`, or every engine failed.
    """
    if not 0 < max_seconds <= MAX_SECONDS:
        raise ValueError(f"max_seconds must lie above 0 and up to {MAX_SECONDS}, not {max_seconds}")
    music = make_playable(midi, font_contents(), max_seconds=max_seconds)
    failures: list[str] = []
    for name, play in engines:
        try:
            samples = play(music)
        except Exception as error:  # noqa: BLE001 - the next one plays
            failures.append(f"The synthesizer {name} failed ({error}).")
            continue
        if samples is None:
            continue
        told = [f"{' '.join(failures)} {name} plays instead."] if failures else []
        if not samples.any():
            if not music.turns_down:
                failures.append(f"The synthesizer {name} gave silence.")
                continue
            told.append("Nothing is heard: the file turns the volume down to 0.")
        samples, gain = finish(samples, seconds=music.seconds, fade_s=FADE_S)
        return Sound(
            samples=samples,
            sample_rate=SAMPLE_RATE,
            engine=name,
            gain=gain,
            warnings=(*music.warnings, *told),
        )
    raise AudioError(
        f"No sound could be made. {' '.join(failures)}".strip(),
        hint="The MIDI file is fine: play it with another program.",
    )
