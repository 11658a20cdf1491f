"""Output paths are completed and tried out before any work is done."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest
import typer.main

from musicgen.cli.app import app
from musicgen.cli.paths import midi_path, save, suffix_among, take_paths, try_out
from musicgen.errors import MusicgenError

COMMANDS: dict[str, Any] = typer.main.get_command(app).commands  # pyright: ignore


def takes_output(command: Any) -> bool:
    return any("--output" in parameter.opts for parameter in command.params)


@pytest.mark.parametrize(
    ("given", "becomes"),
    [
        ("a.mid", "a.mid"),
        ("a.MIDI", "a.MIDI"),
        ("a", "a.mid"),
        ("song.v2", "song.v2.mid"),
        ("dir.x/a", "dir.x/a.mid"),
        ("-x", "-x.mid"),
        (".mid", ".mid.mid"),
    ],
)
def test_a_midi_name_is_completed(given, becomes):
    assert midi_path(Path(given)) == Path(becomes)


@pytest.mark.parametrize("given", ["a.wav", "a.PNG", "/", "."])
def test_a_name_of_another_kind_is_refused(given):
    with pytest.raises(typer.BadParameter):
        midi_path(Path(given))


def test_takes_are_numbered_from_one():
    out = Path("x/song.v2.mid")
    assert take_paths(out, None) == [out]
    assert take_paths(out, 1) == [Path("x/song.v2-1.mid")]
    assert take_paths(out, 3)[-1] == Path("x/song.v2-3.mid")


def test_the_suffix_chooses_what_is_made():
    assert suffix_among(Path("a.PNG"), (".png", ".npz")) == ".png"
    with pytest.raises(typer.BadParameter, match=r"\.png, \.npz"):
        suffix_among(Path("a.jpg"), (".png", ".npz"))
    # Guards "'.png' should end in .png".
    with pytest.raises(typer.BadParameter, match=r"'\.png' is an ending alone.*'music\.png'"):
        suffix_among(Path(".png"), (".png", ".npz"))


@pytest.mark.parametrize("name", ["new/deep/a.mid", "new/../a.mid", "new/../../a.mid"])
def test_trying_out_leaves_nothing(tmp_path, name):
    """Guards folders that stayed when the command then refused something else."""
    here = tmp_path / "here"
    here.mkdir()
    try_out([here / name])
    assert list(tmp_path.iterdir()) == [here]
    assert not any(here.iterdir())


def test_a_refusal_leaves_no_folder(call, piece, tmp_path):
    """Guards `generate -o new/x.mid --model nope`, after which there was a folder `new`."""
    new = tmp_path / "new" / "deep"
    for args in (
        ("generate", "-o", new / "a.mid", "--model", "nope"),
        ("attention", piece, "-o", new / "a.png", "--model", "nope"),
        ("render", tmp_path / "missing.mid", "-o", new / "a.png"),
        ("train", tmp_path / "missing", "-o", new),
    ):
        assert call(*args).exit_code == 1
        assert not list(tmp_path.iterdir()), args[0]


@pytest.mark.parametrize(
    "command", ["generate", "continue", "again", "render", "attention", "train", "corpus"]
)
def test_every_command_makes_the_folder_of_its_output(call, piece, small_model, tmp_path, command):
    """Guards the promise of docs/cli.md, also for a command that is added."""
    new = tmp_path / "new" / "deep"
    args = {
        "generate": ("-o", new / "a.mid", "--model", small_model, "--seconds", 1),
        "continue": (piece, "-o", new / "a.mid", "--model", small_model, "--seconds", 1),
        "again": (tmp_path / "take.mid", "-o", new / "a.mid", "--model", small_model),
        "render": (piece, "-o", new / "a.png"),
        "attention": (piece, "-o", new / "a.npz", "--model", small_model),
        "train": (piece.parent, "-o", new, "--preset", "tiny", "--steps", 1),
        "corpus": (piece.parent, "-o", new),
    }
    assert set(args) == {name for name, one in COMMANDS.items() if takes_output(one)}
    if command == "again":
        call("generate", "-o", tmp_path / "take.mid", "--model", small_model, "--seconds", 1)
    result = call(command, *args[command])
    assert result.exit_code == 0, result.output
    assert any(new.iterdir())


def test_trying_out_keeps_what_is_there(tmp_path):
    path = tmp_path / "a.mid"
    path.write_bytes(b"precious")
    try_out([path])
    assert path.read_bytes() == b"precious"


def test_the_input_is_never_the_output(tmp_path):
    # A link or another spelling of the same file would have destroyed it all the same.
    source = tmp_path / "in.mid"
    source.write_bytes(b"x")
    link = tmp_path / "link.mid"
    os.link(source, link)
    for path in (source, tmp_path / "." / "in.mid", link):
        with pytest.raises(typer.BadParameter, match="input itself"):
            try_out([tmp_path / "other.mid", path], inputs=[source])
    assert source.read_bytes() == b"x"


def test_what_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "folder.mid").mkdir()
    impossible = [
        tmp_path / "file" / "a.mid",
        tmp_path / "folder.mid",
        tmp_path / ("n" * 300 + ".mid"),
        tmp_path / "nul\0.mid",
        tmp_path / "new" / ("n" * 300) / "a.mid",
        tmp_path / "file" / "new" / "a.mid",
    ]
    for path in impossible:
        with pytest.raises(MusicgenError, match="cannot be written") as caught:
            try_out([path])
        assert caught.value.code == "unwritable-output"
        assert "-o" in caught.value.hint


@pytest.mark.skipif(os.name == "nt", reason="Windows has no named pipes, and few links")
def test_what_is_no_file_is_named_for_what_it_is(tmp_path):
    """Guards "File or stream is not seekable.." and "File exists" where there was none."""
    os.mkfifo(tmp_path / "pipe.mid")
    (tmp_path / "link.mid").symlink_to("nowhere")
    for name, words in (("pipe.mid", "no ordinary file."), ("link.mid", "is not there.")):
        with pytest.raises(MusicgenError) as caught:
            try_out([tmp_path / name])
        assert caught.value.message.endswith(words)
        assert ".." not in caught.value.message
    assert (tmp_path / "link.mid").is_symlink()


def test_a_full_disk_is_told_as_one(tmp_path, monkeypatch):
    """Guards the advice to choose another folder where the disk was full."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(MusicgenError, match="No space left") as caught:
        save(tmp_path / "new" / "a.png", b"one")
    assert caught.value.hint.startswith("Free some space")


