"""`musicgen train --from`: settings that suit, LoRA, the gain told to people and to programs."""

from __future__ import annotations

import json

import pytest

TINY = """
validate_steps = 2
validation_windows = 2
batch_size = 1
checkpoint_minutes = 1000.0
precision = "float32"
compile = false
"""


@pytest.fixture
def config(tmp_path):
    file = tmp_path / "tiny.toml"
    file.write_text(TINY, encoding="utf-8")
    return file


@pytest.mark.parametrize("lora", [(), ("--lora", 2)], ids=["all weights", "LoRA"])
def test_what_it_gained_is_told(call, call_json, small_model, starter, config, tmp_path, lora):
    run = tmp_path / "mine"
    options = ("--from", small_model, "--config", config, "--steps", 2, *lora)
    result = call("train", starter, "-o", run, *options)
    assert result.exit_code == 0, result.output
    assert "Held-out music:" in result.stdout
    assert "with small as it was" in result.stdout
    facts = call_json("info", run)["training"]
    assert facts["parent_name"] == "small"
    assert facts["recipe"]["early_seq_len"] is None
    assert facts["recipe"]["lora_rank"] == (2 if lora else None)
    assert facts["recipe"]["optimizer"] == ("adamw" if lora else "muon")
    assert facts["gain"]["parent"] == "small"
    again = call("train", starter, "-o", run, "--resume", "--json")
    assert json.loads(again.stdout)["gain"] == facts["gain"]


def test_random_weights_have_no_gain_and_fine_tuning_is_offered(call, starter, config, tmp_path):
    config.write_text(
        TINY + "d_model = 32\nn_layers = 1\nd_ff = 32\nd_head_ff = 32\nseq_len = 32\n",
        encoding="utf-8",
    )
    options = ("--preset", "tiny", "--config", config, "--steps", 2, "--json")
    result = call("train", starter, "-o", tmp_path / "run", *options)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["gain"] is None
    assert "--from piano" in result.stderr
    assert "licence" in result.stderr


def test_lora_wants_a_model(call, starter, tmp_path):
    result = call("train", starter, "-o", tmp_path / "run", "--lora", 4)
    assert result.exit_code == 2
    assert "--from" in result.stderr
    result = call("train", starter, "-o", tmp_path / "run", "--lora", 0, "--from", "piano")
    assert result.exit_code == 2
    assert "1 to 1024" in result.stderr
