"""Foreign names cannot mislead the terminal, and every error ends in its exit code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import weakref

import pytest
import typer

from musicgen.cli.console import (
    Console,
    counted,
    duration,
    session,
    stopping_between_steps,
    visible,
)
from musicgen.errors import MidiReadError


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("plain ünïcode 小星星 🎹.mid", "plain ünïcode 小星星 🎹.mid"),
        ("two\nlines", "two\\nlines"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("evil\u202edim.exe", "evil\\u202edim.exe"),
        ("byte\udcff", "byte\\udcff"),
        ("bell\x07\x9b\x7f", "bell\\x07\\x9b\\x7f"),
    ],
)
def test_names_are_shown_as_one_harmless_line(name, shown):
    assert visible(name) == shown


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "0 s"), (59.4, "59 s"), (59.6, "1 min 00 s"), (185, "3 min 05 s"), (7800, "2 h 10 min")],
)
def test_durations_are_for_people(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 steps"), (1, "1 step"), (2, "2 steps"), (1200, "1,200 steps")]
)
def test_one_is_no_plural(number, text):
    assert counted(number, "step") == text


def test_results_go_to_stdout_and_remarks_to_stderr(capsys):
    console = Console(as_json=False)
    console.result({"a": 1}, "line\n1", "line 2")
    console.note("remark")
    out, err = capsys.readouterr()
    assert out == "line\\n1\nline 2\n"
    assert err == "remark\n"


def test_json_is_one_ascii_line(capsys):
    Console(as_json=True).result({"file": "小\n\udcff"}, "for people")
    out = capsys.readouterr().out
    assert out.isascii()
    assert out.count("\n") == 1
    assert json.loads(out) == {"file": "小\n\udcff"}


def test_progress_in_a_log_is_sparse(capsys):
    console = Console(as_json=False)
    for number in range(100):
        console.progress(f"step {number}")
    console.progress("last", last=True)
    assert capsys.readouterr().err == "step 0\nlast\n"


@pytest.mark.parametrize("as_json", [False, True])
def test_an_error_is_a_sentence_a_hint_and_exit_1(capsys, as_json):
    with pytest.raises(typer.Exit) as caught, session(as_json=as_json):
        raise MidiReadError("bad\x1b.mid is no MIDI file.", hint="Choose another.")
    assert caught.value.exit_code == 1
    out, err = capsys.readouterr()
    assert err == "Error: bad\\x1b.mid is no MIDI file.\nChoose another.\n"
    if as_json:
        assert json.loads(out) == {
            "ok": False,
            "error": {
                "code": "midi-unreadable",
                "message": "bad\x1b.mid is no MIDI file.",
                "hint": "Choose another.",
            },
        }
    else:
        assert out == ""


def test_ctrl_c_is_exit_130_with_the_way_on(capsys):
    def command():
        with session(as_json=True) as console:
            console.how_to_go_on = "Go on with --resume."
            raise KeyboardInterrupt

    with pytest.raises(typer.Exit) as caught:
        command()
    assert caught.value.exit_code == 130
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "Interrupted. Go on with --resume.\n"


def test_a_bug_is_not_dressed_up_as_a_user_error():
    with pytest.raises(ZeroDivisionError), session(as_json=False):
        raise ZeroDivisionError


def test_a_ctrl_c_that_comes_where_nothing_can_be_raised_is_not_lost():
    """Guards a press that is swallowed where an import lets go of its lock, in a callback."""
    source = "def cb(_):\n    signal.raise_signal(signal.SIGINT)\n"
    names = {"signal": signal}
    exec(compile(source, "<frozen importlib._bootstrap>", "exec"), names)
    lock = {1}  # anything that can be watched
    watched = weakref.ref(lock, names["cb"])
    with stopping_between_steps():
        del lock  # the press comes here,
        with pytest.raises(KeyboardInterrupt):
            time.sleep(5)  # and stops what follows
    assert watched() is None


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT to send")
def test_ctrl_c_while_text_is_executed_ends_with_its_exit_code(tmp_path):
    """Guards `python -m musicgen` that ended by the signal: Ctrl-C fell into a dataclass's making.

    Python notes a KeyboardInterrupt that leaves executed text as unhandled, also where it is
    handled, and an import of torch's compiler makes hundreds of dataclasses.
    """
    code = """
import os, signal, sys, time
from musicgen.cli.console import stopping_between_steps
with stopping_between_steps():
    try:
        exec("os.kill(os.getpid(), signal.SIGINT)\\nfor _ in range(9): pass")
        time.sleep(30)
    except KeyboardInterrupt:
        sys.exit(130)
"""
    (tmp_path / "stopped.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "-m", "stopped"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=25)
    assert done.returncode == 130, done.stderr
