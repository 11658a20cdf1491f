"""`musicgen generate` and `musicgen continue` with a small random model."""

from __future__ import annotations

import json
import subprocess
import sys
import wave

import pytest

from promises import TAKE_FIELDS

TAKE_KEYS = {"file", *TAKE_FIELDS}


def notes_of(file):
    from musicgen.midi import note_table, read_midi

    table = note_table(read_midi(file).score)
    return list(
        zip(
            table.onset_s.round(6).tolist(),
            table.end_s.round(6).tolist(),
            table.pitch.tolist(),
            table.velocity.tolist(),
            strict=True,
        )
    )


def test_generate_writes_the_file_it_reports(call_json, small_model, tmp_path):
    out = tmp_path / "new folder" / "a.mid"
    report = call_json("generate", "-o", out, "--model", small_model, "--seconds", 4, "--seed", 3)
    assert set(report) == {"takes"}
    [take] = report["takes"]
    assert set(take) == TAKE_KEYS
    assert take["file"] == str(out)
    assert take["seed"] == 3
    assert take["model"] == "small"
    assert (take["prompt_notes"], take["prompt_seconds"]) == (0, 0)
    notes = notes_of(out)
    assert take["notes"] == len(notes) > 0
    assert take["seconds"] == pytest.approx(max(end for _, end, _, _ in notes), abs=0.002)
    assert take["seconds"] == pytest.approx(4, rel=0.05)


def test_a_take_of_one_event_tells_no_speed(call, small_model, tmp_path):
    """Guards "1 event, 0 a second": of one event none can be told."""
    args = ("generate", "-o", tmp_path / "a.mid", "--model", small_model, "--seed", 3)
    result = call(*args, "--seconds", 0.1, "--takes", 40)
    told = [line for line in result.stdout.splitlines() if "ended:" in line]
    alone = [line for line in told if "1 event" in line]
    assert alone
    assert not any("a second" in line for line in alone)
    assert all("a second" in line for line in told if line not in alone)


def test_takes_have_their_own_seeds_and_can_be_made_alone(call_json, small_model, tmp_path):
    common = ("--model", small_model, "--seconds", 3)
    takes = call_json("generate", "-o", tmp_path / "x", "--takes", 3, "--seed", 5, *common)["takes"]
    assert [take["seed"] for take in takes] == [5, 6, 7]
    names = [tmp_path / f"x-{i}.mid" for i in (1, 2, 3)]
    assert [take["file"] for take in takes] == [str(name) for name in names]
    alone = tmp_path / "alone.mid"
    call_json("generate", "-o", alone, "--seed", 6, *common)
    assert alone.read_bytes() == names[1].read_bytes()
    assert names[0].read_bytes() != names[1].read_bytes()


def test_without_a_seed_one_is_drawn_and_told(call_json, small_model, tmp_path):
    common = ("--model", small_model, "--seconds", 2)
    [first] = call_json("generate", "-o", tmp_path / "a.mid", *common)["takes"]
    [second] = call_json("generate", "-o", tmp_path / "b.mid", *common)["takes"]
    assert first["seed"] != second["seed"]
    call_json("generate", "-o", tmp_path / "c.mid", "--seed", first["seed"], *common)
    assert (tmp_path / "c.mid").read_bytes() == (tmp_path / "a.mid").read_bytes()


def test_continue_keeps_the_prompt_and_adds(call_json, small_model, piece, tmp_path):
    out = tmp_path / "longer.mid"
    report = call_json(
        "continue", piece, "-o", out, "--model", small_model, "--seconds", 3, "--seed", 1
    )
    [take] = report["takes"]
    assert (take["prompt_notes"], take["notes"]) == (24, len(notes_of(out)))
    assert take["notes"] > 24
    assert set(notes_of(piece)) <= set(notes_of(out))


def test_prompt_seconds_and_only_new_cut(call_json, small_model, piece, tmp_path):
    args = ("continue", piece, "--model", small_model, "--seconds", 3, "--seed", 1)
    [take] = call_json(*args, "-o", tmp_path / "a.mid", "--prompt-seconds", 2)["takes"]
    assert (take["prompt_notes"], take["prompt_seconds"]) == (8, 2.0)
    [new] = call_json(*args, "-o", tmp_path / "b.mid", "--prompt-seconds", 2, "--only-new")["takes"]
    assert len(notes_of(tmp_path / "b.mid")) == new["notes"] == take["notes"] - 8


def test_the_input_is_never_overwritten(call, small_model, piece):
    before = piece.read_bytes()
    result = call("continue", piece, "-o", piece, "--model", small_model)
    assert result.exit_code == 2
    assert "input itself" in result.stderr
    assert piece.read_bytes() == before


def test_neither_may_a_numbered_take_be_the_input(call, small_model, piece, tmp_path):
    source = tmp_path / "a-2.mid"
    source.write_bytes(piece.read_bytes())
    result = call("continue", source, "-o", tmp_path / "a.mid", "--takes", 2)
    assert result.exit_code == 2
    assert source.read_bytes() == piece.read_bytes()


def test_wav_lies_beside_and_sounds(call_json, small_model, tmp_path):
    out = tmp_path / "a.mid"
    report = call_json("generate", "-o", out, "--model", small_model, "--seconds", 2, "--wav")
    assert report["takes"][0]["wav"] == str(tmp_path / "a.wav")
    with wave.open(str(tmp_path / "a.wav")) as sound:
        assert sound.getnframes() / sound.getframerate() >= 2
        assert any(sound.readframes(sound.getnframes()))


