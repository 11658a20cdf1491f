"""From MIDI to sound: a SoundFont player, two substitutes for it, WAV and MP3."""

from __future__ import annotations

from musicgen.audio.mp3 import mp3_bytes
from musicgen.audio.rendering import MAX_SECONDS, render
from musicgen.audio.sound import SAMPLE_RATE, Sound, wav_bytes

__all__ = ["MAX_SECONDS", "SAMPLE_RATE", "Sound", "mp3_bytes", "render", "wav_bytes"]
