"""The 128 instruments of General MIDI, and which of them our SoundFont has."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from musicgen.errors import AudioError

FONT = Path(__file__).resolve().parent / "soundfont" / "fluid-mono-small.sf2"
DRUM_BANK = 128
_FAMILY = 8  # instruments in each family of General MIDI

# A family of eight after the other.
GM_NAMES: tuple[str, ...] = (
    "Acoustic Grand Piano", "Bright Acoustic Piano", "Electric Grand Piano", "Honky-tonk Piano",
    "Electric Piano 1", "Electric Piano 2", "Harpsichord", "Clavinet",
    "Celesta", "Glockenspiel", "Music Box", "Vibraphone", "Marimba", "Xylophone", "Tubular Bells",
    "Dulcimer",
    "Drawbar Organ", "Percussive Organ", "Rock Organ", "Church Organ", "Reed Organ", "Accordion",
    "Harmonica", "Tango Accordion",
    "Nylon Guitar", "Steel Guitar", "Jazz Guitar", "Clean Guitar", "Muted Guitar",
    "Overdriven Guitar", "Distortion Guitar", "Guitar Harmonics",
    "Acoustic Bass", "Fingered Bass", "Picked Bass", "Fretless Bass", "Slap Bass 1",
    "Slap Bass 2", "Synth Bass 1", "Synth Bass 2",
    "Violin", "Viola", "Cello", "Contrabass", "Tremolo Strings", "Pizzicato Strings", "Harp",
    "Timpani",
    "String Ensemble 1", "String Ensemble 2", "Synth Strings 1", "Synth Strings 2", "Choir Aahs",
    "Voice Oohs", "Synth Voice", "Orchestra Hit",
    "Trumpet", "Trombone", "Tuba", "Muted Trumpet", "French Horn", "Brass Section",
    "Synth Brass 1", "Synth Brass 2",
    "Soprano Sax", "Alto Sax", "Tenor Sax", "Baritone Sax", "Oboe", "English Horn", "Bassoon",
    "Clarinet",
    "Piccolo", "Flute", "Recorder", "Pan Flute", "Blown Bottle", "Shakuhachi", "Whistle",
    "Ocarina",
    "Square Lead", "Sawtooth Lead", "Calliope Lead", "Chiff Lead", "Charang Lead", "Voice Lead",
    "Fifths Lead", "Bass and Lead",
    "New Age Pad", "Warm Pad", "Polysynth Pad", "Choir Pad", "Bowed Pad", "Metallic Pad",
    "Halo Pad", "Sweep Pad",
    "Rain", "Soundtrack", "Crystal", "Atmosphere", "Brightness", "Goblins", "Echoes", "Sci-fi",
    "Sitar", "Banjo", "Shamisen", "Koto", "Kalimba", "Bagpipe", "Fiddle", "Shanai",
    "Tinkle Bell", "Agogo", "Steel Drums", "Woodblock", "Taiko Drum", "Melodic Tom", "Synth Drum",
    "Reverse Cymbal",
    "Guitar Fret Noise", "Breath Noise", "Seashore", "Bird Tweet", "Telephone Ring", "Helicopter",
    "Applause", "Gunshot",
)  # fmt: skip

# Where the nearest number is not the nearest sound.
_NEAREST = {
    2: 1, 5: 4, 15: 46, 17: 16, 18: 16, 21: 22, 26: 27, 29: 30, 31: 27, 34: 33, 35: 33, 36: 33,
    37: 33, 41: 40, 43: 42, 54: 53, 61: 56, 64: 65, 66: 65, 67: 65, 69: 68, 79: 74, 85: 53,
    91: 52, 98: 88, 99: 88, 102: 88, 103: 88, 109: 111, 124: 112, 126: 122,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class FontContents:
    """What a SoundFont plays.

    Attributes:
        programs: Melodic instruments of bank 0, 0 to 127.
        kits: Drum kits, 0 to 127.
    """

    programs: frozenset[int]
    kits: frozenset[int]

    def nearest_program(self, program: int) -> int:
        """Return `program`, or what stands in for it: a chosen one, its family, then anything."""
        if program in self.programs:
            return program
        if _NEAREST.get(program) in self.programs:
            return _NEAREST[program]
        family = [p for p in self.programs if p // _FAMILY == program // _FAMILY]
        return min(family or self.programs, key=lambda p: (abs(p - program), p))

    def nearest_kit(self, kit: int) -> int:
        """Return `kit`, or the plainer one of its kind, or the standard kit."""
        plainer = kit - kit % _FAMILY
        return kit if kit in self.kits else plainer if plainer in self.kits else min(self.kits)


@lru_cache(maxsize=4)
def font_contents(font: Path = FONT) -> FontContents:
    """Read which instruments a SoundFont has.

    Raises:
        AudioError: The file is missing or no SoundFont.
    """
    try:
        data = font.read_bytes()
    except OSError as error:
        raise AudioError(
            f"The SoundFont {font.name!r} cannot be read: {error.strerror}.",
            hint="Install musicgen again: the file travels with it.",
        ) from error
    at = data.rfind(b"phdr")  # the preset headers, records of 38 bytes, the last one empty
    size = int.from_bytes(data[at + 4 : at + 8], "little")
    if at < 0 or size % 38 or at + 8 + size > len(data):
        raise AudioError(
            f"The SoundFont {font.name!r} is damaged: it has no list of instruments.",
            hint="Install musicgen again: the file travels with it.",
        )
    headers = data[at + 8 : at + 8 + size - 38]
    presets = [(program, bank) for program, bank in struct.iter_unpack("<20xHH14x", headers)]
    return FontContents(
        programs=frozenset(program for program, bank in presets if bank == 0),
        kits=frozenset(program for program, bank in presets if bank == DRUM_BANK),
    )
