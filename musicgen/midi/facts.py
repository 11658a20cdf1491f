"""What a MIDI file holds, in figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musicgen.midi.document import MidiDocument, MidiFacts, TrackFacts
from musicgen.midi.notes import note_table
from musicgen.midi.text import printable

if TYPE_CHECKING:
    from symusic.core import ScoreTick as Score


def track_facts(score: Score) -> tuple[TrackFacts, ...]:
    """Return the instruments of a score that have notes."""
    return tuple(
        TrackFacts(
            name=printable(track.name),
            program=track.program,
            is_drum=track.is_drum,
            notes=len(track.notes),
        )
        for track in score.tracks
        if len(track.notes)
    )


def describe(document: MidiDocument) -> MidiFacts:
    """Return what a document holds: notes (drums too), times and instruments."""
    notes = note_table(document.score, include_drums=True)
    return MidiFacts(
        notes=len(notes),
        first_s=float(notes.onset_s[0]) if len(notes) else 0.0,
        end_s=float(notes.end_s.max(initial=0.0)),
        tracks=track_facts(document.score),
        warnings=tuple(dict.fromkeys(warning.code for warning in document.warnings)),
    )
