"""`musicgen corpus`: what is printed, what is written, and where nothing may be."""

from __future__ import annotations

import json
import shutil

import pytest


@pytest.fixture(autouse=True)
def user_cache(tmp_path, monkeypatch):
    """Keep the scans of these tests out of the user's own cache folder."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name in ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(folder))
    return folder


@pytest.fixture
def music(tmp_path, starter):
    root = tmp_path / "music"
    root.mkdir()
    for file in sorted(starter.glob("*.mid"))[:4]:
        shutil.copy(file, root / file.name)
    shutil.copy(min(starter.glob("*.mid")), root / "again.mid")
    (root / "a\x1b[31m.mid").write_text("<html>")
    return root


def test_every_file_has_a_line_and_the_whole_a_summary(call, music):
    result = call("corpus", music)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert "6 files: 4 kept" in result.stdout
    assert sum(line.startswith("kept ") for line in lines) == 4
    assert any(line.startswith("duplicate") and "same music as" in line for line in lines)
    assert "web-page" in result.stdout
    assert "\x1b" not in result.stdout
    # Twins are found when all is read: what is told before counts other files than the summary.
    assert "6 of 6 files read, 1 cannot be used; looking for twins" in result.stderr


def test_a_report_is_written_and_the_second_run_reads_nothing(call_json, music, tmp_path):
    first = call_json("corpus", music, "-o", tmp_path / "report")
    assert first["counts"] == {"kept": 4, "duplicate": 1, "web-page": 1}
    assert first["read"] == 6
    assert json.loads((tmp_path / "report" / "corpus.json").read_text()) == first
    assert "<h1>" in (tmp_path / "report" / "corpus.html").read_text(encoding="utf-8")
    again = call_json("corpus", music, "-o", tmp_path / "report")
    assert again == {**first, "read": 0}


def test_a_report_within_the_folder_is_no_part_of_it(call_json, music):
    call_json("corpus", music, "-o", music / "report")
    assert len(call_json("corpus", music, "-o", music / "report")["files"]) == 6


def test_without_a_report_the_scan_is_kept_for_the_user(call_json, music, user_cache):
    assert call_json("corpus", music)["read"] == 6
    assert call_json("corpus", music)["read"] == 0
    assert len(list(user_cache.rglob("*.npz"))) == 1
    assert sorted(path.suffix for path in music.iterdir()) == [".mid"] * 6


def test_a_place_that_cannot_be_written_is_said_before_the_work(call, music, tmp_path):
    (tmp_path / "file").write_text("in the way")
    result = call("corpus", music, "-o", tmp_path / "file", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["error"]["code"] == "unwritable-output"


def test_of_many_files_a_few_lines_are_printed(call, music, monkeypatch):
    """Guards fifty thousand lines on a terminal."""
    monkeypatch.setattr("musicgen.cli.corpus._ALL_UP_TO", 3)
    monkeypatch.setattr("musicgen.cli.corpus._LINES_A_CODE", 1)
    lines = call("corpus", music).stdout.splitlines()
    assert not any(line.startswith("kept ") for line in lines)
    assert lines[-1].endswith("gives a line for every file.")
