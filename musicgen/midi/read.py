"""Reading MIDI files: bytes in, a checked document out."""

from __future__ import annotations

from pathlib import Path

from symusic import Score

from musicgen.errors import EmptyScoreError, MidiReadError
from musicgen.midi.document import MidiDocument, MidiFacts, ReadLimits, TrackFacts
from musicgen.midi.notes import note_table


def read_midi(
    source: str | Path | bytes, *, name: str | None = None, limits: ReadLimits = ReadLimits()
) -> MidiDocument:
    """Read one MIDI file.

    Raises:
        MidiReadError: It cannot be read as music.
        EmptyScoreError: It holds no note.
    """
    if isinstance(source, bytes):
        data = source
    else:
        data = Path(source).read_bytes()
        name = name or Path(source).name
    try:
        score = Score.from_midi(data)
    except (RuntimeError, ValueError) as error:
        raise MidiReadError(f"The MIDI file is corrupt: {error}.") from error
    if not score.note_num():
        raise EmptyScoreError("The MIDI file holds no note.")
    return MidiDocument(name=name or "music.mid", score=score, data=data)


def describe(document: MidiDocument) -> MidiFacts:
    """Return what a document holds: notes (drums too), times and tracks."""
    notes = note_table(document.score, include_drums=True)
    tracks = tuple(
        TrackFacts(name=t.name, program=t.program, is_drum=t.is_drum, notes=len(t.notes))
        for t in document.score.tracks
    )
    return MidiFacts(
        notes=len(notes),
        first_s=float(notes.onset_s.min(initial=0.0)) if not len(notes) else float(notes.onset_s[0]),
        end_s=float(notes.end_s.max(initial=0.0)),
        tracks=tracks,
        warnings=tuple(dict.fromkeys(w.code for w in document.warnings)),
    )
