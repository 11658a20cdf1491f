"""Folders of MIDI files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from musicgen.errors import MidiReadError
from musicgen.midi.document import MidiDocument, ReadLimits
from musicgen.midi.read import read_midi

MIDI_SUFFIXES = (".mid", ".midi", ".kar", ".rmi")


def find_midi_files(root: str | Path) -> list[Path]:
    """Return the MIDI files under `root`, judged by their names, sorted.

    Links are followed, each folder once, so a link to a folder above does not loop. macOS's `._*`
    companions are no music and left out.
    """
    seen: set[tuple[int, int]] = set()
    found: list[Path] = []
    for folder, subfolders, names in os.walk(root, followlinks=True):
        status = os.stat(folder)
        identity = (status.st_dev, status.st_ino)
        if identity in seen:
            subfolders.clear()
            continue
        seen.add(identity)
        subfolders.sort()
        found += [
            Path(folder, name)
            for name in names
            if name.lower().endswith(MIDI_SUFFIXES) and not name.startswith("._")
        ]
    return sorted(found)


def read_folder(
    root: str | Path, *, limits: ReadLimits = ReadLimits()
) -> Iterator[tuple[Path, MidiDocument | MidiReadError]]:
    """Read the MIDI files under `root` in order; a file that fails yields its error instead."""
    for path in find_midi_files(root):
        try:
            yield path, read_midi(path, limits=limits)
        except MidiReadError as error:
            yield path, error
