"""`musicgen train`: a run from the first step to a model that generates, and what stops it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

TINY = """
preset = "tiny"
d_model = 32
n_layers = 1
d_ff = 48
d_head_ff = 32
seq_len = 32
batch_size = 2
validation_windows = 4
checkpoint_minutes = 1000.0
"""


@pytest.fixture
def config(tmp_path):
    file = tmp_path / "tiny.toml"
    file.write_text(TINY, encoding="utf-8")
    return file


def test_the_choices_are_those_of_their_rooms():
    # Repeated in the command line only because the rooms import torch.
    from musicgen.cli.train import ALLOWABLE, PRESETS, SCHEMES
    from musicgen.model import PRESETS as MODEL_PRESETS
    from musicgen.tokens import SCHEMES as TOKEN_SCHEMES
    from musicgen.training import changing

    assert changing.ALLOWABLE == ALLOWABLE
    assert tuple(MODEL_PRESETS) == PRESETS
    assert tuple(TOKEN_SCHEMES) == SCHEMES


def test_a_run_makes_a_model_that_every_command_takes(call, call_json, starter, config, tmp_path):
    run = tmp_path / "runs" / "first"
    result = call(
        "train", starter, "-o", run, "--config", config, "--steps", 3, "--seed", 5, "--json"
    )
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["run"] == str(run)
    assert report["steps"] == 3
    assert report["pieces"] == 24
    assert report["refused"] == 0
    assert report["bits_per_note"] > 0
    assert "24 pieces" in result.stderr
    assert "bits a note" in result.stderr
    # Guards a log that ended at `1 of 24 files read` and at an early step.
    assert "24 of 24 files read" in result.stderr
    assert "step 3 of 3, loss" in result.stderr
    # Guards a trial of which a log says nothing, since the files were read a moment before.
    assert "Finding out how long a step takes ..." in result.stderr
    for model in (run, report["model"]):
        out = tmp_path / "a.mid"
        [take] = call_json("generate", "-o", out, "--model", model, "--seconds", 2)["takes"]
        assert take["notes"] > 0
    assert call_json("info", run)["training"]["recipe"]["seed"] == 5


def test_options_go_before_the_file(call, starter, config, tmp_path):
    config.write_text(TINY + "steps = 1000000\nseed = 1\n", encoding="utf-8")
    result = call("train", starter, "-o", tmp_path / "r", "--config", config, "--epochs", "0.001")
    assert result.exit_code == 0, result.output
    assert "1 step," in result.stdout
    assert "1 step\n" in result.stderr


def test_fine_tuning_says_first_what_the_model_reaches_as_it_is(call, starter, config, tmp_path):
    """Guards a run that said what it gained over at its end alone."""
    call("train", starter, "-o", tmp_path / "first", "--config", config, "--steps", 1)
    more = ("--config", config, "--steps", 2, "--from", tmp_path / "first")
    result = call("train", starter, "-o", tmp_path / "more", *more)
    assert result.exit_code == 0, result.output
    before = re.search(r"^first as it is: ([0-9.]+) bits a note$", result.stderr, re.MULTILINE)
    assert before is not None, result.stderr
    assert result.stderr.index(before[0]) < result.stderr.index("step 2:")
    assert f"{before[1]} bits a note with first as it was" in result.stdout


@pytest.mark.parametrize(
    "args",
    [
        ["--steps", "1", "--minutes", "1"],
        ["--from", "piano", "--scratch"],
        ["--from", "piano", "--resume"],
        ["--allow", "settings"],
        ["--resume", "--allow", "anything"],
        ["--preset", "huge"],
        ["--scheme", "abc"],
        ["--steps", "0"],
        ["--minutes", "nan"],
    ],
)
def test_what_excludes_itself_is_wrong_usage(call, starter, tmp_path, args):
    result = call("train", starter, "-o", tmp_path / "r", *args)
    assert result.exit_code == 2, result.output
    assert not (tmp_path / "r").exists()


def test_a_setting_that_is_not_known_is_named(call, starter, tmp_path):
    config = tmp_path / "bad.toml"
    config.write_text("learning_rat = 1e-3\n", encoding="utf-8")
    result = call("train", starter, "-o", tmp_path / "r", "--config", config)
    assert result.exit_code == 1
    assert "learning_rat" in result.stderr
    assert "Did you mean 'learning_rate'?" in result.stderr


def test_a_run_that_is_there_is_not_overwritten(call, starter, config, tmp_path):
    args = ("train", starter, "-o", tmp_path / "r", "--config", config, "--steps", 1)
    assert call(*args).exit_code == 0
    again = call(*args)
    assert again.exit_code == 1
    assert "--resume" in again.stderr
    resumed = call("train", starter, "-o", tmp_path / "r", "--resume")
    assert resumed.exit_code == 0, resumed.output


@pytest.mark.parametrize("name", ["missing", "empty", "a file"])
def test_a_folder_without_music_is_a_sentence(call, tmp_path, name):
    (tmp_path / "empty").mkdir()
    (tmp_path / "a file").write_bytes(b"x")
    result = call("train", tmp_path / name, "-o", tmp_path / "r", "--steps", 1, "--json")
    assert result.exit_code == 1
    error = json.loads(result.stdout)["error"]
    assert name in error["message"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT to send")
@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_keeps_what_was_learned_and_says_how_to_go_on(starter, config, tmp_path, times):
    run = tmp_path / "r"
    command = [sys.executable, "-m", "musicgen", "train", str(starter), "-o", str(run)]
    child = subprocess.Popen(
        [*command, "--config", str(config), "--steps", "100000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    metrics = run / "metrics.jsonl"
    until = time.monotonic() + 300
    while time.monotonic() < until and not (metrics.is_file() and metrics.stat().st_size > 500):
        assert child.poll() is None, child.communicate()
        time.sleep(0.1)
    for _ in range(times):
        child.send_signal(signal.SIGINT)
        time.sleep(0.05)
    out, err = child.communicate(timeout=300)
    assert child.returncode == 130, err
    assert out == ""
    assert "Traceback" not in err
    if times == 1:
        assert "--resume" in err
        assert any((run / "checkpoints").iterdir())
        resumed = subprocess.Popen(
            [*command, "--resume"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for line in resumed.stderr:
            if "of them done" in line:
                break
        resumed.send_signal(signal.SIGINT)
        resumed.communicate(timeout=300)
        assert resumed.returncode == 130


def test_the_starter_pieces_are_found_from_anywhere(call_json, call, config, tmp_path, monkeypatch):
    """Guards the README's command in a folder that has no data/starter."""
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(("data/starter", "starter", "starter/")):
        args = ("train", name, "-o", f"r{number}", "--config", config, "--steps", 1)
        result = call(*args)
        assert result.exit_code == 0, result.output
        assert f"There is no {name.rstrip('/')} here" in result.stderr
        assert "24 pieces" in result.stderr


