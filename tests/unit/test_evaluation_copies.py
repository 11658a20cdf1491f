"""The copy check: what was copied is found in its place, what was not is not called a copy."""

from __future__ import annotations

import json
import shutil
import struct
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from musicgen.checkpoint import add_file, load_checkpoint, read_manifest
from musicgen.errors import CheckpointCorruptError, CheckpointError, CorpusError
from musicgen.evaluation.copies import (
    INDEX_FILE,
    CopyIndex,
    build_copy_index,
    find_copies,
    folder_pieces,
    index_from_bytes,
    index_to_bytes,
    load_copy_index,
    with_yardstick,
)
from musicgen.evaluation.copies.index import CopySettings
from musicgen.midi import NoteTable

PIECES = 24
PIECE_S = 90.0


def compose(seed: int, seconds: float = PIECE_S) -> NoteTable:
    """Return a melody over chords, both wandering; no two seeds share more than chance."""
    rng = np.random.default_rng(seed)
    onset: list[float] = []
    pitch: list[int] = []
    melody, bass, at = 72, 48, 0.0
    while at < seconds:
        melody = int(np.clip(melody + rng.integers(-5, 6), 62, 92))
        onset.append(at)
        pitch.append(melody)
        if rng.random() < 0.5:
            bass = int(np.clip(bass + rng.integers(-6, 7), 34, 58))
            onset += (at + rng.uniform(0, 0.02, 3)).tolist()
            pitch += [bass, bass + 4, bass + 7]
        at += float(rng.choice([0.15, 0.3, 0.45]))
    return table(onset, pitch)


def table(onset_s, pitch) -> NoteTable:
    onset_s = np.asarray(onset_s, dtype=np.float64)
    return NoteTable.of(onset_s, onset_s + 0.2, pitch, np.full(len(onset_s), 64))


def copied(
    piece: NoteTable, take: NoteTable, *, start_s: float, seconds: float, seed: int = 0
) -> NoteTable:
    """Hide a passage in a take at 20 s: 5 semitones up, 1.3 times as slow, loosely played."""
    inside = (piece.onset_s >= start_s) & (piece.onset_s < start_s + seconds)
    jitter = np.random.default_rng(seed).normal(0, 0.015, inside.sum())
    hidden = 20 + 1.3 * (piece.onset_s[inside] - start_s) + jitter
    before = take.onset_s < 20
    after = take.onset_s[~before] + 1.3 * seconds
    return table(
        np.concatenate([take.onset_s[before], hidden, after]),
        np.concatenate([take.pitch[before], piece.pitch[inside] + 5, take.pitch[~before]]),
    )


@pytest.fixture(scope="module")
def pieces() -> list[tuple[str, NoteTable]]:
    return [(f"piece-{seed}.mid", compose(seed)) for seed in range(PIECES)]


@pytest.fixture(scope="module")
def index(pieces) -> CopyIndex:
    held_out = [(f"held-{seed}.mid", compose(1000 + seed)) for seed in range(8)]
    return with_yardstick(build_copy_index(pieces), held_out, lengths_s=(30.0, 60.0))


@pytest.mark.parametrize("number", [0, 7, 23])
def test_a_hidden_passage_is_found_with_its_piece_and_places(index, pieces, number):
    """Guards the issue's own case: transposed by 5, stretched by 1.3, 15 ms of loose playing."""
    take = copied(pieces[number][1], compose(500, 45.0), start_s=31.0, seconds=10.0)
    report = find_copies(index, take)
    found = report.passage
    assert found is not None
    assert found.piece == f"piece-{number}.mid"
    assert found.transposition == 5
    assert found.take_start_s == pytest.approx(20.0, abs=1.5)
    assert found.take_end_s == pytest.approx(33.0, abs=1.5)
    assert found.piece_start_s == pytest.approx(31.0, abs=1.5)
    assert found.piece_end_s == pytest.approx(41.0, abs=1.5)
    assert found.tempo == pytest.approx(1 / 1.3, rel=0.05)
    assert found.timing_ms < 60
    assert report.beyond is True
    assert "This is a copy" in report.verdict


