"""Samples, and the plain file for them.

Shapes: C channels, N samples a channel.
"""

from __future__ import annotations

import io
import wave
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

SAMPLE_RATE = 48_000  # the renderer knows no other; whoever stands in for it keeps to it
PEAK = 0.89  # 1 dB below full scale: room for what a player's resampling adds
_MAX_GAIN = 25.0  # 28 dB; more would lift the renderer's 16-bit noise to where it is heard
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sound:
    """Music to be heard.

    Attributes:
        samples: Between -1 and 1, float32 (C, N).
        sample_rate: Samples a second.
        engine: What made them: "midirenderer", "fluidsynth" or "built-in".
        gain: What the synthesizer's own samples were multiplied with.
        warnings: Sentences for the user: what was replaced, cut off or had to be made otherwise.
    """

    samples: NDArray[np.float32]
    sample_rate: int
    engine: str
    gain: float = 1.0
    warnings: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return self.samples.shape[1] / self.sample_rate

    def pcm16(self) -> Iterator[bytes]:
        """Yield the samples as interleaved little-endian 16-bit integers, a piece at a time."""
        for start in range(0, self.samples.shape[1], _CHUNK):
            scaled = self.samples[:, start : start + _CHUNK].T * np.float32(32767)
            yield np.clip(np.rint(scaled), -32768, 32767).astype("<i2").tobytes()


def finish(
    samples: NDArray[np.float32],
    *,
    seconds: float,
    fade_s: float,
    most_gain: float | None = None,
) -> tuple[NDArray[np.float32], float]:
    """Bring raw samples to their length and level, in place where possible.

    Args:
        samples: From a synthesizer, at any level, float32 (C, N).
        seconds: The length wanted: what is longer is cut, what is shorter gets silence.
        fade_s: How much of the end fades out, so that what still rings does not stop with a click.
        most_gain: No more than this is gained, if it is given.

    Returns:
        float32 (C, round(seconds * SAMPLE_RATE)), its peak at `PEAK` unless it is nearly silent
        or `most_gain` is less; and the gain that brought it there.
    """
    length = round(seconds * SAMPLE_RATE)
    samples = samples[:, :length]
    if samples.shape[1] < length:
        samples = np.pad(samples, ((0, 0), (0, length - samples.shape[1])))
    fade_out(samples, begin=0, total=length, fade_s=fade_s)
    peak = max(float(samples.max(initial=0.0)), -float(samples.min(initial=0.0)))
    gain = min(PEAK / peak, _MAX_GAIN) if peak > 0 else 1.0
    if most_gain is not None:
        gain = min(gain, most_gain)
    samples *= np.float32(gain)
    return samples, gain


def fade_out(samples: NDArray[np.float32], *, begin: int, total: int, fade_s: float) -> None:
    """Fade out the end of a piece in place.

    Args:
        samples: A part of the piece, float32 (C, N).
        begin: Which sample of the piece its first is.
        total: How many samples the piece has.
        fade_s: How much of the piece's end fades.
    """
    fade = min(round(fade_s * SAMPLE_RATE), total)
    first = total - fade  # of the piece
    end = begin + samples.shape[1]
    if not fade or end <= first:
        return
    curve = (0.5 + 0.5 * np.cos(np.linspace(0.0, np.pi, fade))).astype(np.float32)
    samples[:, max(first - begin, 0) :] *= curve[max(begin - first, 0) : end - first]


def wav_bytes(sound: Sound) -> bytes:
    """Return the sound as a WAV file of 16-bit samples."""
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(sound.samples.shape[0])
        file.setsampwidth(2)
        file.setframerate(sound.sample_rate)
        file.setnframes(sound.samples.shape[1])
        for piece in sound.pcm16():
            file.writeframesraw(piece)
    return buffer.getvalue()
