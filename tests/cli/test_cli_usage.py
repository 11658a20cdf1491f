"""The border of the command line: help at once, wrong usage refused with its range, exit 2."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from musicgen import __version__
from musicgen.cli.app import app

COMMANDS = (
    "generate",
    "continue",
    "render",
    "attention",
    "info",
    "train",
    "evaluate",
    "copies",
    "statistics",
    "ui",
)
HEAVY = ("torch", "numpy", "symusic", "miditok", "streamlit", "pydantic", "PIL", "rich")


def run(*args: str):
    return CliRunner().invoke(app, list(args))


def test_help_names_every_command():
    result = run("--help")
    assert result.exit_code == 0
    for command in COMMANDS:
        assert f"\n  {command} " in result.stdout
    # Guards lines that broke off in the middle on a terminal of 80 columns.
    assert "..." not in result.stdout.partition("Commands:")[2]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_json(command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert "--json" in result.stdout


def test_version():
    result = run("--version")
    assert result.exit_code == 0
    assert result.stdout == f"musicgen {__version__}\n"


def test_help_costs_less_than_half_a_second():
    # Time of the processor, not of the clock: other tests may run beside this one.
    def spent_s() -> float:
        times = os.times()
        return times.children_user + times.children_system

    took_s = []
    for _ in range(3):
        start_s = spent_s()
        subprocess.run(
            [sys.executable, "-m", "musicgen", "--help"], check=True, capture_output=True
        )
        took_s.append(spent_s() - start_s)
    assert min(took_s) < 0.5, took_s


def test_the_command_line_imports_nothing_heavy():
    code = (
        "import sys; import musicgen; import musicgen.cli.app; "
        f"print([m for m in {HEAVY} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--seconds", "0", "from 0.1 to 14400"),
        ("--seconds", "nan", "nan is out of range"),
        ("--seconds", "inf", "to 14400"),
        ("--seconds", "14401", "to 14400"),
        (
            "--seconds",
            "abc",
            "Invalid value for '--seconds': 'abc' is not a number from 0.1 to 14400.",
        ),
        ("--temperature", "", "'' is not a number from 0 to 100."),
        ("--top-k", "1e3", "'1e3' is not a whole number from 0 to 1000000."),
        ("--takes", "two", "'two' is not a whole number from 1 to 999."),
        ("--temperature", "-0.1", "from 0 to 100"),
        ("--temperature", "nan", "from 0 to 100"),
        ("--top-p", "1.1", "from 0 to 1"),
        ("--top-k", "-1", "from 0 to 1000000"),
        ("--min-p", "2", "from 0 to 1"),
        ("--seed", "-1", "from 0 to 9007199254740991"),
        ("--seed", "1.5", "'1.5' is not a whole number from 0 to 9007199254740991."),
        ("--takes", "0", "from 1 to 999"),
        ("--device", "gpu", "auto, cpu, cuda"),
        ("--model", "", "empty"),
        ("-o", "song.wav", ".mid"),
        # Guards sentences that repeated thousands of digits, or spoke of Python's own limit.
        ("--seconds", "1" * 5000, f"{'1' * 57}... is out of range: from 0.1 to 14400."),
        ("--seed", "-" + "1" * 5000, f"-{'1' * 56}... is out of range: from 0 to"),
        ("--seed", "x" * 5000, f"'{'x' * 56}... is not a whole number"),
        ("--device", "g" * 5000, f"'{'g' * 56}... is not one of auto"),
    ],
)
def test_values_out_of_range_are_wrong_usage(tmp_path, option, value, words):
    args = ["generate", option, value]
    if option != "-o":
        args += ["-o", str(tmp_path / "x.mid")]
    result = run(*args)
    assert result.exit_code == 2, result.output
    assert words in " ".join(result.stderr.split())
    assert result.stdout == ""
    assert not list(tmp_path.iterdir())


def test_the_last_seed_must_fit_too(tmp_path):
    out = str(tmp_path / "x.mid")
    result = run("generate", "-o", out, "--seed", str(2**53 - 1), "--takes", "2")
    assert result.exit_code == 2
    assert "--seed" in result.stderr


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["train", "x", "-o", "y", "--steps", "many"], "'many' is not a whole number from 1 to 1"),
        (
            ["train", "x", "-o", "y", "--minutes", "5m"],
            "'5m' is not a number from 0.05 to 1000000.",
        ),
        (
            ["attention", "x", "-o", "y.png", "--layer", "a"],
            "'a' is not a whole number from 1 to 10000",
        ),
        (["attention", "x", "-o", "y.png", "--seconds", "0"], "0 is out of range: above 0 to"),
        (["continue", "x", "-o", "y", "--prompt-seconds", "a"], "'a' is not a number above 0 to"),
        (["ui", "--port", "http"], "'http' is not a whole number from 1 to 65535."),
    ],
)
def test_what_is_no_number_is_named_with_its_range(args, words):
    """Guards: typer's own "is not a valid float", which tells nothing of the range."""
    result = run(*args)
    assert result.exit_code == 2, result.output
    assert words in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    "args",
    [
        ["generate"],
        ["continue", "in.mid"],
        ["render", "in.mid", "-o", "out.ogg"],
        ["attention", "in.mid", "-o", "out.jpg"],
        ["info"],
        ["evaluate", "piano"],
        ["statistics"],
        ["statistics", "music", "--seconds", "9"],
        ["train"],
        ["ui", "--port", "0"],
        ["nonsense"],
        ["generate", "--nonsense"],
    ],
)
def test_what_is_missing_or_unknown_is_exit_2(args):
    result = run(*args)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("args", "words", "place"),
    [
        (["generate", "--json"], "Missing option", "musicgen generate"),
        (["info", "--json"], "Missing argument", "musicgen info"),
        (["info", "--json", "--nonsense"], "--nonsense", "musicgen info"),
        (["generate", "-o", "x.wav", "--json"], "MIDI file", "musicgen generate"),
        (["data", "fetch", "--json"], "Missing argument", "musicgen data fetch"),
        (["data", "nonsense", "--json"], "nonsense", "musicgen data"),
        (["nonsense", "--json"], "nonsense", "musicgen"),
        (["--nonsense", "--json"], "--nonsense", "musicgen"),
        (["--", "--nonsense", "--json"], "--nonsense", "musicgen"),
    ],
)
def test_wrong_usage_is_told_to_programs_too(args, words, place):
    """Guards `generate --json`, which printed nothing where docs/cli.md promises an error."""
    result = CliRunner().invoke(app, args, prog_name="musicgen")
    assert result.exit_code == 2, result.output
    (line,) = result.stdout.splitlines()
    told = json.loads(line)
    assert told["ok"] is False
    assert told["error"]["code"] == "usage"
    assert words in told["error"]["message"]
    assert f"'{place} --help'" in told["error"]["hint"]
    assert words in " ".join(result.stderr.split())