def test_music_of_its_own_is_no_copy(index):
    for seed in range(2000, 2006):
        report = find_copies(index, compose(seed, 60.0))
        assert report.beyond is False, report.verdict


def test_the_performance_itself_is_told_from_another_of_the_same_music(pieces):
    """Guards: another performance, or a repeat, with one fingerprint more won over the source."""
    name, piece = pieces[3]
    rng = np.random.default_rng(5)
    rubato = np.cumsum(np.diff(piece.onset_s, prepend=0) * rng.uniform(0.9, 1.1, len(piece)))
    other = table(rubato, piece.pitch)
    index = build_copy_index([("another.mid", other), (name, piece)])
    found = find_copies(index, copied(piece, compose(500, 45.0), start_s=30, seconds=12)).passage
    assert found is not None
    assert found.piece == name
    assert found.also_in == ("another.mid",)


@pytest.mark.parametrize("notes", [0, 1, 7, 8])
def test_hardly_any_notes_share_nothing(index, notes):
    """Guards: empty arrays on the way, and a yardstick looked up for a length of 0."""
    report = find_copies(index, compose(3000).select(slice(0, notes)))
    assert report.passage is None
    assert report.beyond is False
    assert "No passage" in report.verdict


@pytest.mark.parametrize("pattern", [(0,), (0, 2), (0, 1, 2, 3, 4, 5), (0, 12), (12, 0, 0)])
def test_what_belongs_to_everybody_is_no_passage(pattern):
    """Guards: trills, repeated notes, octaves and chromatic scales counted as copies."""
    onset = np.arange(200) * 0.12
    stock = table(onset, 60 + np.resize(pattern, 200))
    index = build_copy_index([("stock.mid", stock), ("other.mid", compose(1))])
    found = find_copies(index, stock).passage
    assert found is None


def test_without_a_yardstick_nothing_is_judged(pieces):
    report = find_copies(build_copy_index(pieces[:2]), pieces[0][1])
    assert report.beyond is None
    assert report.yardstick is None
    assert "has not been measured" in report.verdict
    assert report.passage is not None
    assert report.passage.tempo == pytest.approx(1.0, abs=0.01)


def test_the_yardstick_is_that_of_the_nearest_length(index):
    assert find_copies(index, compose(4000, 25.0)).yardstick.excerpt_s == 30.0
    assert find_copies(index, compose(4000, 80.0)).yardstick.excerpt_s == 60.0
    row = index.yardstick[0]
    assert row.notes_50 <= row.notes_95 <= row.notes_max
    assert row.excerpts == 8 * 2  # whole excerpts of 30 s in music of 90 s that ends before 90


def test_an_index_comes_back_from_its_bytes(index, pieces):
    again = index_from_bytes(index_to_bytes(index))
    take = copied(pieces[4][1], compose(500, 45.0), start_s=20, seconds=12)
    assert find_copies(again, take) == find_copies(index, take)
    assert index_to_bytes(again) == index_to_bytes(index)
    # 1 in (spacing + 1) / 2 fingerprints of two lines, 6 bytes each at most.
    notes = sum(len(piece) for _, piece in pieces)
    assert len(index_to_bytes(index)) < 2.5 * notes + 5000


def test_a_piece_of_no_fingerprint_and_one_with_a_long_rest_survive_storing(pieces):
    rest = pieces[0][1]
    late = table(np.concatenate([rest.onset_s, rest.onset_s + 5000]), np.tile(rest.pitch, 2))
    short = rest.select(slice(0, 3))
    index = build_copy_index([("short.mid", short), ("late.mid", late), ("last.mid", short)])
    again = index_from_bytes(index_to_bytes(index))
    assert np.array_equal(again.times, index.times)
    assert again.counts == index.counts


