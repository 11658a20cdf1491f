"""MIDI bytes in and out, with exact times; the only room that knows symusic, mido, pretty_midi."""

from __future__ import annotations

from musicgen.midi.document import MidiDocument, MidiFacts, MidiWarning, ReadLimits, TrackFacts
from musicgen.midi.folder import find_midi_files, read_folder
from musicgen.midi.notes import NoteTable, fold_pedal, note_table, notes_to_score, pedal_spans
from musicgen.midi.read import describe, read_midi
from musicgen.midi.timing import TempoMap

__all__ = [
    "MidiDocument",
    "MidiFacts",
    "MidiWarning",
    "NoteTable",
    "ReadLimits",
    "TempoMap",
    "TrackFacts",
    "describe",
    "find_midi_files",
    "fold_pedal",
    "note_table",
    "notes_to_score",
    "pedal_spans",
    "read_folder",
    "read_midi",
]
