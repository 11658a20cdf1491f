"""`musicgen info`, `render`, `attention` and `evaluate`."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import wave

import numpy as np
import pytest
from PIL import Image

from musicgen.figures.colours import LIGHT

ODD_NAMES = [
    "-dash.mid",
    "line\nbreak.mid",
    "emoji 🎹.mid",
    "rtl \u202edim.mid",
    "小星星.mid",
    "<b>bold<b>.mid",
    "x" * 251 + ".mid",
]


def test_info_tells_the_facts(call_json, piece):
    assert call_json("info", piece) == {
        "file": str(piece),
        "ok": True,
        "notes": 24,
        "first_s": 0.0,
        "end_s": pytest.approx(5.99),
        "tracks": [{"name": "piano", "program": 0, "is_drum": False, "notes": 24}],
        "warnings": [],
    }


def test_a_bad_file_does_not_stop_the_rest(call, piece, tmp_path):
    bad = tmp_path / "bad.mid"
    bad.write_bytes(b"nothing of the kind")
    result = call("info", piece, bad, tmp_path / "none.mid", tmp_path, piece, "--json")
    assert result.exit_code == 1
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line["ok"] for line in lines] == [True, False, False, False, True]
    for line in lines[1:4]:
        assert set(line["error"]) == {"code", "message", "hint"}
        assert line["error"]["message"]


def test_info_of_a_folder_says_what_to_give(call, piece, tmp_path):
    """Guards `musicgen info .`: "There is no model '.'", where music was meant."""
    result = call("info", piece.parent)
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        f"{piece.parent}: This is a folder of 1 MIDI file, not one of them.",
        f"  Name the files themselves, as in {piece}.",
    ]
    said = call("info", tmp_path).stdout
    assert "This is a folder, but not that of a model." in said
    assert "manifest.json" in said


def test_text_of_info_is_one_block_a_file(call, piece, tmp_path):
    result = call("info", piece, tmp_path / "none.mid")
    assert result.exit_code == 1
    assert "24 notes from 0.00 s to 5.99 s" in result.stdout
    assert "there is no such file" in result.stdout


def test_info_knows_checkpoints(call, call_json, small_model):
    facts = call_json("info", small_model)
    assert facts["ok"] is True
    assert facts["name"] == "small"
    assert facts["config"]["n_layers"] == 2
    assert "n_layers: 2" in call("info", small_model).stdout


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_break_nothing(piece, tmp_path, name):
    (tmp_path / name).write_bytes(piece.read_bytes())
    command = [sys.executable, "-m", "musicgen", "info"]
    done = subprocess.run(
        [*command, "--json", "--", name], cwd=tmp_path, capture_output=True, check=True
    )
    [line] = done.stdout.splitlines()
    assert json.loads(line)["file"] == name
    done = subprocess.run([*command, "--", name], cwd=tmp_path, capture_output=True, check=True)
    assert done.stdout.count(b"\n") == 3
    for byte in (b"\x1b", "\u202e".encode()):
        assert byte not in done.stdout


def test_a_name_that_is_no_text_breaks_nothing(piece, tmp_path):
    name = b"bytes\xff\xfe.mid"
    try:
        (tmp_path / name.decode("utf-8", "surrogateescape")).write_bytes(piece.read_bytes())
    except OSError:
        pytest.skip("this file system takes text only")
    command = [sys.executable, "-m", "musicgen", "info", name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    assert b"24 notes" in done.stdout


def test_a_terminal_without_unicode_breaks_nothing(piece, tmp_path):
    (tmp_path / "小 🎹.mid").write_bytes(piece.read_bytes())
    done = subprocess.run(
        [sys.executable, "-m", "musicgen", "info", "小 🎹.mid"],
        cwd=tmp_path,
        capture_output=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path), "PYTHONIOENCODING": "ascii", "PATH": ""},
    )
    assert b"24 notes" in done.stdout


def test_render_makes_sound(call_json, piece, tmp_path):
    report = call_json("render", piece, "-o", tmp_path / "new" / "a.wav")
    with wave.open(report["file"]) as sound:
        seconds = sound.getnframes() / sound.getframerate()
        samples = np.frombuffer(sound.readframes(sound.getnframes()), dtype="<i2")
    assert seconds == pytest.approx(report["seconds"], abs=0.01)
    assert seconds >= 5.99
    assert np.sqrt(np.mean(samples.astype(float) ** 2)) > 300


def test_render_makes_an_mp3(call_json, piece, tmp_path):
    report = call_json("render", piece, "-o", tmp_path / "a.MP3")
    data = (tmp_path / "a.MP3").read_bytes()
    assert len(data) == report["bytes"] < 400_000
    assert data[:2] == b"\xff\xfb" or data[:3] == b"ID3"


def test_render_draws_the_roll(call_json, piece, tmp_path):
    report = call_json("render", piece, "-o", tmp_path / "a.png")
    assert report["notes"] == 24
    picture = Image.open(io.BytesIO((tmp_path / "a.png").read_bytes())).convert("L")
    assert picture.width > 300
    assert len(picture.getcolors()) > 2, "the picture is empty"


def test_render_tells_new_music_from_what_it_goes_on_from(call_json, piece, small_model, tmp_path):
    """Guards the picture of a continuation, in which the new part was one more colour."""
    pictures = {}
    for name, options in (("whole", []), ("new", ["--only-new"])):
        made = tmp_path / f"{name}.mid"
        wanted = ["--seconds", "3", "--seed", "1", "--model", small_model, *options]
        call_json("continue", piece, "-o", made, *wanted)
        call_json("render", made, "-o", made.with_suffix(".png"))
        pixels = np.asarray(Image.open(made.with_suffix(".png")).convert("RGB")).astype(int)
        pictures[name] = (pixels.reshape(-1, 3) == LIGHT.accent).all(axis=1).any()
    assert pictures == {"whole": True, "new": False}  # a seam, where there is one


def test_render_has_the_studio_s_colours(call_json, piece, small_model, tmp_path):
    """Guards: new music orange and the prompt blue, where the studio has teal and orange."""
    wanted = ["--seconds", "3", "--seed", "1", "--model", small_model]
    call_json("generate", "-o", tmp_path / "made.mid", *wanted)
    call_json("continue", piece, "-o", tmp_path / "longer.mid", *wanted)
    found = {}
    for file in (piece, tmp_path / "made.mid", tmp_path / "longer.mid"):
        call_json("render", file, "-o", tmp_path / "a.png")
        colours = Image.open(tmp_path / "a.png").convert("RGB").getcolors(1 << 24)
        seen = {colour for _, colour in colours}
        found[file.stem] = (LIGHT.tracks[0] in seen, LIGHT.new in seen)
    assert found == {piece.stem: (True, False), "made": (False, True), "longer": (True, True)}


def test_render_of_a_broken_file_leaves_nothing(call, tmp_path):
    bad = tmp_path / "bad.mid"
    bad.write_bytes(b"MThd")
    result = call("render", bad, "-o", tmp_path / "a.wav", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["error"]["message"]
    assert not (tmp_path / "a.wav").exists()


def test_attention_as_arrays(call_json, piece, small_model, tmp_path):
    report = call_json("attention", piece, "-o", tmp_path / "a.npz", "--model", small_model)
    with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
        weights, ids = arrays["weights"], arrays["ids"]
        note_index, notes = arrays["note_index"], arrays["notes"]
    events = len(ids)
    assert weights.dtype == np.float16
    assert weights.shape == (2, 4, events, events)
    assert ids.shape == (events, 4)
    assert note_index.shape == (events,)
    assert notes.shape == (24, 4)
    assert (report["events"], report["notes"]) == (events, 24)
    assert np.allclose(weights.astype(np.float32).sum(-1), 1, atol=0.01)
    assert notes[0].tolist() == pytest.approx([0.0, 0.24, 50, 62], abs=3)


def test_attention_of_one_layer_and_head(call_json, piece, small_model, tmp_path):
    """Guards another head on the command line than the one of that number in the studio."""
    args = ("attention", piece, "--model", small_model, "--seconds", 3)
    call_json(*args, "-o", tmp_path / "all.npz")
    call_json(*args, "-o", tmp_path / "one.npz", "--layer", 2, "--head", 1)
    whole, one = np.load(tmp_path / "all.npz"), np.load(tmp_path / "one.npz")
    assert one["weights"].shape[:2] == (1, 1)
    assert np.array_equal(one["weights"][0, 0], whole["weights"][1, 0])
    assert len(whole["notes"]) == 12


def test_attention_as_pictures(call_json, piece, small_model, tmp_path):
    args = ("attention", piece, "--model", small_model)
    call_json(*args, "-o", tmp_path / "grid.png")
    call_json(*args, "-o", tmp_path / "row.png", "--layer", 1)
    call_json(*args, "-o", tmp_path / "one.png", "--layer", 1, "--head", 4)
    pictures = [(tmp_path / f"{name}.png").read_bytes() for name in ("grid", "row", "one")]
    for data in pictures:
        assert Image.open(io.BytesIO(data)).width > 50
    assert len(set(pictures)) == 3


def test_a_head_that_is_not_there_is_named_with_those_that_are(call, piece, small_model, tmp_path):
    args = ("attention", piece, "-o", tmp_path / "a.png", "--model", small_model)
    for option, words in (("--head", "heads are 1 to 4"), ("--layer", "layers are 1 to 2")):
        result = call(*args, option, 5)
        assert result.exit_code == 1
        assert words in result.stderr
        assert "Loading" not in result.stderr  # which takes seconds, and is for nothing


def test_a_files_facts_wait_for_no_torch(piece):
    """Guards a second of waiting for facts that are read in a tenth of one."""
    code = (
        "import sys; from musicgen.cli.app import app\n"
        f"app(['info', {str(piece)!r}], standalone_mode=False)\n"
        "print([m for m in ('torch', 'numba', 'miditok') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1:] == ["[]"], done.stdout + done.stderr


def test_info_leaves_out_what_was_not_set(call, small_model, tmp_path):
    """Guards: a recipe listed with `steps: None` and the like."""
    from musicgen.checkpoint import load_checkpoint, save_checkpoint

    folder = tmp_path / "model"
    loaded = load_checkpoint(small_model)
    save_checkpoint(
        folder,
        decoder=loaded.decoder,
        tokenizer=loaded.tokenizer,
        name="small",
        step=0,
        training={"recipe": {"steps": None, "minutes": 2.0}},
    )
    said = call("info", folder).stdout
    assert "minutes: 2.0" in said
    assert "None" not in said


@pytest.mark.parametrize("command", ["generate", "continue", "attention", "evaluate", "train"])
def test_an_unknown_model_is_refused_before_anything_is_loaded(call, piece, tmp_path, command):
    """Guards: "Loading the model nope ..." before the sentence that there is none."""
    out = tmp_path / ("a.png" if command == "attention" else "a.mid")
    args = {
        "generate": ("-o", out, "--model", "nope"),
        "continue": (piece, "-o", out, "--model", "nope"),
        "attention": (piece, "-o", out, "--model", "nope"),
        "evaluate": ("nope", piece.parent),
        "train": (piece.parent, "-o", tmp_path / "r", "--from", "nope"),
    }[command]
    result = call(command, *args)
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: There is no model 'nope'")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["generate", "continue", "attention", "evaluate", "train"])
def test_a_missing_device_is_refused_before_anything_is_loaded(piece, tmp_path, command):
    """Guards: "Loading the model piano ..." and seconds of imports before the refusal."""
    out = tmp_path / ("a.png" if command == "attention" else "a.mid")
    args = {
        "generate": ("-o", out),
        "continue": (piece, "-o", out),
        "attention": (piece, "-o", out),
        "evaluate": ("piano", piece.parent),
        "train": (piece.parent, "-o", tmp_path / "r"),
    }[command]
    args = [command, *map(str, args), "--device", "cuda"]
    code = (
        "import sys, torch; torch.cuda.is_available = lambda: False\n"
        "from musicgen.cli.app import app\n"
        f"try: app({args!r}, standalone_mode=False)\n"
        "finally: print([m for m in ('musicgen.engine', 'musicgen.training') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
    assert done.stderr == (
        "Error: This machine has no CUDA device that torch can use.\nUse the device cpu, or auto.\n"
    )
    assert not list(tmp_path.iterdir())


def test_evaluate_tells_bits_a_note(call, call_json, small_model, piece, tmp_path):
    folder = tmp_path / "music"
    folder.mkdir()
    (folder / "a.mid").write_bytes(piece.read_bytes())
    (folder / "bad.mid").write_bytes(b"x")
    report = call_json("evaluate", small_model, folder)
    assert report["bits_per_note"] == pytest.approx(sum(report["bits_by_attribute"].values()))
    assert set(report["bits_by_attribute"]) == {"gap", "pitch", "velocity", "length"}
    assert (report["notes"], report["pieces"]) == (24, 1)
    assert (report["grid_ms"], report["velocity_bins"]) == (10, 32)
    assert report["events_per_note"] >= 1
    assert sum(report["refused"].values()) == 1
    (folder / "twin.mid").write_bytes(piece.read_bytes())
    said = call("evaluate", small_model, folder).stdout
    assert "bits a note" in said
    # `musicgen corpus` leaves the twin out: it is said that here it counts.
    assert "in 2 pieces (all that can be read, twins too)" in said


def test_evaluate_of_an_empty_folder_is_a_sentence(call, small_model, tmp_path):
    result = call("evaluate", small_model, tmp_path)
    assert result.exit_code == 1
    assert str(tmp_path) in result.stderr


def test_attention_in_words_and_numbers(call, call_json, piece, small_model, tmp_path):
    """Guards: a backslash and an n between the heads' sentences, where lines should end."""
    args = ("attention", piece, "-o", tmp_path / "a.png", "--model", small_model, "--layer", 2)
    report = call_json(*args, "--habits")
    assert [(each["layer"], each["head"]) for each in report["habits"]] == [
        (2, head) for head in (1, 2, 3, 4)
    ]
    for each in report["habits"]:
        assert each["words"].endswith(".")
        assert 0 <= each["shares"]["first"] <= 1
    assert "habits" not in call_json(*args)
    lines = call(*args, "--habits").stdout.splitlines()[1:]
    assert [line.partition(":")[0] for line in lines] == [
        f"layer 2, head {h}" for h in (1, 2, 3, 4)
    ]
