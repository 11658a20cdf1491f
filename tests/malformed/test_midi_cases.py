"""The collection of hostile files and the wild ones, where they are at hand."""

from __future__ import annotations

import io
import json
import os
import time
from pathlib import Path

import mido
import pytest

from musicgen.errors import MidiReadError
from musicgen.midi import MidiDocument, MidiFacts, describe, note_table, read_midi

_FOLDER = os.environ.get("MUSICGEN_MIDI_CASES", "")
_MANIFEST = Path(_FOLDER, "manifest.json")
_CASES = json.loads(_MANIFEST.read_text())["cases"] if _FOLDER and _MANIFEST.is_file() else []


def _read(path: Path) -> MidiDocument | MidiReadError:
    try:
        return read_midi(path)
    except MidiReadError as error:
        return error


def _within(value: float, due: float | list[float], slack: float) -> bool:
    low, high = due if isinstance(due, list) else (due, due)
    return low - slack <= value <= high + slack


def _check_facts(facts: MidiFacts, due: dict) -> None:
    assert _within(facts.notes, due["notes"], 0)
    assert _within(facts.first_s, due["first_s"], 0.02)
    assert _within(facts.end_s, due["end_s"], 0.02)
    if "drum_notes" in due:
        assert sum(track.notes for track in facts.tracks if track.is_drum) == due["drum_notes"]


@pytest.mark.parametrize("case", _CASES or [None], ids=lambda case: case and case["file"])
def test_the_collection_gets_what_its_manifest_says(case: dict | None, midi_cases: Path) -> None:
    assert case is not None, "the folder has no manifest"
    began = time.thread_time()
    result = _read(midi_cases / case["file"])
    assert time.thread_time() - began < case["limits"]["seconds"]
    assert (case["expect"] == "refuse") == isinstance(result, MidiReadError)
    if isinstance(result, MidiReadError):
        assert result.hint
        said = result.message.lower()
        assert any(word.lower() in said for word in case["cause"]), said
        return
    document = result
    _check_facts(describe(document), case["facts"])
    assert bool(document.warnings) == case["warn"]
    table = note_table(document.score, include_drums=True)
    assert (table.end_s > table.onset_s).all()
    if "longest_s" in case["facts"]:
        longest = float((table.end_s - table.onset_s).max())
        assert _within(longest, case["facts"]["longest_s"], 0.02)
    if "time_sigs" in case["facts"]:
        found = [[s.numerator, s.denominator] for s in document.score.time_signatures]
        assert found == case["facts"]["time_sigs"]


def _count(data: bytes) -> int:
    """Count the notes that sound, by mido's events alone."""
    notes = 0
    for track in mido.MidiFile(file=io.BytesIO(data)).tracks:
        tick, open_ = 0, {}
        for message in track:
            tick += message.time
            if message.type == "note_on" and message.velocity:
                open_.setdefault((message.channel, message.note), []).append(tick)
            elif message.type in ("note_on", "note_off"):
                starts = open_.get((message.channel, message.note))
                notes += bool(starts) and starts.pop(0) < tick
    return notes


def test_wild_files_are_read_as_an_independent_count_says_or_refused(wild_midi: Path) -> None:
    read = 0
    for path in sorted(wild_midi.glob("*.mid*")):
        document = _read(path)
        if isinstance(document, MidiReadError):
            assert document.hint, path.name
            continue
        read += 1
        facts = describe(document)
        assert facts.notes == _count(document.data), path.name
        if not document.warnings:
            try:
                theirs = _count(path.read_bytes())
            except (OSError, EOFError, ValueError, KeyError, IndexError):
                continue  # mido cannot read the file as it is
            assert facts.notes == theirs, path.name
    assert read >= 60
