"""`musicgen again` and what `musicgen info` says of a recipe, with a small random model."""

from __future__ import annotations

import json

import pytest

from promises import TAKE_FIELDS


@pytest.fixture
def take(call, small_model, tmp_path):
    """Return the file of a take from nothing."""
    out = tmp_path / "take.mid"
    call("generate", "-o", out, "--model", small_model, "--seconds", 3, "--seed", 5, "--top-k", 40)
    return out


def test_a_take_again_has_the_same_bytes(call_json, call, take, small_model, tmp_path):
    out = tmp_path / "new" / "again.mid"
    report = call_json("again", take, "-o", out, "--model", small_model)
    assert set(report) == {"file", "same", *TAKE_FIELDS}
    assert (report["same"], report["seed"], report["file"]) == (True, 5, str(out))
    assert out.read_bytes() == take.read_bytes()
    assert "the same bytes" in call("again", take, "-o", out, "--model", small_model).stdout


def test_without_a_name_it_lies_here(call, take, small_model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call("again", "take.mid", "--model", small_model)
    assert (tmp_path / "take-again.mid").read_bytes() == take.read_bytes()


def test_a_continuation_needs_its_prompt(call, take, piece, small_model, tmp_path):
    longer, out = tmp_path / "longer.mid", tmp_path / "out.mid"
    how = ("--model", small_model)
    call("continue", piece, "-o", longer, "--seconds", 3, "--prompt-seconds", 2, *how)
    for given, said in (([], "was not given"), (["--prompt", take], "is not the file")):
        result = call("again", longer, "-o", out, *how, *given)
        assert result.exit_code == 1
        assert said in result.stderr
        assert not out.exists()
    assert call("again", longer, "-o", out, "--prompt", piece, *how).exit_code == 0
    assert out.read_bytes() == longer.read_bytes()


def test_the_model_is_found_by_its_hash_and_never_by_its_name(call, take, small_model, tmp_path):
    """Guards: a file from somebody else that names a folder of this machine as its model."""
    from musicgen.midi import with_text
    from musicgen.pipeline import recipe_of

    result = call("again", take, "-o", tmp_path / "x.mid")
    assert result.exit_code == 1
    assert "none of the models that ship" in result.stderr
    forged = {**recipe_of(take).as_dict(), "model": str(small_model)[-100:]}
    other = tmp_path / "forged.mid"
    other.write_bytes(with_text(take.read_bytes(), "musicgen-recipe:" + json.dumps(forged)))
    assert call("again", other, "-o", tmp_path / "x.mid").exit_code == 1
    result = call("again", take, "-o", tmp_path / "x.mid", "--model", "piano")
    assert result.exit_code == 1
    assert "'small'" in result.stderr


def test_a_file_without_a_recipe_and_one_with_a_bad_one(call, call_json, piece, tmp_path):
    from musicgen.midi import with_text

    result = call("again", piece, "-o", tmp_path / "x.mid", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["error"]["code"] == "recipe-missing"
    bad = tmp_path / "bad.mid"
    bad.write_bytes(with_text(piece.read_bytes(), 'musicgen-recipe:{"version":1}'))
    assert call("again", bad, "-o", tmp_path / "x.mid").exit_code == 1
    told = call_json("info", bad)
    assert (told["ok"], told["recipe"], told["notes"]) == (True, None, 24)
    assert told["recipe_error"]["code"] == "recipe-damaged"
    assert "cannot be used" in call("info", bad).stdout


def test_info_tells_the_recipe(call, call_json, take, piece):
    told = call_json("info", take)
    assert (told["recipe"]["seed"], told["recipe"]["top_k"]) == (5, 40)
    assert "model small, seed 5" in call("info", take).stdout
    assert "recipe" not in call_json("info", piece)


def test_no_input_is_overwritten(call, take, piece):
    for name in (take, piece):
        before = name.read_bytes()
        result = call("again", take, "--prompt", piece, "-o", name)
        assert result.exit_code == 2
        assert name.read_bytes() == before
