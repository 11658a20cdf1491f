"""WAV and MP3: headers, labels and lengths."""

from __future__ import annotations

import builtins
import io
import struct
import wave

import numpy as np
import pytest

from musicgen.audio import Sound, mp3_bytes, wav_bytes
from musicgen.errors import AudioError

BITRATES = (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)
RATES = (44_100, 48_000, 32_000)
SAMPLES_A_FRAME = 1152


def tone(
    seconds: float = 2.0, *, channels: int = 2, sample_rate: int = 48_000, level: float = 0.5
) -> Sound:
    time = np.arange(round(seconds * sample_rate)) / sample_rate
    wavy = level * np.sin(2 * np.pi * 440 * time)
    samples = np.tile(wavy.astype(np.float32), (channels, 1))
    return Sound(samples=samples, sample_rate=sample_rate, engine="test")


def frames(data: bytes) -> list[tuple[int, int]]:
    """Return (kbps, sample rate) of each frame of an MP3 file, which must hold nothing else."""
    found, at = [], 0
    while at < len(data):
        sync, second, third = data[at], data[at + 1], data[at + 2]
        assert sync == 0xFF, f"no frame at byte {at}"
        assert second & 0xFE == 0xFA, f"no MPEG-1 Layer III at byte {at}"
        bitrate, rate = BITRATES[third >> 4], RATES[third >> 2 & 3]
        found.append((bitrate, rate))
        at += 144_000 * bitrate // rate + (third >> 1 & 1)
    assert at == len(data)
    return found


@pytest.mark.parametrize("channels", [1, 2])
def test_the_wav_header_is_exact(channels: int) -> None:
    """Guards against raw samples named .wav, and sizes that make players read past the end."""
    sound = tone(0.5, channels=channels)
    data = wav_bytes(sound)
    (
        riff,
        size,
        form,
        fmt,
        fmt_size,
        codec,
        n_channels,
        rate,
        bytes_s,
        align,
        bits,
        tag,
        data_size,
    ) = struct.unpack("<4sI4s4sIHHIIHH4sI", data[:44])
    assert (riff, form, fmt, fmt_size, codec, tag) == (b"RIFF", b"WAVE", b"fmt ", 16, 1, b"data")
    assert (n_channels, rate, bits) == (channels, 48_000, 16)
    assert (bytes_s, align) == (48_000 * 2 * channels, 2 * channels)
    assert data_size == 24_000 * 2 * channels == len(data) - 44
    assert size == len(data) - 8


def test_wav_keeps_the_samples() -> None:
    """Guards against swapped channels, byte order and overflow at full scale."""
    samples = np.array([[1.0, -1.0, 0.25, 2.0], [0.0, 0.5, -0.5, -2.0]], dtype=np.float32)
    data = wav_bytes(Sound(samples=samples, sample_rate=48_000, engine="test"))
    with wave.open(io.BytesIO(data)) as file:
        back = np.frombuffer(file.readframes(4), dtype="<i2").reshape(-1, 2).T
    expected = [[32767, -32767, 8192, 32767], [0, 16384, -16384, -32768]]
    assert np.abs(back - np.array(expected)).max() <= 1


def test_long_sound_is_written_piece_by_piece_without_a_seam() -> None:
    """Guards against losing or repeating samples where one piece ends."""
    samples = np.linspace(-0.9, 0.9, (1 << 20) + 7, dtype=np.float32)[None]
    data = wav_bytes(Sound(samples=samples, sample_rate=48_000, engine="test"))
    back = np.frombuffer(data[44:], dtype="<i2")
    assert back.shape == samples.shape[1:]
    assert (np.diff(back.astype(int)) >= 0).all()


@pytest.mark.parametrize(
    ("channels", "sample_rate"), [(2, 48_000), (1, 48_000), (2, 44_100), (2, 32_000)]
)
def test_mp3_is_mp3_and_as_long_as_the_sound(channels: int, sample_rate: int) -> None:
    """Guards against other bytes under that name, and against a wrong length."""
    sound = tone(2.0, channels=channels, sample_rate=sample_rate)
    found = frames(mp3_bytes(sound, bitrate_kbps=128))
    assert set(found) == {(128, sample_rate)}
    audio_s = (len(found) - 1) * SAMPLES_A_FRAME / sample_rate
    assert 2.0 <= audio_s <= 2.0 + 4 * SAMPLES_A_FRAME / sample_rate


@pytest.mark.parametrize("seconds", [0.01, 1.0, 2.3])
def test_mp3_says_how_much_of_it_is_padding(seconds: float) -> None:
    """Guards against sound behind the playhead: players must be told to skip the delay."""
    sound = tone(seconds)
    data = mp3_bytes(sound)
    tag = data.index(b"Info")
    assert tag == 4 + 32
    count, size = struct.unpack(">II", data[tag + 8 : tag + 16])
    assert count == len(frames(data)) - 1
    assert size == len(data)
    assert data[tag + 120 : tag + 124] == b"LAME"
    gaps = int.from_bytes(data[tag + 141 : tag + 144], "big")
    delay, padding = gaps >> 12, gaps & 0xFFF
    assert delay == 576
    assert count * SAMPLES_A_FRAME - delay - padding == sound.samples.shape[1]


def test_mp3_of_an_odd_rate_is_a_programmers_error() -> None:
    """Guards against a file that plays at the wrong speed."""
    with pytest.raises(ValueError, match="MP3 takes"):
        mp3_bytes(tone(0.1, sample_rate=22_050))


def test_a_missing_encoder_is_one_sentence_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guards against an ImportError on platforms without a wheel."""
    real = builtins.__import__

    def no_lame(name: str, *args: object, **kwargs: object) -> object:
        if name == "lameenc":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", no_lame)
    with pytest.raises(AudioError, match="MP3") as caught:
        mp3_bytes(tone(0.1))
    assert caught.value.code == "mp3-unavailable"
    assert "WAV" in caught.value.hint
