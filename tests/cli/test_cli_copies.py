"""`musicgen copies`: the command, and the same check by the pipeline."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from musicgen.checkpoint import add_file
from musicgen.errors import CheckpointError
from musicgen.evaluation.copies import INDEX_FILE, build_copy_index, index_to_bytes
from musicgen.midi import NoteTable, note_table, notes_to_score, read_midi, write_midi


@pytest.fixture(scope="module")
def song(tmp_path_factory) -> Path:
    """Return a file of 200 notes that wander."""
    rng = np.random.default_rng(4)
    onset = np.cumsum(rng.choice([0.2, 0.4], 200))
    pitch = np.clip(60 + np.cumsum(rng.integers(-4, 5, 200)), 40, 90)
    file = tmp_path_factory.mktemp("song") / "song.mid"
    write_midi(notes_to_score(NoteTable.of(onset, onset + 0.2, pitch, np.full(200, 60))), file)
    return file


@pytest.fixture
def knowing(small_model: Path, song: Path, tmp_path: Path) -> Path:
    """Return a model that carries the index of one song."""
    folder = tmp_path / "knowing"
    shutil.copytree(small_model, folder)
    notes = note_table(read_midi(song).score)
    index = build_copy_index([("song.mid", notes)])
    add_file(folder, INDEX_FILE, index_to_bytes(index))
    return folder


def test_a_copied_file_is_named_with_its_place(call, call_json, knowing, song):
    report = call_json("copies", song, "--model", knowing)
    assert report["ok"] is True
    assert report["passage"]["piece"] == "song.mid"
    assert report["passage"]["transposition"] == 0
    assert report["passage"]["notes"] > 150
    assert report["yardstick"] is None
    said = call("copies", song, "--model", knowing).stdout
    assert "shared with song.mid" in said
    assert "+0 semitones" in said


def test_an_unreadable_file_stops_nothing(call, knowing, song, tmp_path):
    bad = tmp_path / "bad.mid"
    bad.write_bytes(b"no music")
    result = call("copies", bad, song, "--model", knowing)
    assert result.exit_code == 1
    assert "shared with song.mid" in result.stdout


def test_a_model_without_an_index_says_so(call, small_model, song):
    result = call("copies", song, "--model", small_model)
    assert result.exit_code == 1
    assert "carries no copy index" in result.stderr


def test_the_pipeline_checks_files_and_takes(knowing, small_model, song):
    """Guards: a prompt taken from the corpus counts as a copy of the model's."""
    from musicgen.pipeline import MusicPipeline

    pipeline = MusicPipeline.load(knowing, device="cpu", engine="torch")
    assert pipeline.check_copies(song).passage.notes > 150
    take = pipeline.continue_(song, seconds=5.0, seed=1)
    found = pipeline.check_copies(take).passage
    assert found is None or found.notes < 30
    with pytest.raises(CheckpointError, match="no copy index"):
        MusicPipeline.load(small_model, device="cpu", engine="torch").check_copies(song)
    unsaved = MusicPipeline(pipeline.model, pipeline.tokenizer)
    with pytest.raises(CheckpointError, match="not loaded"):
        unsaved.check_copies(song)
