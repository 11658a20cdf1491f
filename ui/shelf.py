"""Finished pieces by their unguessable names, and their sound on disk.

The server's own routes serve from here, outside any visitor's session, so a piece stays reachable
while a page is drawn anew, and is gone when the shelf lets it go.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from musicgen.audio import SoundFile, SoundKind, sound_file
from musicgen.errors import AudioError
from musicgen.files import is_file
from musicgen.ui.pieces import Piece

_MAX_PIECES = 400
_MAX_SOUND_BYTES = 1 << 30
_MOMENT_S: Final = 30.0
"""So long what nobody should need any more can be had: a page may be about to ask for it, or in the
middle of it,"""
_MOST_LEAVING: Final = 24
"""but not more than so many pieces."""


@dataclass(slots=True, kw_only=True)
class _Place:
    piece: Piece
    lock: threading.Lock = field(default_factory=threading.Lock)
    failure: AudioError | None = None
    warnings: tuple[str, ...] = ()
    gain: float | None = None


class Shelf:
    """Pieces and their sound files; safe to use from many threads.

    Args:
        folder: Where the sound files go; the shelf owns it.
        play: Plays a MIDI file into a sound file, as `sound_file` does.
    """

    def __init__(self, folder: Path, play: Callable[..., SoundFile] = sound_file) -> None:
        self._folder = folder
        self._play = play
        self._lock = threading.Lock()
        # One piece is rendered at a time: two cores, many tabs.
        self._synthesizer = threading.Lock()
        self._places: OrderedDict[str, _Place] = OrderedDict()
        self._leaving: OrderedDict[str, float] = OrderedDict()  # since when, the latest at the end

    def put(self, piece: Piece) -> Piece:
        """Keep a piece; the ones used longest ago make room."""
        with self._lock:
            self._leaving.pop(piece.id, None)
            self._places.setdefault(piece.id, _Place(piece=piece)).piece = piece
            gone = [
                self._places.popitem(last=False)[0]
                for _ in range(max(0, len(self._places) - _MAX_PIECES))
            ]
        for name in (*gone, *self._left()):
            self.drop(name)
        return piece

    def get(self, name: str) -> Piece | None:
        """Return the piece of that name, if it is still here."""
        place = self._find(name)
        return None if place is None else place.piece

    def rename(self, name: str, title: str) -> None:
        """Call a piece by another title; its sound stays."""
        with self._lock:
            place = self._places.get(name)
            if place is not None:
                place.piece = replace(place.piece, title=title)

    def leave(self, name: str) -> None:
        """Let a piece and its sound go, but not in the very moment."""
        with self._lock:
            self._leaving.setdefault(name, time.monotonic())
        for gone in self._left():
            self.drop(gone)

    def drop(self, name: str) -> None:
        """Let a piece and its sound go."""
        with self._lock:
            self._places.pop(name, None)
            self._leaving.pop(name, None)
        self._forget_sound(name)

    def sound(self, name: str, kind: SoundKind, *, muted: Collection[int] = ()) -> Path | None:
        """Return the file with a piece's sound, made when it is first asked for.

        Args:
            name: The piece's.
            kind: Of file.
            muted: Tracks that are not to be heard; numbers of none change nothing.

        Raises:
            AudioError: The synthesizer failed; it is not asked again for this piece.
        """
        place = self._find(name)
        if place is None:
            return None
        tracks = frozenset(muted) & frozenset(range(len(place.piece.preview.tracks)))
        part = f".{sum(1 << track for track in tracks):x}" if tracks else ""
        path = self._folder / f"{name}{part}.{kind}"
        with place.lock:
            if place.failure is not None:
                raise place.failure
            if not is_file(path):
                try:
                    self._render(place, path, kind, tracks)
                except AudioError as error:
                    if not tracks:
                        place.failure = error
                    raise
            with suppress(OSError):
                os.utime(path)  # it is about to be read
        self._sweep()
        return path

    def failure(self, name: str) -> AudioError | None:
        """Return why a piece has no sound, if that was tried."""
        place = self._find(name)
        return None if place is None else place.failure

    def warnings(self, name: str) -> tuple[str, ...]:
        """Return what the synthesizer had to replace in a piece's sound."""
        place = self._find(name)
        return () if place is None else place.warnings

    def gain(self, name: str) -> float | None:
        """Return what the synthesizer's samples were multiplied with, once there is a sound."""
        place = self._find(name)
        return None if place is None else place.gain

    def _find(self, name: str) -> _Place | None:
        with self._lock:
            place = self._places.get(name)
            if place is not None:
                self._places.move_to_end(name)
            return place

    def _render(self, place: _Place, path: Path, kind: SoundKind, muted: frozenset[int]) -> None:
        # What is left of a piece sounds as loud as it does in the whole.
        part = {"muted": muted, "most_gain": place.gain} if muted else {}
        with self._synthesizer:
            sound = self._play(place.piece.midi, kind, **part)
        if not muted:
            place.warnings, place.gain = sound.warnings, sound.gain
        partial = path.with_suffix(".part")
        try:
            partial.write_bytes(sound.data)
            partial.replace(path)
        except OSError as error:
            raise AudioError(
                f"The sound could not be written: {error.strerror}.",
                hint="Make room on the disk that holds temporary files.",
            ) from error

    def _left(self) -> list[str]:
        """Return what was let go a moment ago."""
        until_s = time.monotonic() - _MOMENT_S
        with self._lock:
            surplus = len(self._leaving) - _MOST_LEAVING
            return [
                name
                for place, (name, at_s) in enumerate(self._leaving.items())
                if place < surplus or at_s < until_s
            ]

    def _forget_sound(self, name: str) -> None:
        for path in self._folder.glob(f"{name}.*"):
            with suppress(OSError):  # where a file that is being read cannot be removed
                path.unlink(missing_ok=True)

    def _sweep(self) -> None:
        """Remove the oldest sound files above the quota; they are made again when asked for."""
        entries = []
        for path in self._folder.glob("*.*"):
            with suppress(OSError):  # it has just been removed
                entries.append((path, path.stat()))
        entries.sort(key=lambda entry: entry[1].st_mtime)
        excess = sum(stat.st_size for _, stat in entries) - _MAX_SOUND_BYTES
        until_s = time.time() - _MOMENT_S
        for path, stat in entries:
            if excess <= 0 or stat.st_mtime > until_s:
                return
            with suppress(OSError):
                path.unlink(missing_ok=True)
                excess -= stat.st_size