def test_a_folder_of_that_name_goes_before_the_starter_pieces(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "starter").mkdir()
    result = call("train", "starter", "-o", "r", "--steps", 1)
    assert result.exit_code == 1
    assert "ship" not in result.stderr
    missing = call("train", "music/starter", "-o", "r", "--steps", 1)
    assert missing.exit_code == 1
    assert "ship" not in missing.stderr


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT to send")
def test_ctrl_c_in_the_trial_stops_at_once(starter, tmp_path):
    """Guards: the trial of a long run held Ctrl-C back until all its steps were done."""
    config = tmp_path / "wide.toml"
    # A trial of five steps of several seconds each, in many small operations.
    config.write_text(
        'preset = "medium"\nseq_len = 256\nbatch_size = 16\nminutes = 600\n', encoding="utf-8"
    )
    command = [sys.executable, "-m", "musicgen", "train", str(starter), "-o", str(tmp_path / "r")]
    child = subprocess.Popen(
        [*command, "--config", str(config)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in child.stderr:
        if "24 pieces" in line:
            break
    time.sleep(1)
    began = time.monotonic()
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=300)
    assert child.returncode == 130, err
    assert out == ""
    # Read with the line before it, or left for now: as the two come.
    told = err.removeprefix("Finding out how long a step takes ...\n")
    assert told.strip() == "Interrupted. Nothing was trained yet."
    assert time.monotonic() - began < 10


def test_a_plan_is_a_table_of_sizes_and_trains_nothing(call_json, starter, tmp_path):
    config = tmp_path / "a.toml"
    config.write_text("seq_len = 16\nbatch_size = 1\nsteps = 400\n", encoding="utf-8")
    found = call_json("train", starter, "--plan", "--config", config)["sizes"]
    assert [each["size"] for each in found] == ["tiny", "small", "medium"]
    assert all(each["steps"] == 400 and each["fits"] for each in found)


def test_a_plan_tells_what_does_not_fit():
    from musicgen.cli.train_plan import _table
    from musicgen.training import Outlook

    lines = _table([Outlook(size="medium", parameters=7, trial=None, free_bytes=2_000_000_000)])
    assert "times read" in lines[0]
    assert lines[1].endswith("too large for the memory")
    assert lines[2] == "2.00 GB of memory are free."


@pytest.mark.parametrize("args", [["--plan", "--resume"], []])
def test_a_run_needs_a_folder_and_a_plan_neither_model_nor_run(call, starter, args):
    result = call("train", starter, *args)
    assert result.exit_code == 2, result.output
