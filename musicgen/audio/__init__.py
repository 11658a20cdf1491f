"""From MIDI to sound: a SoundFont player, two substitutes for it, WAV and MP3."""

from __future__ import annotations

from musicgen.audio.aside import Aside, SoundFile, SoundKind, sound_file
from musicgen.audio.blocks import BLOCK
from musicgen.audio.instruments import GM_NAMES
from musicgen.audio.mp3 import mp3_bytes
from musicgen.audio.passages import Passage, render_passage
from musicgen.audio.rendering import MAX_SECONDS, render
from musicgen.audio.sound import SAMPLE_RATE, Sound, wav_bytes

__all__ = [
    "BLOCK",
    "GM_NAMES",
    "MAX_SECONDS",
    "SAMPLE_RATE",
    "Aside",
    "Passage",
    "Sound",
    "SoundFile",
    "SoundKind",
    "mp3_bytes",
    "render",
    "render_passage",
    "sound_file",
    "wav_bytes",
]
