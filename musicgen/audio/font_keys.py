"""A SoundFont whose instruments play every key: beyond their own, by their outermost samples.

Samples end where the instrument does, a piano's at key 108. A model with random weights writes any
key from 0 to 127, and so do some files; without a sample a synthesizer plays nothing, so that notes
would be seen and not heard. Drum kits stay as they are: there each key is another drum.

Source of the format: the SoundFont technical specification 2.04 (Creative, 2006), chapter 7.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

_KEY_RANGE, _INSTRUMENT = 43, 41  # generators
_HIGHEST_KEY = 127
_HEADER, _INSTRUMENT_HEADER = 38, 22  # bytes of a record; the last of each kind ends the list
_BAG = _GENERATOR = 4


def with_every_key(font: bytes) -> bytes:
    """Return a SoundFont whose melodic instruments have no key without a sample at either end.

    Args:
        font: A file in the SoundFont 2 format.

    Raises:
        ValueError: It has no lists of instruments.
    """
    data = bytearray(font)
    at = _lists(font)
    bags, generators = at["ibag"][0], at["igen"][0]
    for instrument in _melodic(font, at):
        record = at["inst"][0] + instrument * _INSTRUMENT_HEADER + 20
        first, end = (_number(font, record + more) for more in (0, _INSTRUMENT_HEADER))
        edges = (_number(font, bags + _BAG * bag) for bag in (first, end))
        ranges = [
            place + 2
            for place in (generators + _GENERATOR * one for one in range(*edges))
            if _number(font, place) == _KEY_RANGE
        ]
        lowest = min((font[place] for place in ranges), default=0)
        highest = max((font[place + 1] for place in ranges), default=_HIGHEST_KEY)
        for place in ranges:
            if font[place] == lowest:
                data[place] = 0
            if font[place + 1] == highest:
                data[place + 1] = _HIGHEST_KEY
    return bytes(data)


def _melodic(font: bytes, at: dict[str, tuple[int, int]]) -> set[int]:
    """Return the instruments that no drum kit uses."""
    found: dict[bool, set[int]] = {True: set(), False: set()}
    start, size = at["phdr"]
    for place in range(start, start + size - _HEADER, _HEADER):
        _, bank, first = struct.unpack_from("<3H", font, place + 20)
        end = _number(font, place + _HEADER + 24)
        edges = (_number(font, at["pbag"][0] + _BAG * bag) for bag in (first, end))
        for one in range(*edges):
            kind, value = struct.unpack_from("<2H", font, at["pgen"][0] + _GENERATOR * one)
            if kind == _INSTRUMENT:
                found[bank == 0].add(value)
    return found[True] - found[False]


def _lists(font: bytes) -> dict[str, tuple[int, int]]:
    """Return where the lists of presets and instruments begin, and how long they are, in bytes."""
    for name, at, size in _chunks(font, 12, len(font)):
        if name == "LIST" and font[at : at + 4] == b"pdta":
            return {name: (at, size) for name, at, size in _chunks(font, at + 4, at + size)}
    raise ValueError("there is no list of instruments in this SoundFont")


def _chunks(font: bytes, begin: int, end: int) -> Iterator[tuple[str, int, int]]:
    at = begin
    while at + 8 <= end:
        name, size = struct.unpack_from("<4sL", font, at)
        yield name.decode("latin-1"), at + 8, size
        at += 8 + size + size % 2


def _number(font: bytes, at: int) -> int:
    return struct.unpack_from("<H", font, at)[0]
