"""MIDI bytes in and out, with exact times; the only room that knows symusic, mido, pretty_midi."""

from __future__ import annotations

from musicgen.midi.document import MidiDocument, MidiFacts, MidiWarning, ReadLimits, TrackFacts
from musicgen.midi.extend import PART_NAME, extend
from musicgen.midi.facts import describe
from musicgen.midi.folder import find_midi_files, read_folder
from musicgen.midi.notes import NoteTable, fold_pedal, note_table, notes_to_score, pedal_spans
from musicgen.midi.prompt import Prompt, cut_prompt
from musicgen.midi.read import read_midi
from musicgen.midi.timing import TempoMap
from musicgen.midi.write import score_to_bytes, to_pretty_midi, write_midi

__all__ = [
    "PART_NAME",
    "MidiDocument",
    "MidiFacts",
    "MidiWarning",
    "NoteTable",
    "Prompt",
    "ReadLimits",
    "TempoMap",
    "TrackFacts",
    "cut_prompt",
    "describe",
    "extend",
    "find_midi_files",
    "fold_pedal",
    "note_table",
    "notes_to_score",
    "pedal_spans",
    "read_folder",
    "read_midi",
    "score_to_bytes",
    "to_pretty_midi",
    "write_midi",
]
