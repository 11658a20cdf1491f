"""One synthesizer after another, until one plays.

Shapes: C channels, N samples a channel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from musicgen.audio.builtin import play_builtin
from musicgen.audio.engines import play_fluidsynth, play_midirenderer
from musicgen.audio.playable import Playable
from musicgen.errors import AudioError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Engine = Callable[[Playable], "NDArray[np.float32] | None"]
"""Plays music as float32 (C, N) at `SAMPLE_RATE`; None if it is not on this machine."""

ENGINES: tuple[tuple[str, Engine], ...] = (
    ("midirenderer", play_midirenderer),
    ("fluidsynth", play_fluidsynth),
    ("built-in", play_builtin),
)


def play(
    music: Playable, engines: Sequence[tuple[str, Engine]], *, may_be_silent: bool
) -> tuple[NDArray[np.float32], str, tuple[str, ...]]:
    """Play music by the first engine that can.

    Args:
        music: What to play.
        engines: Synthesizers by name, the best first: each stands in for those before it.
        may_be_silent: Take silence for an answer, and not for a failure.

    Returns:
        float32 (C, N); the engine's name; a sentence for each one that failed before it.

    Raises:
        AudioError: Every engine failed.
    """
    failures: list[str] = []
    for name, engine in engines:
        try:
            samples = engine(music)
        except Exception as error:  # noqa: BLE001 - the next one plays
            failures.append(f"The synthesizer {name} failed ({error}).")
            continue
        if samples is None:
            continue
        if may_be_silent or samples.any():
            return samples, name, tuple(failures)
        failures.append(f"The synthesizer {name} gave silence.")
    raise AudioError(
        f"No sound could be made. {' '.join(failures)}".strip(),
        hint="The MIDI file is fine: play it with another program.",
    )
