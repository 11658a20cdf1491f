"""MP3 by LAME, with the header that tells players the exact length.

An encoder adds some silence before and after. LAME's own program writes a first frame that says how
much, so that players leave it out; the Python binding does not, and without it sound comes 25 ms
late, which shows against a moving playhead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from musicgen.errors import AudioError

if TYPE_CHECKING:
    from musicgen.audio.sound import Sound

_SAMPLE_RATES = (32_000, 44_100, 48_000)  # those of MPEG-1, whose frames all have one form
_FRAME_SAMPLES = 1152
_ENCODER_DELAY = 576  # samples that LAME puts in front
_QUALITY = 5  # of 0 (best, slowest) to 9; from here on down it is the bit rate that one hears


def mp3_bytes(sound: Sound, *, bitrate_kbps: int = 192) -> bytes:
    """Return the sound as an MP3 file of constant bit rate.

    Args:
        sound: One or two channels at 32, 44.1 or 48 kHz.
        bitrate_kbps: Thousands of bits a second: 128, 160, 192, 224, 256 or 320.

    Raises:
        AudioError: The encoder is missing on this machine.
        ValueError: A sample rate or number of channels that MP3 does not have.
    """
    channels, length = sound.samples.shape
    if sound.sample_rate not in _SAMPLE_RATES or channels not in (1, 2):
        raise ValueError(
            f"MP3 takes 1 or 2 channels at {_SAMPLE_RATES} Hz, "
            f"not {channels} at {sound.sample_rate}"
        )
    try:
        import lameenc
    except ImportError as error:
        raise AudioError(
            "MP3 cannot be written: the encoder 'lameenc' is not installed for this Python.",
            hint="Write WAV instead, or run: pip install lameenc",
            code="mp3-unavailable",
        ) from error
    encoder = lameenc.Encoder()
    encoder.set_bit_rate(bitrate_kbps)
    encoder.set_in_sample_rate(sound.sample_rate)
    encoder.set_channels(channels)
    encoder.set_quality(_QUALITY)
    audio = bytearray()
    for piece in sound.pcm16():
        audio += encoder.encode(piece)
    audio += encoder.flush()
    return _info_frame(audio, length, bitrate_kbps, sound.sample_rate) + bytes(audio)


def _info_frame(audio: bytearray, length: int, bitrate_kbps: int, sample_rate: int) -> bytes:
    """Return the silent frame in front of `audio` that says how long it is (the "LAME tag")."""
    head = bytearray(audio[:4])
    head[2] &= 0xFD  # no padding byte
    size = 144_000 * bitrate_kbps // sample_rate
    frames = -(-len(audio) * sample_rate // (144_000 * bitrate_kbps))
    padding = min(max(frames * _FRAME_SAMPLES - _ENCODER_DELAY - length, 0), 0xFFF)
    side_info = 17 if head[3] >> 6 == 3 else 32  # mono has less
    tag = b"Info" + (0xF).to_bytes(4, "big")
    tag += frames.to_bytes(4, "big") + (size + len(audio)).to_bytes(4, "big")
    tag += bytes(i * 256 // 100 for i in range(100)) + (50).to_bytes(4, "big")
    tag += b"LAME3.100" + b"\x01" + bytes(10)  # constant bit rate; no low-pass, no gain given
    tag += bytes([min(bitrate_kbps, 255)])
    tag += (_ENCODER_DELAY << 12 | padding).to_bytes(3, "big")
    tag += bytes(4) + (size + len(audio)).to_bytes(4, "big") + bytes(2)
    frame = bytes(head) + bytes(side_info) + tag
    frame += _crc16(frame).to_bytes(2, "big")
    return frame.ljust(size, b"\0")


def _crc16(data: bytes) -> int:
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0xA001 if crc & 1 else crc >> 1
    return crc
