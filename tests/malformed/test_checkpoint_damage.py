"""A checkpoint that was damaged, swapped or forged is refused in one sentence, never used."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from musicgen.checkpoint import (
    add_file,
    describe_checkpoint,
    load_checkpoint,
    save_checkpoint,
)
from musicgen.checkpoint.copy import copy_checkpoint
from musicgen.errors import (
    CheckpointCorruptError,
    CheckpointError,
    CheckpointFormatError,
    CheckpointMismatchError,
    CheckpointNotFoundError,
    NoNumbersError,
)
from musicgen.evaluation.bits import sliding_windows, surprise
from musicgen.inspection.recording import look
from musicgen.model import Decoder, DecoderConfig
from musicgen.tokens import get_tokenizer

WEIGHTS = "model.safetensors"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "sound"
    tokenizer = get_tokenizer()
    config = DecoderConfig(
        vocab_sizes=tokenizer.vocab_sizes, d_model=16, n_layers=1, d_ff=16, d_head_ff=16
    )
    save_checkpoint(
        folder, decoder=Decoder(config), tokenizer=tokenizer, name="sound", step=7, training={}
    )
    return folder


@pytest.fixture
def copy(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "copy"))


def forge(folder: Path, name: str, data: bytes) -> None:
    """Replace a file and make the manifest agree: what a hostile sender can do."""
    (folder / name).write_bytes(data)
    manifest = json.loads((folder / "manifest.json").read_text())
    facts = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    manifest["files"][name] = facts
    (folder / "manifest.json").write_text(json.dumps(manifest))


def safetensors(header: Any, body: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def test_a_sound_checkpoint_loads_equal(sound: Path) -> None:
    checkpoint = load_checkpoint(sound)
    again = Decoder(checkpoint.decoder.config)
    for a, b in zip(checkpoint.decoder.parameters(), again.parameters(), strict=True):
        assert torch.equal(a, b)
    assert checkpoint.tokenizer.fingerprint == get_tokenizer().fingerprint
    assert checkpoint.sha256 == hashlib.sha256((sound / WEIGHTS).read_bytes()).hexdigest()


def test_one_byte_flipped_anywhere_is_refused(copy: Path) -> None:
    """Guards: bit rot that loads in silence (torch.load does not check its CRCs)."""
    rng = random.Random(1)
    files = sorted(path for path in copy.iterdir() if path.name != "manifest.json")
    for _ in range(60):
        path = rng.choice(files)
        data = bytearray(path.read_bytes())
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        whole = path.read_bytes()
        path.write_bytes(bytes(data))
        with pytest.raises(CheckpointCorruptError, match="damaged"):
            load_checkpoint(copy)
        path.write_bytes(whole)


@pytest.mark.parametrize("name", ["model.json", "tokenizer.json", WEIGHTS, "manifest.json"])
@pytest.mark.parametrize("how", ["missing", "empty", "half"])
def test_incomplete_files_are_refused(copy: Path, name: str, how: str) -> None:
    data = (copy / name).read_bytes()
    (copy / name).unlink()
    if how != "missing":
        (copy / name).write_bytes(b"" if how == "empty" else data[: len(data) // 2])
    with pytest.raises(CheckpointError) as caught:
        load_checkpoint(copy)
    assert caught.value.hint


def test_a_tokenizer_of_another_model_is_refused(copy: Path) -> None:
    """Guards T13: ids of one tokenizer read by another are nonsense without an error."""
    text = json.loads((copy / "tokenizer.json").read_text())
    text["settings"] = {**text["settings"], "grid_ms": 20}
    forge(copy, "tokenizer.json", json.dumps(text).encode())
    with pytest.raises(CheckpointError, match="tokenizer"):
        load_checkpoint(copy)


def test_weights_that_are_not_numbers_are_refused(copy: Path) -> None:
    data = bytearray((copy / WEIGHTS).read_bytes())
    data[-4:] = struct.pack("<f", float("nan"))
    forge(copy, WEIGHTS, bytes(data))
    with pytest.raises(CheckpointCorruptError, match="not a number"):
        load_checkpoint(copy)


def test_sizes_that_do_not_fit_the_weights_are_refused_before_memory_is_taken(copy: Path) -> None:
    sizes = json.loads((copy / "model.json").read_text())
    forge(copy, "model.json", json.dumps({**sizes, "d_model": 8192, "n_layers": 96}).encode())
    with pytest.raises(CheckpointMismatchError, match="ask for"):
        load_checkpoint(copy)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x80\x04pickle",
        struct.pack("<Q", 2**63) + b"{}",
        struct.pack("<Q", 2**64 - 1) + b"{}",
        safetensors(b"not json"),
        safetensors([]),
        safetensors(b'{"a":{"dtype":"F32"},"a":{"dtype":"F32"}}'),
        safetensors({"a": {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 4]}}),
        safetensors({"a": {"dtype": "I8", "shape": [4], "data_offsets": [0, 4]}}, b"abcd"),
        safetensors({"a": {"dtype": "F32", "shape": [float("inf")], "data_offsets": [0, 4]}}),
        safetensors({"a": None}),
        safetensors(
            {f"n{i}": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for i in range(20_000)}
        ),
        safetensors(b"[" * 100_000),
    ],
)
def test_forged_weight_files_are_refused(copy: Path, data: bytes) -> None:
    forge(copy, WEIGHTS, data)
    with pytest.raises(CheckpointError):
        load_checkpoint(copy)


def test_a_pickle_is_never_run(copy: Path, tmp_path: Path) -> None:
    """Guards S08: a checkpoint whose loading runs the sender's code."""
    marker = tmp_path / "ran"
    evil = b"cos\nsystem\n(S'touch " + str(marker).encode() + b"'\ntR."
    for name in (WEIGHTS, "model.json", "tokenizer.json"):
        whole = (copy / name).read_bytes()
        forge(copy, name, evil)
        with pytest.raises(CheckpointError):
            load_checkpoint(copy)
        forge(copy, name, whole)
    assert not marker.exists()


