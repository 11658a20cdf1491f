"""From the bytes of a file to those of a standard MIDI file: wrappers opened or refused by name."""

from __future__ import annotations

from musicgen.errors import MidiReadError
from musicgen.midi.refusals import refuse

MAGIC = b"MThd"
_MACBINARY_HEADER = 128  # bytes; the second one is the length of the file's name
_MACBINARY_NAME = 63
_LOOKS_LIKE = (
    (b"\x1f\x8b", "a gzip archive"),
    (b"PK\x03\x04", "a zip archive"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"7z\xbc\xaf'\x1c", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"ID3", "an MP3 sound file"),
    (b"\xff\xfb", "an MP3 sound file"),
    (b"OggS", "an Ogg sound file"),
    (b"fLaC", "a FLAC sound file"),
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"\x00\x05\x16\x07", "the companion that macOS stores beside a file"),
    (b"version https://git-lfs", "a Git LFS pointer, not the file it points to"),
    (b"<!DOCTYPE html", "a web page"),
    (b"<html", "a web page"),
    (b"<?xml", "an XML document (MusicXML, perhaps)"),
    (b"\x80\x04", "a Python pickle"),
)


def unwrap(data: bytes) -> bytes:
    """Return the bytes from the MIDI header on.

    RIFF (RMID) and MacBinary wrappers are taken off. Compressed files are refused by name and never
    unpacked: what they would unpack to is not known before it is done.

    Raises:
        MidiReadError: This is no MIDI file.
    """
    if data.startswith(MAGIC):
        return data
    if data.startswith(b"RIFF"):
        return _from_riff(data)
    if data[:1] == b"\0" and 0 < int.from_bytes(data[1:2], "big") <= _MACBINARY_NAME:
        begin = data.find(MAGIC, _MACBINARY_HEADER, 2 * _MACBINARY_HEADER)
        if begin > 0:
            return data[begin:]
    raise _not_midi(data)


def _from_riff(data: bytes) -> bytes:
    kind = data[8:12]
    if kind != b"RMID":
        shown = kind.decode("latin-1") if kind.isalnum() else "unknown"
        raise refuse(
            "not-midi",
            f"This is a RIFF file of the kind {shown!r} (WAVE is a sound file), not a MIDI file.",
            "Choose the .mid file of the piece; sound cannot be read as notes.",
        )
    at = 12
    while at + 8 <= len(data):
        size = int.from_bytes(data[at + 4 : at + 8], "little")
        if data[at : at + 4] == b"data":
            inner = data[at + 8 : at + 8 + size]
            if inner.startswith(MAGIC):
                return inner
            break
        at += 8 + size + size % 2  # RIFF pads chunks of odd length
    begin = data.find(b"data", 12)  # some writers forget the padding, or the chunk's length
    if begin > 0 and data.startswith(MAGIC, begin + 8):
        return data[begin + 8 :]
    raise refuse("not-midi", "This RIFF (RMID) file holds no MIDI data.")


def _not_midi(data: bytes) -> MidiReadError:
    if not data:
        return refuse(
            "not-midi",
            "The file is empty (0 bytes): there is no MIDI in it.",
            "Choose another file.",
        )
    if len(data) < len(MAGIC) + 10 and MAGIC.startswith(data[:4]):
        return refuse(
            "midi-truncated",
            "The MIDI file is truncated: it ends after "
            + ("its first byte." if len(data) == 1 else f"{len(data)} bytes."),
            "Get it again.",
        )
    head = data[:64].lstrip(b"\xef\xbb\xbf \t\r\n")
    for magic, name in _LOOKS_LIKE:
        if head.lower().startswith(magic.lower()):
            hint = "Unpack it first." if "archive" in name else "Choose a .mid file."
            return refuse("not-midi", f"This is not a MIDI file but {name}.", hint)
    found = data.find(MAGIC, 0, 4096)
    if found > 0:
        told = "1 other byte precedes" if found == 1 else f"{found:,} other bytes precede"
        return refuse(
            "not-midi",
            f"This is not a MIDI file as it stands: {told} the header 'MThd'.",
            "Get the file again; something was put in front of it.",
        )
    return refuse(
        "not-midi",
        "This is not a MIDI file: it does not begin with the header 'MThd'.",
        "Choose a .mid file.",
    )
