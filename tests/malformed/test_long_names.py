"""A name that no disk could hold is a name that is not there, wherever it is given."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from musicgen.cli.app import app
from musicgen.errors import MusicgenError

LONG, DEEP, NUL = "x" * 300, "a/" * 3000, "a\0b"

COMMANDS = {
    "info": ["info", "NAME"],
    "continue": ["continue", "NAME", "-o", "q.mid"],
    "render": ["render", "NAME", "-o", "q.png"],
    "statistics": ["statistics", "NAME"],
    "statistics --against": ["statistics", "MUSIC", "--against", "NAME"],
    "evaluate, model": ["evaluate", "NAME", "MUSIC"],
    "evaluate, folder": ["evaluate", "piano", "NAME"],
    "generate --model": ["generate", "-o", "q.mid", "--model", "NAME"],
    "generate -o": ["generate", "-o", "NAME/q.mid"],
    "attention --model": ["attention", "PIECE", "-o", "q.png", "--model", "NAME"],
    "copies, file": ["copies", "NAME"],
    "copies --model": ["copies", "PIECE", "--model", "NAME"],
    "ui --model": ["ui", "--model", "NAME"],
    "corpus": ["corpus", "NAME"],
    "corpus -o": ["corpus", "MUSIC", "-o", "NAME"],
    "train": ["train", "NAME", "-o", "q"],
    "train -o": ["train", "MUSIC", "-o", "NAME", "--steps", "1"],
    "train --from": ["train", "MUSIC", "-o", "q", "--from", "NAME"],
    "train --config": ["train", "MUSIC", "-o", "q", "--config", "NAME"],
}


@pytest.mark.parametrize("name", [LONG, DEEP], ids=["long", "deep"])
@pytest.mark.parametrize("command", COMMANDS)
def test_an_over_long_name_is_a_sentence(starter, tmp_path, monkeypatch, command, name):
    """Guards `OSError: [Errno 36] File name too long` with a traceback, in nearly every command."""
    monkeypatch.chdir(tmp_path)
    known = {"NAME": name, "MUSIC": str(starter), "PIECE": str(min(starter.glob("*.mid")))}
    words = [known.get(word, word.replace("NAME", name)) for word in COMMANDS[command]]
    result = CliRunner().invoke(app, [*words, "--json"])
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == 1
    error = json.loads(result.stdout)["error"]
    assert error["message"].endswith(".")
    assert error["hint"]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", [LONG, DEEP, NUL], ids=["long", "deep", "NUL"])
def test_the_library_finds_nothing_under_an_impossible_name(starter, tmp_path, name):
    """No program can be given a NUL on its command line; a function can."""
    from musicgen.checkpoint import resolve_checkpoint
    from musicgen.corpus import list_music
    from musicgen.midi import read_midi

    for look in (resolve_checkpoint, read_midi):
        with pytest.raises(MusicgenError):
            look(name)
    with pytest.raises(MusicgenError, match="There is no folder"):
        list_music(starter / name)