@pytest.mark.parametrize("args", [["corpus", "."], ["info", "x.mid", "--json"], ["generate"]])
@pytest.mark.skipif(os.name == "nt", reason="Windows lets nobody delete the current folder")
def test_a_current_folder_that_is_gone_is_a_sentence(tmp_path, args):
    """Guards a traceback of posixpath, and a library's "FATAL ERROR" with the exit code 2."""
    gone = tmp_path / "gone"
    gone.mkdir()
    code = "import os, sys; os.rmdir(os.getcwd()); from musicgen.cli.app import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *args], cwd=gone, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr.startswith("Error: The folder you are in is gone")
    assert done.stderr.count("\n") == 2
    if "--json" in args:
        assert json.loads(done.stdout)["error"]["code"] == "folder-gone"


def test_ctrl_c_while_the_program_is_imported_is_no_traceback():
    """Guards the import's traceback for who changes their mind in the first tenth of a second."""
    code = (
        "import sys\n"
        "class Pressed:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'musicgen.cli.console':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Pressed())\n"
        "from musicgen.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_the_console_script_begins_where_ctrl_c_is_taken(root):
    assert 'musicgen = "musicgen.__main__:main"' in (root / "pyproject.toml").read_text()


def test_no_command_shows_the_help():
    result = run()
    assert "Commands" in result.stdout + result.stderr


def test_a_closed_pipe_is_no_traceback(tmp_path):
    # `musicgen info ... | head -1` must end quietly.
    command = f'"{sys.executable}" -m musicgen info ' + "no-such.mid " * 400 + "| head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path)
    assert "Traceback" not in done.stderr
    assert "no-such.mid" in done.stdout


def test_the_longest_take_is_the_generators_own():
    # Repeated in the command line only because the room imports torch.
    from musicgen.cli.options import LONGEST_S, SHORTEST_S
    from musicgen.generation import length

    assert (length.SHORTEST_S, length.LONGEST_S) == (SHORTEST_S, LONGEST_S)
