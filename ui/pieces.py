"""A piece of music as the app holds it: its bytes, its notes, and what the roll is told of it."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final, Literal

from musicgen.pipeline import preview, read_midi
from musicgen.studio.restoring import restored
from musicgen.studio.take_bundle import safe_stem
from musicgen.ui import strings
from musicgen.ui.markup import one_line
from musicgen.ui.parts import part_names

if TYPE_CHECKING:
    from musicgen.midi import Meter, MidiDocument
    from musicgen.pipeline import Preview, Take
    from musicgen.studio.take_folder import StoredTake

Kind = Literal["example", "prompt", "take"]
EMPTY: Final[dict[str, list[int]]] = {"on": [], "len": [], "pitch": [], "vel": [], "track": []}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Piece:
    """Something that can be seen and heard.

    Attributes:
        id: 128 random bits: its name in addresses, which nobody can guess; of an example its hash.
        kind: An example of the shipped model, the visitor's own file, or a take.
        title: What it is called on the page; foreign text, to be escaped there.
        preview: Its notes, tracks and pedal.
        prompt_end_s: Where the visitor's part ends and the model's begins.
        take: What the model said about it, if it is a take.
        model: Folder of the model that made it; None for the studio's own.
    """

    id: str
    kind: Kind
    title: str
    preview: Preview
    prompt_end_s: float = 0.0
    take: Take | None = field(default=None, repr=False)
    model: str | None = None

    @property
    def midi(self) -> bytes:
        """The MIDI file."""
        return self.preview.data

    def document(self) -> MidiDocument:
        """Return the MIDI file as the pipeline reads it, which calls it by its name in messages."""
        return read_midi(self.midi, name=self.title)

    @property
    def file_stem(self) -> str:
        """A harmless file name without its extension."""
        return safe_stem(self.title, "music")

    @property
    def new_track(self) -> int | None:
        """The track that the model added; −1 where all is the visitor's, None where nothing is."""
        if self.kind == "prompt":
            return -1
        added = self.kind == "take" and self.prompt_end_s > 0
        return int(self.preview.notes.track.max()) if added else None

    def on_roll(self, before: str | None = None) -> dict[str, Any]:
        """Return what the roll needs to draw and play it.

        Args:
            before: What the take is called that the music began with, where that was no file.
        """
        tracks = part_names(self.preview.tracks, new_track=self.new_track, before=before)
        return {
            "id": self.id,
            "kind": self.kind,
            "title": one_line(self.title, longest=80),
            "seconds": round(self.preview.end_s, 3),
            "promptEnd": round(self.prompt_end_s, 3),
            "newTrack": self.new_track,
            "notes": columns(self.preview.notes),
            "tracks": tracks,
            "meter": _meter(self.preview.meter),
            "pedals": [[round(a, 3), round(b, 3)] for a, b in self.preview.pedals],
            "audio": f"listen/{self.id}.wav",
            "maps": f"attention/{self.id}",
            "deaf": self.preview.is_drums_only,
            "live": None,
        }


def _meter(meter: Meter | None) -> dict[str, Any] | None:
    """Return beats in milliseconds, which of them begin bars, and whether notes keep to them."""
    if meter is None:
        return None
    return {
        "beats": (meter.beat_s * 1000).round().astype(int).tolist(),
        "bars": meter.bar_beats.tolist(),
        "kept": meter.is_kept_to,
    }


def columns(notes: Any) -> dict[str, list[int]]:
    """Return a note table as whole numbers, times in milliseconds: a third of the JSON's size."""
    onset = (notes.onset_s * 1000).round().astype(int)
    end = (notes.end_s * 1000).round().astype(int)
    return {
        "on": onset.tolist(),
        "len": (end - onset).clip(1).tolist(),
        "pitch": notes.pitch.tolist(),
        "vel": notes.velocity.tolist(),
        "track": notes.track.tolist(),
    }


def new_id() -> str:
    """Return a name that nobody can guess."""
    return secrets.token_hex(16)


def from_take(
    take: Take, *, title: str, name: str | None = None, model: str | None = None
) -> Piece:
    """Make a piece of what the model made.

    Args:
        take: What it made.
        title: What it is called on the page.
        name: Its unguessable name, if it has one already: that of the job.
        model: Folder of the model that made it; None for the studio's own.
    """
    return Piece(
        id=name or new_id(),
        kind="take",
        title=title,
        preview=preview(take.midi, name=title, written_until_s=take.prompt_seconds or None),
        prompt_end_s=_seam_s(take),
        take=take,
        model=model,
    )


def _seam_s(take: Take) -> float:
    """Return where the prompt ends in a take's file; 0 where it was left out of it."""
    return take.prompt_seconds if take.notes > len(take.new_notes) else 0.0


def from_stored(stored: StoredTake) -> Piece:
    """Make a piece of a take that lay on the disk.

    Raises:
        MidiReadError: Its file is no music any more.
    """
    sheet = stored.sheet
    until_s = sheet.facts.prompt_seconds or None
    seen = preview(stored.midi, name=sheet.title, written_until_s=until_s)
    take = restored(stored, seen)
    return Piece(
        id=sheet.id,
        kind="take",
        title=sheet.title,
        preview=seen,
        prompt_end_s=_seam_s(take),
        take=take,
        model=sheet.settings.model_folder,
    )


def from_upload(data: bytes, *, name: str, seconds: float | None = None) -> Piece:
    """Read a visitor's file.

    Args:
        data: The file's bytes, of any kind.
        name: The name that it came with; shown, never used as a path.
        seconds: How much of it to use; all of it without.

    Raises:
        MidiReadError: It cannot be used.
    """
    title = one_line(PurePath(name).name, longest=80) or strings.YOUR_MIDI
    seen = preview(data, name=title, seconds=seconds)
    return Piece(id=new_id(), kind="prompt", title=title, preview=seen, prompt_end_s=seen.end_s)


def examples(folder: Path) -> tuple[Piece, ...]:
    """Read the pieces that are there to be heard before anything is made.

    They are everybody's: each has the same name in every studio, so that a page which outlives one
    finds them in the next.
    """
    found = ((path, path.read_bytes()) for path in sorted(folder.glob("*.mid")))
    return tuple(
        Piece(
            id=hashlib.sha256(data).hexdigest()[:32],
            kind="example",
            title=path.stem.partition("-")[2].replace("-", " ").capitalize(),
            preview=preview(data, name=path.name),
        )
        for path, data in found
    )
