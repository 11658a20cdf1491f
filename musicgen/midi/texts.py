"""Texts that stand in a MIDI file beside the music: found, and set in front."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from musicgen.midi.events import META
from musicgen.midi.precheck import events_of

if TYPE_CHECKING:
    from musicgen.midi.document import MidiDocument

_TEXT = 0x01
_TRACK_BEGIN = 22  # behind the header of 14 bytes, and the first track's name and length
_MAX_LENGTH = 2**28 - 1  # of a text, as a variable-length quantity


def texts(document: MidiDocument, *, prefix: bytes) -> tuple[bytes, ...]:
    """Return the texts of a file that begin with `prefix`, track after track, in order of time.

    Names, lyrics and markers are events of other kinds and none of these.
    """
    if prefix not in document.data:  # most files: nothing is taken apart
        return ()
    events = events_of(document.data)
    found = (events.payload(i) for i in np.flatnonzero(events.is_meta(_TEXT)).tolist())
    return tuple(text for text in found if text.startswith(prefix))


def with_text(data: bytes, text: str) -> bytes:
    """Return a file of our own with a text at the start of its first track.

    Not another byte of it changes, but the length of that track.

    Args:
        data: What `score_to_bytes` returned.
        text: In ASCII, which every reader takes as it is.

    Raises:
        ValueError: The text is not ASCII or too long, or `data` is no file of ours.
    """
    if not text.isascii() or len(text) > _MAX_LENGTH:
        raise ValueError("the text must be ASCII and shorter than 256 MB")
    if len(data) < _TRACK_BEGIN or data[14:18] != b"MTrk":
        raise ValueError("the first track of the file does not follow its header")
    event = bytes([0, META, _TEXT]) + _quantity(len(text)) + text.encode("ascii")
    length = int.from_bytes(data[18:22], "big") + len(event)
    return data[:18] + length.to_bytes(4, "big") + event + data[_TRACK_BEGIN:]


def _quantity(value: int) -> bytes:
    """Return a whole number as MIDI writes lengths: seven bits a byte, the highest first."""
    digits = [value & 0x7F]
    while value := value >> 7:
        digits.append(value & 0x7F | 0x80)
    return bytes(reversed(digits))
