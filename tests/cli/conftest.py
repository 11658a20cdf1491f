"""What the command line's tests share: a small model with random weights and a piece of music."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def small_model(tmp_path_factory) -> Path:
    import torch

    from musicgen.checkpoint import save_checkpoint
    from musicgen.model import Decoder, DecoderConfig
    from musicgen.tokens import get_tokenizer

    tokenizer = get_tokenizer("piano")
    config = DecoderConfig(
        vocab_sizes=tokenizer.vocab_sizes,
        d_model=32,
        n_layers=2,
        n_heads=4,
        d_ff=48,
        d_head_ff=32,
        max_seq_len=64,
    )
    decoder = Decoder(config)
    noise = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in decoder.parameters():
            if not parameter.any():
                parameter.normal_(0.0, 0.2, generator=noise)
    folder = tmp_path_factory.mktemp("checkpoints") / "small"
    save_checkpoint(
        folder, decoder=decoder, tokenizer=tokenizer, name="small", step=0, training={"why": "test"}
    )
    return folder


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