@pytest.mark.parametrize("read", [load_checkpoint, describe_checkpoint])
@pytest.mark.parametrize(
    "data",
    [
        b"cos\n",
        b"[" * 100_000,
        b"\xff\xfe{}",
        b"",
        b"null",
        b'{"a": NaN}',
        b'{"n_heads": 8, "n_heads": 8}',
        b"[" + b"1," * 600_000 + b"1]",
    ],
)
def test_sizes_that_are_no_json_are_refused(copy: Path, read: Any, data: bytes) -> None:
    """Guards: a JSONDecodeError of `musicgen info`, and a RecursionError while loading."""
    forge(copy, "model.json", data)
    with pytest.raises(CheckpointCorruptError, match=r"model\.json") as caught:
        read(copy)
    assert caught.value.hint


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_a_manifest_with_what_json_has_not_is_refused(copy: Path, number: str) -> None:
    """Guards `musicgen info --json`, which read it and could not print it."""
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest["training"]["x"] = 0.125
    text = json.dumps(manifest).replace("0.125", number)
    (copy / "manifest.json").write_text(text)
    with pytest.raises(CheckpointFormatError, match=number) as caught:
        describe_checkpoint(copy)
    assert caught.value.message.count("manifest.json") == 1


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"null", "holds nothing (null), not a table of settings."),
        (b"[" * 100_000, "is not valid JSON: it is nested too deep."),
    ],
)
def test_a_manifest_that_is_none_is_told_in_plain_words(copy: Path, data: bytes, words: str):
    """Guards "holds None" and "maximum recursion depth exceeded"."""
    (copy / "manifest.json").write_bytes(data)
    with pytest.raises(CheckpointFormatError) as caught:
        load_checkpoint(copy)
    assert caught.value.message.endswith(words)


def test_sizes_and_tokenizers_that_are_nested_too_deep_are_told_so(copy: Path) -> None:
    for name in ("model.json", "tokenizer.json"):
        whole = (copy / name).read_bytes()
        forge(copy, name, b"[" * 100_000)
        with pytest.raises(CheckpointCorruptError, match="it is nested too deep"):
            load_checkpoint(copy)
        forge(copy, name, whole)


@pytest.mark.parametrize(
    "name",
    ["../../secret", "/etc/hostname", "..", "", "sub/file", "..\\secret", "C:secret", "a\0b"],
)
def test_a_manifest_names_no_file_outside_its_folder(copy: Path, name: str) -> None:
    """Guards hashes of foreign files, and a pipe elsewhere that `musicgen info` waited for."""
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest["files"][name] = manifest["files"]["model.json"]
    (copy / "manifest.json").write_text(json.dumps(manifest))
    for read in (load_checkpoint, describe_checkpoint):
        with pytest.raises(CheckpointFormatError, match="no plain file name") as caught:
            read(copy)
        assert caught.value.hint


@pytest.mark.skipif(os.name == "nt", reason="Windows has no named pipes")
def test_a_pipe_in_a_checkpoint_makes_nobody_wait(copy: Path) -> None:
    """Guards a pipe of no bytes, as which a manifest may tell it: reading it waits for ever."""
    forge(copy, "model.json", b"")
    (copy / "model.json").unlink()
    os.mkfifo(copy / "model.json")
    with pytest.raises(CheckpointCorruptError, match="no ordinary file"):
        load_checkpoint(copy)


