"""MIDI bytes in and out, with exact times; the only room that knows symusic, mido, pretty_midi."""

from __future__ import annotations

from musicgen.midi.document import MidiDocument, MidiFacts, MidiWarning, ReadLimits, TrackFacts
from musicgen.midi.extend import PART_NAME, extend
from musicgen.midi.facts import describe
from musicgen.midi.folder import MIDI_SUFFIXES, find_midi_files, read_folder
from musicgen.midi.meter import Meter, find_meter
from musicgen.midi.muting import muted_events
from musicgen.midi.names import KEY_NAMES, PLAIN_TONIC_NAMES, note_name, plain_note_name
from musicgen.midi.notes import NoteTable, fold_pedal, note_table, notes_to_score, pedal_spans
from musicgen.midi.prompt import Prompt, cut_prompt
from musicgen.midi.read import file_bytes, read_midi
from musicgen.midi.text import printable
from musicgen.midi.texts import texts, with_text
from musicgen.midi.timing import TempoMap
from musicgen.midi.write import score_to_bytes, to_pretty_midi, write_midi

__all__ = [
    "KEY_NAMES",
    "MIDI_SUFFIXES",
    "PART_NAME",
    "PLAIN_TONIC_NAMES",
    "Meter",
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
    "file_bytes",
    "find_meter",
    "find_midi_files",
    "fold_pedal",
    "muted_events",
    "note_name",
    "note_table",
    "notes_to_score",
    "pedal_spans",
    "plain_note_name",
    "printable",
    "read_folder",
    "read_midi",
    "score_to_bytes",
    "texts",
    "to_pretty_midi",
    "with_text",
    "write_midi",
]
