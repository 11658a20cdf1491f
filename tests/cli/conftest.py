"""What the command line's tests share: a small model with random weights and a piece of music."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def small_model(tmp_path_factory) -> Path:
    from small_models import save_small, small_decoder

    folder = tmp_path_factory.mktemp("checkpoints") / "small"
    return save_small(folder, small_decoder(), training={"why": "test"})


@pytest.fixture(scope="session")
def piece(tmp_path_factory) -> Path:
    """Return a file of 24 notes in 6 seconds."""
    from musicgen.midi import NoteTable, notes_to_score, write_midi

    onset = [i / 4 for i in range(24)]
    notes = NoteTable.of(
        onset, [at + 0.24 for at in onset], [50 + (7 * i) % 30 for i in range(24)], [60] * 24
    )
    file = tmp_path_factory.mktemp("music") / "piece.mid"
    write_midi(notes_to_score(notes), file)
    return file


@pytest.fixture
def call():
    """Run a command in this process and return its result."""
    from typer.testing import CliRunner

    from musicgen.cli.app import app

    def invoke(*args: object):
        result = CliRunner().invoke(app, [str(arg) for arg in args])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return invoke


@pytest.fixture
def call_json(call):
    """Run a command with --json that must succeed, and return what it printed."""

    def invoke(*args: object):
        result = call(*args, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    return invoke