def test_saving_replaces_whole_and_leaves_nothing_beside(tmp_path):
    path = tmp_path / ("n" * 250)
    save(path, b"one")
    save(path, b"two")
    assert path.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name == "nt", reason="Windows has few links")
@pytest.mark.parametrize("where", ["beside.png", "deep/other.png"])
def test_what_a_link_leads_to_is_written(tmp_path, where):
    """Guards `render -o link.png`, which put a file in the link's place and left the other old."""
    real = tmp_path / where
    real.parent.mkdir(exist_ok=True)
    real.write_bytes(b"old")
    link = tmp_path / "link.png"
    link.symlink_to(where)
    try_out([link])
    assert real.read_bytes() == b"old"
    save(link, b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    assert [path.name for path in real.parent.iterdir() if path.name.startswith(".")] == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no named pipes")
def test_what_became_a_pipe_while_the_work_was_done_stays_one(tmp_path):
    """Guards the file that was put in a pipe's place: what reads from it would wait for ever."""
    pipe = tmp_path / "pipe.png"
    os.mkfifo(pipe)
    with pytest.raises(MusicgenError, match="no ordinary file"):
        save(pipe, b"new")
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


@pytest.mark.skipif(os.name == "nt", reason="Windows has few links")
def test_generate_writes_where_a_link_leads(call, small_model, tmp_path):
    """Guards a take that replaced the link, while the file it leads to stayed old."""
    real, link = tmp_path / "real.mid", tmp_path / "link.mid"
    real.write_bytes(b"old")
    link.symlink_to("real.mid")
    result = call("generate", "-o", link, "--model", small_model, "--seconds", 1)
    assert result.exit_code == 0, result.output
    assert link.is_symlink()
    assert real.read_bytes().startswith(b"MThd")


def test_a_failed_save_keeps_the_old_file(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "inside").write_bytes(b"old")
    with pytest.raises(MusicgenError, match="cannot be written"):
        save(folder, b"new")
    assert (folder / "inside").read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [folder]