def test_no_pieces_are_a_sentence(index, tmp_path):
    with pytest.raises(CorpusError, match="no piece"):
        build_copy_index([])
    with pytest.raises(CorpusError, match="as long as"):
        with_yardstick(index, [("short.mid", compose(1, 5.0))])
    with pytest.raises(CorpusError, match="no folder"):
        list(folder_pieces(tmp_path / "nowhere"))


@pytest.mark.parametrize(("name", "value"), [("gram", 2), ("spacing", 0), ("window_s", 5.0)])
def test_settings_out_of_range_are_refused(name, value):
    with pytest.raises(ValueError, match=name):
        CopySettings(**{name: value})


def damaged(data: bytes) -> list[bytes]:
    length = struct.unpack_from("<I", data, 8)[0]
    header = json.loads(data[12 : 12 + length])
    body = data[12 + length :]

    def forged(body: bytes = body, **changes: object) -> bytes:
        text = json.dumps({**header, **changes}).encode()
        return data[:8] + struct.pack("<I", len(text)) + text + body

    bomb = zlib.compress(bytes(50_000_000))
    return [
        b"",
        data[:10],
        data[: len(data) // 2],
        b"x" + data[1:],
        data[:8] + struct.pack("<I", 2**32 - 1) + data[12:],
        data + b"more",
        forged(bomb),
        forged(version=2),
        forged(counts=[2**40] * len(header["counts"])),
        forged(counts=[-1, *header["counts"][1:]]),
        forged(counts=header["counts"][:-1]),
        forged(pieces=[]),
        forged(settings={"gram": "8"}),
        forged(settings={**header["settings"], "gram": 0}),
        forged(surprise=1),
        forged(yardstick=[{**header["yardstick"][0], "excerpt_s": 0.0}]),
        data[:8] + struct.pack("<I", 100_000) + b"[" * 100_000,
    ]


def test_a_damaged_index_is_refused(index):
    """Guards: a foreign file that ends in a traceback or fills the memory."""
    for number, data in enumerate(damaged(index_to_bytes(index))):
        with pytest.raises(CheckpointCorruptError) as caught:
            index_from_bytes(data)
        assert caught.value.hint, number


@pytest.fixture
def model(root: Path, tmp_path: Path) -> Path:
    """Return a checkpoint of the shipped model's weights, without an index."""
    folder = tmp_path / "model"
    shutil.copytree(root / "checkpoints" / "piano", folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"].pop(INDEX_FILE, None)
    (folder / INDEX_FILE).unlink(missing_ok=True)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def test_a_checkpoint_carries_its_index(model, index, pieces):
    """Guards: the check needs the corpus, or an older checkpoint does not load any more."""
    with pytest.raises(CheckpointError, match="no copy index") as caught:
        load_copy_index(model)
    assert caught.value.code == "no-copy-index"
    card = (model / "README.md").read_text()
    weights = load_checkpoint(model).sha256
    add_file(model, INDEX_FILE, index_to_bytes(index))
    assert (model / "README.md").read_text() == card
    assert load_checkpoint(model).sha256 == weights
    take = copied(pieces[2][1], compose(500, 45.0), start_s=20, seconds=12)
    found = find_copies(load_copy_index(model), take).passage
    assert found is not None
    assert found.piece == "piece-2.mid"


def test_a_rotten_index_in_a_checkpoint_is_refused(model, index):
    add_file(model, INDEX_FILE, index_to_bytes(index))
    data = bytearray((model / INDEX_FILE).read_bytes())
    data[-100] ^= 1
    (model / INDEX_FILE).write_bytes(bytes(data))
    with pytest.raises(CheckpointCorruptError, match="damaged"):
        load_copy_index(model)


@pytest.mark.parametrize("key", ["manifest.json", "model.json", "../copies.bin"])
def test_a_further_file_cannot_replace_one_that_every_checkpoint_has(model, key):
    before = read_manifest(model)
    with pytest.raises(ValueError, match="no name"):
        add_file(model, key, b"")
    assert read_manifest(model) == before


def test_columns_of_different_lengths_are_refused(index):
    with pytest.raises(ValueError, match="one row an entry"):
        replace(index, times=index.times[1:])
