"""Finished pieces by their unguessable names, and their sound on disk.

The server's own routes serve from here, outside any visitor's session, so a piece stays reachable
while a page is drawn anew, and is gone when the shelf lets it go.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from musicgen.errors import AudioError
from musicgen.files import is_file
from musicgen.ui.pieces import Piece

SoundKind = Literal["wav", "mp3"]
_MAX_PIECES = 400
_MAX_SOUND_BYTES = 1 << 30


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
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        # One piece is rendered at a time: two cores, many tabs.
        self._synthesizer = threading.Lock()
        self._places: OrderedDict[str, _Place] = OrderedDict()

    def put(self, piece: Piece) -> Piece:
        """Keep a piece; the ones used longest ago make room."""
        with self._lock:
            self._places[piece.id] = _Place(piece=piece)
            gone = [
                self._places.popitem(last=False)[0]
                for _ in range(max(0, len(self._places) - _MAX_PIECES))
            ]
        for name in gone:
            self._forget_sound(name)
        return piece

    def get(self, name: str) -> Piece | None:
        """Return the piece of that name, if it is still here."""
        place = self._find(name)
        return None if place is None else place.piece

    def drop(self, name: str) -> None:
        """Let a piece and its sound go."""
        with self._lock:
            self._places.pop(name, None)
        self._forget_sound(name)

    def sound(self, name: str, kind: SoundKind) -> Path | None:
        """Return the file with a piece's sound, made when it is first asked for.

        Raises:
            AudioError: The synthesizer failed; it is not asked again for this piece.
        """
        place = self._find(name)
        if place is None:
            return None
        path = self._folder / f"{name}.{kind}"
        with place.lock:
            if place.failure is not None:
                raise place.failure
            if not is_file(path):
                try:
                    self._render(place, path, kind)
                except AudioError as error:
                    place.failure = error
                    raise
        self._sweep(keep=name)
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

    def _render(self, place: _Place, path: Path, kind: SoundKind) -> None:
        from musicgen.audio import mp3_bytes, render, wav_bytes

        with self._synthesizer:
            sound = render(place.piece.midi)
            data = wav_bytes(sound) if kind == "wav" else mp3_bytes(sound)
        place.warnings, place.gain = tuple(sound.warnings), sound.gain
        partial = path.with_suffix(".part")
        try:
            partial.write_bytes(data)
            partial.replace(path)
        except OSError as error:
            raise AudioError(
                f"The sound could not be written: {error.strerror}.",
                hint="Make room on the disk that holds temporary files.",
            ) from error

    def _forget_sound(self, name: str) -> None:
        for kind in ("wav", "mp3"):
            (self._folder / f"{name}.{kind}").unlink(missing_ok=True)

    def _sweep(self, *, keep: str) -> None:
        """Remove the oldest sound files above the quota; they are made again when asked for."""
        files = sorted(
            ((path, path.stat()) for path in self._folder.glob("*.*")),
            key=lambda entry: entry[1].st_mtime,
        )
        excess = sum(stat.st_size for _, stat in files) - _MAX_SOUND_BYTES
        for path, stat in files:
            if excess <= 0:
                return
            if path.stem != keep:
                path.unlink(missing_ok=True)
                excess -= stat.st_size
