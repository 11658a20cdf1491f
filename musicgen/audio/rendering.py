"""MIDI in, sound out, whatever fails on the way."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from musicgen.audio.instruments import font_contents
from musicgen.audio.playable import TAIL_S, make_playable
from musicgen.audio.playing import ENGINES, Engine, play
from musicgen.audio.sound import SAMPLE_RATE, Sound, finish

MAX_SECONDS = 20 * 60.0  # of sound: 230 MB as WAV
FADE_S = 0.7 * TAIL_S


def render(
    midi: bytes,
    *,
    max_seconds: float = MAX_SECONDS,
    muted: Collection[int] = (),
    most_gain: float | None = None,
    engines: Sequence[tuple[str, Engine]] = ENGINES,
) -> Sound:
    """Play a MIDI file. The same bytes give the same samples on one machine.

    Args:
        midi: A MIDI file.
        max_seconds: How much of it is played at most; the sound's warnings say so if there is more.
        muted: Tracks that are not heard, numbered among those with notes; the length stays.
        most_gain: The level of the whole piece (`Sound.gain`), so that a part is not made louder.
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
    music = make_playable(midi, font_contents(), max_seconds=max_seconds, muted=muted)
    samples, engine, failures = play(music, engines, may_be_silent=music.turns_down)
    told = [f"{' '.join(failures)} {engine} plays instead."] if failures else []
    if not samples.any() and not muted:
        told.append("Nothing is heard: the file turns the volume down to 0.")
    samples, gain = finish(samples, seconds=music.seconds, fade_s=FADE_S, most_gain=most_gain)
    return Sound(
        samples=samples,
        sample_rate=SAMPLE_RATE,
        engine=engine,
        gain=gain,
        warnings=(*music.warnings, *told),
    )