def test_a_failing_synthesizer_never_costs_the_take(call, small_model, tmp_path, monkeypatch):
    from musicgen import audio
    from musicgen.errors import AudioError

    def broken(midi):
        raise AudioError("No engine could play it.", hint="Reinstall.")

    monkeypatch.setattr(audio, "render", broken)
    out = tmp_path / "a.mid"
    args = ("generate", "-o", out, "--model", small_model, "--seconds", 2, "--wav", "--json")
    result = call(*args)
    assert result.exit_code == 1
    [take] = json.loads(result.stdout)["takes"]
    assert take["wav"] is None
    assert "No engine could play it. Reinstall." in take["warnings"]
    assert "no sound" in result.stderr
    assert len(notes_of(out)) == take["notes"]


def test_what_cannot_be_written_is_found_out_before_the_model_is_loaded(call, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    result = call("generate", "-o", tmp_path / "file" / "a.mid", "--model", "no such model")
    assert result.exit_code == 1
    assert "cannot be written" in result.stderr
    assert "no such model" not in result.stderr


def test_a_bad_prompt_is_found_out_before_the_model_is_loaded(call, tmp_path):
    bad = tmp_path / "page.mid"
    bad.write_bytes(b"<!DOCTYPE html><html>404</html>")
    result = call("continue", bad, "-o", tmp_path / "a.mid", "--model", "no such model", "--json")
    assert result.exit_code == 1
    error = json.loads(result.stdout)["error"]
    assert "HTML" in error["message"] or "web page" in error["message"]
    assert error["hint"]
    assert not (tmp_path / "a.mid").exists()


def test_an_unknown_model_is_a_sentence_with_the_way_on(call, tmp_path):
    result = call("generate", "-o", tmp_path / "a.mid", "--model", "violin", "--json")
    assert result.exit_code == 1
    payload = json.loads(result.stdout)
    assert payload["ok"] is False
    assert payload["error"]["code"] == "checkpoint-not-found"
    assert "violin" in payload["error"]["message"]


def test_text_tells_people_the_same(call, small_model, piece, tmp_path):
    out = tmp_path / "line\nbreak.mid"
    result = call("continue", piece, "-o", out, "--model", small_model, "--seconds", 2, "--seed", 9)
    assert result.exit_code == 0, result.output
    assert "seed 9" in result.stdout
    assert "line\\nbreak.mid" in result.stdout
    assert "goes on from 24 notes in 6.0 s" in result.stdout


def test_a_disk_that_fills_up_takes_no_finished_take_away(call, small_model, tmp_path, monkeypatch):
    """Guards silence about the takes that were done: `--json` listed none of them."""
    from musicgen.errors import MidiWriteError
    from musicgen.pipeline import Take

    save = Take.save

    def fills_up(take, path):
        if path.name == "x-3.mid":
            raise MidiWriteError("The disk is full.", hint="Free some space.")
        return save(take, path)

    monkeypatch.setattr(Take, "save", fills_up)
    monkeypatch.setattr("musicgen.pipeline.together.usable_cores", lambda: 1)
    monkeypatch.setattr("musicgen.engine.numba_steps.TAKES_A_THREAD", 1)  # one after another
    common = ("--takes", 3, "--model", small_model, "--seconds", 1)
    result = call("generate", "-o", tmp_path / "x", *common, "--json")
    assert result.exit_code == 1
    kept = [tmp_path / f"x-{i}.mid" for i in (1, 2)]
    assert sorted(tmp_path.iterdir()) == kept
    told = json.loads(result.stdout)
    assert (told["ok"], told["error"]["message"]) == (False, "The disk is full.")
    assert [take["file"] for take in told["takes"]] == [str(path) for path in kept]
    sentence = f"The finished takes are kept: {kept[0]}, {kept[1]}."
    assert result.stderr.endswith(f"Error: The disk is full.\nFree some space.\n{sentence}\n")

    monkeypatch.setattr(Take, "save", lambda take, path: fills_up(take, tmp_path / "x-3.mid"))
    result = call("generate", "-o", tmp_path / "y", *common, "--json")
    assert set(json.loads(result.stdout)) == {"ok", "error"}


def test_what_an_engine_warns_of_is_said_once(call, small_model, tmp_path, monkeypatch):
    """Guards a sentence on code that is not kept, or torch instead, behind each of many takes."""
    from musicgen.engine import TorchEngine

    def warns(decoder, wanted):
        return TorchEngine(decoder, warnings=("The code could not be kept.",))

    monkeypatch.setattr("musicgen.pipeline.engines.make_engine", warns)
    common = ("--takes", 2, "--model", small_model, "--seconds", 1)
    result = call("generate", "-o", tmp_path / "x", *common)
    assert result.exit_code == 0, result.output
    assert result.output.count("The code could not be kept.") == 1
    assert "The code could not be kept.\n" in result.stderr
    takes = json.loads(call("generate", "-o", tmp_path / "x", *common, "--json").stdout)["takes"]
    assert all("The code could not be kept." in take["warnings"] for take in takes)


def test_a_take_imports_nothing_that_it_does_not_need(small_model, tmp_path):
    """Guards a second of waiting: drawing weights that nobody sees imported torch's compiler."""
    args = ["generate", "-o", str(tmp_path / "a.mid"), "--model", str(small_model)]
    needless = ("torch._dynamo", "musicgen.evaluation", "musicgen.training", "musicgen.audio")
    code = (
        "import sys; from musicgen.cli.app import app\n"
        f"app({[*args, '--seconds', '2', '--seed', '1']!r}, standalone_mode=False)\n"
        f"print([m for m in {needless} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1:] == ["[]"], done.stdout + done.stderr
