"""A finished piece, and how it came about.

Shapes: T events, K attributes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from musicgen.midi import NoteTable, to_pretty_midi, write_midi

if TYPE_CHECKING:
    from pretty_midi import PrettyMIDI

_FACTS = (
    "notes",
    "seconds",
    "prompt_seconds",
    "prompt_notes",
    "seed",
    "finish_reason",
    "events",
    "events_per_s",
    "engine",
    "model",
    "model_sha256",
    "repairs",
    "warnings",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Take:
    """Music that was made. The same seed, settings, model and engine give the same bytes.

    Attributes:
        midi: The file.
        notes: Notes in the whole file.
        seconds: End of the last note of the whole file.
        prompt_seconds: Length of the music that was gone on from, up to the cut; 0 without.
        prompt_notes: Its notes, drums too.
        seed: What the random numbers began from.
        finish_reason: Why it ends: "length" (what was asked for is reached), "end" (the model ended
            the piece), "stopped" (by whoever listened) or "event_limit" (the model stood still).
        events: New events in the take.
        events_per_s: Events that the model made a second, those that were withdrawn again (a loop,
            another ending) included: its speed, and not how long the take took. 0 where one
            event is too little to tell.
        engine: What computed them.
        model: Name of the checkpoint.
        model_sha256: Hash of its weights.
        repairs: How much was mended: events the decoder skipped or corrected, places that were
            sampled again because of silence, stuck notes, crowds or loops, and an ending held.
        warnings: What a listener should know, in sentences.
        ids: All events (T, K) int64: the prompt's and the new ones.
        new_from: Index in `ids` of the first new event.
        new_notes: The new notes, in the time of the whole piece.
    """

    midi: bytes = field(repr=False)
    notes: int
    seconds: float
    prompt_seconds: float
    prompt_notes: int
    seed: int
    finish_reason: str
    events: int
    events_per_s: float
    engine: str
    model: str
    model_sha256: str
    repairs: int
    warnings: tuple[str, ...]
    ids: np.ndarray = field(repr=False)
    new_from: int
    new_notes: NoteTable = field(repr=False)

    def save(self, path: str | Path) -> Path:
        """Write the MIDI file, whole or not at all, and return its path.

        Raises:
            MidiWriteError: It cannot be written there.
        """
        write_midi(self.midi, path)
        return Path(path)

    def to_pretty_midi(self) -> PrettyMIDI:
        """Return the file as a `pretty_midi.PrettyMIDI`."""
        return to_pretty_midi(self.midi)

    def as_dict(self) -> dict[str, Any]:
        """Return what `--json` prints of a take, but for its file's name."""
        facts = {name: getattr(self, name) for name in _FACTS}
        return {
            **facts,
            "seconds": round(self.seconds, 3),
            "prompt_seconds": round(self.prompt_seconds, 3),
            "events_per_s": round(self.events_per_s, 1),
            "warnings": list(self.warnings),
        }
