"""Names and texts of unknown encoding, made fit to show."""

from __future__ import annotations

MAX_NAME = 120  # characters: longer names are no names


def decode_text(raw: bytes) -> str:
    """Return the text of a MIDI event, whatever its encoding: the file does not say.

    UTF-16 with its mark and UTF-8 are recognized; anything else is read as Windows-1252, in which
    every byte is some character.
    """
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16", errors="replace")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("cp1252", errors="replace")


def printable(text: str, *, limit: int = MAX_NAME) -> str:
    """Return `text` on one line, without control, surrogate or other invisible characters."""
    text = text.replace("\0", "")
    shown = "".join(
        character if character.isprintable() else " " for character in text[: 4 * limit]
    )
    shown = " ".join(shown.split())
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"