@pytest.mark.parametrize("name", [WEIGHTS, "tokenizer.json", "copies.bin"])
@pytest.mark.parametrize("damage", ["gone", "empty", "half", "folder"])
def test_what_is_damaged_is_not_told_as_sound(copy: Path, name: str, damage: str) -> None:
    """Guards `musicgen info`, which said "ok" of a model that could not be loaded."""
    add_file(copy, "copies.bin", bytes(range(200)))
    describe_checkpoint(copy)
    path = copy / name
    data = path.read_bytes()
    path.unlink()
    if damage == "folder":
        path.mkdir()
    elif damage != "gone":
        path.write_bytes(data[: len(data) // 2 if damage == "half" else 0])
    with pytest.raises(CheckpointCorruptError, match=name):
        describe_checkpoint(copy)


def test_numbers_that_are_too_large_are_a_sentence_everywhere(copy: Path, tmp_path: Path) -> None:
    """Guards `nan bits a note` with exit code 0, and attention maps of nan."""
    checkpoint = load_checkpoint(copy)
    with torch.no_grad():
        for name, parameter in checkpoint.decoder.named_parameters():
            if "to_q" in name or "to_k" in name or "embeddings" in name:
                parameter.fill_(3e38)
    ids = np.repeat([[20, 60, 20, 20]], 9, axis=0)
    with pytest.raises(NoNumbersError) as caught:
        list(look(checkpoint.decoder, checkpoint.tokenizer, ids).weights)
    assert caught.value.hint
    with pytest.raises(NoNumbersError):
        surprise(checkpoint.decoder, ids, list(sliding_windows(0, 9, 8)))


@pytest.mark.parametrize("key", ["version", "format", "surprise"])
def test_a_foreign_manifest_is_refused(copy: Path, key: str) -> None:
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest[key] = 2 if key == "version" else "other"
    (copy / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(CheckpointError):
        load_checkpoint(copy)


@pytest.mark.parametrize("read", [load_checkpoint, describe_checkpoint])
def test_a_manifest_that_names_no_weights_is_refused(copy: Path, read: Any) -> None:
    """Guards: `musicgen info` on it ended with a KeyError."""
    manifest = json.loads((copy / "manifest.json").read_text())
    del manifest["files"][WEIGHTS]
    (copy / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(CheckpointError, match=WEIGHTS):
        read(copy)


def test_no_such_model_says_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(CheckpointNotFoundError, match="nowhere") as caught:
        load_checkpoint(tmp_path / "nowhere")
    assert "musicgen train" in caught.value.hint


def test_a_failed_save_leaves_what_was_there(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Guards: a full disk while saving costs the checkpoint before."""
    before = load_checkpoint(copy)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("musicgen.checkpoint.folder.os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        save_checkpoint(
            copy,
            decoder=before.decoder,
            tokenizer=before.tokenizer,
            name="copy",
            step=8,
            training={},
        )
    monkeypatch.undo()
    assert load_checkpoint(copy).manifest.step == 7
    assert [path.name for path in copy.parent.iterdir()] == ["copy"]


def test_bf16_halves_the_file_and_loads_as_float32(sound: Path, tmp_path: Path) -> None:
    whole = load_checkpoint(sound)
    save_checkpoint(
        tmp_path / "half",
        decoder=whole.decoder,
        tokenizer=whole.tokenizer,
        name="half",
        step=7,
        training={},
        dtype=torch.bfloat16,
    )
    ratio = (tmp_path / "half" / WEIGHTS).stat().st_size / (sound / WEIGHTS).stat().st_size
    assert ratio < 0.6
    half = load_checkpoint(tmp_path / "half")
    for a, b in zip(whole.decoder.parameters(), half.decoder.parameters(), strict=True):
        assert b.dtype == torch.float32
        torch.testing.assert_close(a, b, atol=1e-2, rtol=1e-2)


def test_a_checkpoint_is_written_where_a_link_leads(copy: Path, tmp_path: Path) -> None:
    """Guards the second save to a linked folder, which broke: the link had been set aside."""
    link = tmp_path / "best"
    link.symlink_to("copy")
    for data in (b"one", b"two"):
        add_file(link, "more.json", data)
        assert link.is_symlink()
        assert (copy / "more.json").read_bytes() == data
    assert sorted(path.name for path in tmp_path.iterdir()) == ["best", "copy"]


def test_a_file_in_a_checkpoints_place_is_kept(sound: Path, tmp_path: Path) -> None:
    """Guards a file that was set aside, and stayed so, where a checkpoint was to be written."""
    place = tmp_path / "model"
    place.write_bytes(b"precious")
    with pytest.raises(NotADirectoryError):
        copy_checkpoint(sound, place)
    assert place.read_bytes() == b"precious"
    assert list(tmp_path.iterdir()) == [place]
