"""The synthesizers that play a MIDI file with our SoundFont.

Shapes: C channels, N samples a channel.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import tempfile
import wave
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from musicgen.audio.font_keys import with_every_key
from musicgen.audio.instruments import FONT
from musicgen.audio.sound import SAMPLE_RATE
from musicgen.errors import AudioError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from musicgen.audio.playable import Playable

_TIMEOUT_S = 300


def play_midirenderer(music: Playable) -> NDArray[np.float32]:
    """Play with `midirenderer` (RustySynth), float32 (2, N).

    Raises:
        AudioError: It is not installed, or fails.
    """
    try:
        import midirenderer
    except ImportError as error:
        raise AudioError("midirenderer is not installed for this Python") from error
    try:
        return _samples(midirenderer.render_wave_from(_font_bytes(), music.data))
    except BaseException as error:
        # A panic in Rust arrives as a BaseException whose class cannot be imported.
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            raise AudioError(f"midirenderer: {error}") from error
        raise


def play_fluidsynth(music: Playable) -> NDArray[np.float32] | None:
    """Play with the program `fluidsynth`, float32 (2, N); None where there is none.

    Raises:
        AudioError: It fails.
    """
    program = shutil.which("fluidsynth")
    if program is None:
        return None
    with tempfile.TemporaryDirectory(prefix="musicgen-") as folder:
        source, target = Path(folder) / "music.mid", Path(folder) / "music.wav"
        source.write_bytes(music.data)
        options = ["-n", "-i", "-q", "-g", "0.6", "-r", str(SAMPLE_RATE), "-O", "s16", "-T", "wav"]
        command = [program, *options, "-F", str(target), str(FONT), str(source)]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=_TIMEOUT_S)
            return _samples(target.read_bytes())
        except (OSError, subprocess.SubprocessError, wave.Error, EOFError) as error:
            raise AudioError(f"fluidsynth: {error}") from error


@lru_cache(maxsize=1)
def _font_bytes() -> bytes:
    return with_every_key(FONT.read_bytes())


def _samples(wav: bytes) -> NDArray[np.float32]:
    with wave.open(io.BytesIO(wav), "rb") as file:
        form = (file.getnchannels(), file.getsampwidth(), file.getframerate())
        if form != (2, 2, SAMPLE_RATE):
            raise AudioError(f"a sound of an unexpected form (channels, bytes, rate): {form}")
        data = np.frombuffer(file.readframes(file.getnframes()), dtype="<i2")
    samples = np.empty((2, len(data) // 2), dtype=np.float32)
    np.multiply(data.reshape(-1, 2).T, np.float32(1 / 32768), out=samples)
    return samples
