"""`musicgen data`: the list, a fetch from a server on this machine, Ctrl-C in the middle."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from archive_server import Behaviour, serving, zip_of
from musicgen.datasets import find_dataset

CSV = b"midi_filename,split\na.mid,train\nb.mid,validation\n"
NAME = "groove"
SCRIPT = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
from dataclasses import replace
from musicgen.datasets import table
from musicgen.cli.app import main
entry = replace(table.find_dataset("groove"), url=sys.argv.pop(1), size_bytes=None, sha256=None,
                sum_from="nobody", split_table=None)
table.TABLE = (entry,)
main()
"""


@pytest.fixture
def groove(monkeypatch, starter):
    """Return an archive of two pieces that stands in the table in Groove's place."""
    first, second = sorted(starter.glob("*.mid"))[:2]
    files = {"groove/a.mid": first.read_bytes(), "groove/b.mid": second.read_bytes()}
    data = zip_of({**files, "groove/info.csv": CSV, "groove/LICENSE": b"CC BY 4.0"})

    def put(url: str) -> None:
        sha256 = hashlib.sha256(data).hexdigest()
        entry = replace(find_dataset(NAME), url=url, size_bytes=len(data), sha256=sha256)
        monkeypatch.setattr("musicgen.datasets.table.TABLE", (entry,))

    return data, put


def test_the_list_says_what_one_must_know(call, call_json):
    told = call("data", "list").stdout
    assert "Not for commerce" in told
    assert "CC BY-NC-SA 4.0" in told
    corpora = {each["name"]: each for each in call_json("data", "list")["corpora"]}
    assert corpora["maestro-v3"]["bytes"] == 58_416_533
    assert corpora["pop909"]["bytes"] is None
    assert corpora["giantmidi"]["url"] is None


def test_a_fetched_corpus_can_be_trained_on(call, call_json, groove, tmp_path):
    data, put = groove
    folder = tmp_path / "groove"
    with serving(Behaviour(data)) as address:
        put(f"{address}/groove.zip")
        result = call("data", "fetch", NAME, "-o", folder)
    assert result.exit_code == 0, result.output
    assert "Free with attribution" in result.stderr
    assert "2 MIDI files (train 1, validation 1)" in result.stdout
    assert f"musicgen train {folder}" in result.stdout
    again = call_json("data", "fetch", NAME, "-o", folder)
    assert (again["is_new"], again["files"], again["by_split"]["train"]) == (False, 2, 1)
    assert json.loads((folder / "SOURCE.json").read_text())["licence"] == "CC BY 4.0"
    assert (folder / "train" / "a.mid").exists()


def test_errors_are_sentences_with_a_code(call, groove, tmp_path):
    _, put = groove
    put("http://127.0.0.1:9/groove.zip")
    result = call("data", "fetch", NAME, "-o", tmp_path / "groove", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["error"]["code"] == "no-internet"
    assert "Not without internet" in result.stderr
    result = call("data", "fetch", "nothing", "--json")
    assert json.loads(result.stdout)["error"]["code"] == "no-dataset"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send")
def test_ctrl_c_keeps_what_came_and_says_how_to_go_on(tmp_path):
    pieces = {f"groove/{i}.mid": hashlib.sha256(bytes([i])).digest() * 20_000 for i in range(40)}
    data = zip_of(pieces) + bytes(30_000_000)
    how = Behaviour(data, pause_s=0.2)
    with serving(how) as address:
        command = [sys.executable, "-c", SCRIPT, f"{address}/groove.zip", "data", "fetch", NAME]
        process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        part = tmp_path / "groove.zip.part"
        until = time.monotonic() + 60
        while not (part.exists() and part.stat().st_size) and time.monotonic() < until:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert "Traceback" not in told
    assert "the same command goes on" in told
    assert part.stat().st_size > 0
