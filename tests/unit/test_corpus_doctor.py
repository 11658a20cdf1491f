"""The corpus doctor: every file accounted for, whatever lies in the folder."""

from __future__ import annotations

import json
import os
import random
import shutil
import struct
import sys
import zipfile
from pathlib import Path

import pytest

from musicgen.assets import asset_dir
from musicgen.corpus import KEPT, Corpus, Diagnosis, build_corpus, diagnose
from musicgen.corpus.archives import archive_entries
from musicgen.corpus.page import diagnosis_page
from musicgen.corpus.report import told_clock
from musicgen.errors import CorpusError, NoUsableFilesError
from musicgen.midi import NoteTable, notes_to_score, write_midi
from musicgen.tokens import get_tokenizer
from twins import MAKERS

STARTER = sorted((asset_dir("data") / "starter").glob("*.mid"))
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes, pipes")


def look(root: Path, **options) -> Diagnosis:
    *_, diagnosis = diagnose(root, n_workers=1, **options)
    assert isinstance(diagnosis, Diagnosis)
    return diagnosis


def codes(diagnosis: Diagnosis) -> dict[str, str]:
    return {line.path: line.code for line in diagnosis.files}


def lay(root: Path, count: int = 3) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    for file in STARTER[:count]:
        shutil.copy(file, root / file.name)
    return root


def play(path: Path, onset_s, pitch, length_s: float = 0.2, **options) -> None:
    ends = [at + length_s for at in onset_s]
    write_midi(
        notes_to_score(NoteTable.of(onset_s, ends, pitch, [70] * len(pitch)), **options), path
    )


def test_each_reason_has_its_code(tmp_path):
    """Guards R20 and P68: files that vanish without a word; a 404 page that ends the run."""
    root = lay(tmp_path / "music", 2)
    (root / "page.mid").write_text("\n<!DOCTYPE html><title>404</title>")
    (root / "sound.mid").write_bytes(b"ID3\x04" + bytes(100))
    (root / "empty.mid").write_bytes(b"")
    (root / "notes.txt").write_text("buy milk")
    play(root / "short.mid", [0, 1, 2], [60, 62, 64])
    play(root / "silent.mid", [0, 1, 2, 3, 4, 5, 6, 900], [60, 62, 64, 65, 67, 69, 71, 72])
    play(root / "dense.mid", [i / 500 for i in range(1000)], [30 + i % 80 for i in range(1000)])
    play(root / "endless.mid", [i * 2000 for i in range(8)], list(range(60, 68)), 1999.0)
    shutil.copy(STARTER[0], root / "again.mid")
    data = STARTER[1].read_bytes()
    (root / "higher.mid").write_bytes(MAKERS["transposed"](data, random.Random(1)))
    drums = _drums(tmp_path)
    shutil.copy(drums, root / "drums.mid")
    shutil.copy(STARTER[2], root / "no_suffix")
    found = codes(look(root))
    assert found == {
        "page.mid": "web-page",
        "sound.mid": "not-midi",
        "empty.mid": "not-midi",
        "notes.txt": "other-file",
        "short.mid": "too-short",
        "silent.mid": "silence",
        "dense.mid": "too-dense",
        "endless.mid": "absurd-length",
        "drums.mid": "drums-only",
        "no_suffix": KEPT,
        **dict(zip(sorted([STARTER[0].name, "again.mid"]), (KEPT, "duplicate"), strict=True)),
        **{
            name: found[name]  # which of two is kept depends on the music
            for name in (STARTER[1].name, "higher.mid")
        },
    }
    assert sorted((found[STARTER[1].name], found["higher.mid"])) == [KEPT, "near-duplicate"]


def _drums(folder: Path) -> Path:
    import mido

    file, track = mido.MidiFile(), mido.MidiTrack()
    file.tracks.append(track)
    for _ in range(20):
        track.append(mido.Message("note_on", channel=9, note=36, velocity=90, time=0))
        track.append(mido.Message("note_off", channel=9, note=36, velocity=0, time=120))
    file.save(folder / "drums.mid")
    return folder / "drums.mid"


def test_training_takes_what_the_doctor_keeps(tmp_path):
    root = lay(tmp_path / "music", 12)
    rng = random.Random(4)
    for file in STARTER[:6]:
        (root / f"twin_{file.name}").write_bytes(MAKERS["transposed"](file.read_bytes(), rng))
        shutil.copy(file, root / f"copy_{file.name}")
    (root / "bad.mid").write_text("no")
    diagnosis = look(root)
    *_, corpus = build_corpus(root, tmp_path / "corpus", get_tokenizer(), n_workers=1)
    assert isinstance(corpus, Corpus)
    kept = {line.path: line.split for line in diagnosis.files if line.code == KEPT}
    assert {piece.path: piece.split for piece in corpus.report.pieces} == kept
    left_out = {line.path: line.code for line in diagnosis.files if line.code != KEPT}
    assert {r.path: r.code for r in corpus.report.refused} == left_out
    assert len(kept) == 12
    sides = {}
    for piece in corpus.report.pieces:
        assert sides.setdefault(piece.group, piece.split) == piece.split
    # Guards "No music is trained on twice" above "The music will be read 11 times".
    assert "Of files with the same music one is used." in corpus.report.sentence()
    assert "trained on twice" not in corpus.report.sentence()


def test_twins_that_are_added_move_no_music(tmp_path):
    """Guards a split that depends on which of several twins is there."""
    root = lay(tmp_path / "music", 24)
    before = {line.group: line.split for line in look(root).files}
    titles = {line.path: line.split for line in look(root).files}
    rng = random.Random(8)
    for file in STARTER:
        (root / f"a_{file.name}").write_bytes(MAKERS["transposed"](file.read_bytes(), rng))
    after = look(root)
    assert len(before) == 24
    for line in after.files:
        if line.code == KEPT:
            assert line.split == titles[line.path.removeprefix("a_")]


def test_a_second_run_reads_only_what_has_changed(tmp_path):
    root, cache = lay(tmp_path / "music", 6), tmp_path / "scan.npz"
    (root / "bad.mid").write_text("no")
    first = look(root, cache=cache)
    assert first.read == 7
    again = look(root, cache=cache)
    assert again.read == 0
    assert again.as_dict() == {**first.as_dict(), "read": 0}
    (root / STARTER[0].name).rename(root / "renamed.mid")
    shutil.copy(STARTER[6], root / "more.mid")
    os.utime(root / STARTER[1].name, ns=(1, 1))
    changed = look(root, cache=cache)
    assert changed.read == 3
    assert {line.path for line in changed.files} == {
        "renamed.mid", "more.mid", "bad.mid", *(file.name for file in STARTER[1:6])
    }  # fmt: skip


@pytest.mark.parametrize("damage", ["cut", "text", "flipped", "empty"])
def test_a_damaged_scan_is_made_anew_and_said(tmp_path, damage):
    root, cache = lay(tmp_path / "music", 3), tmp_path / "scan.npz"
    sound = look(root, cache=cache)
    data = bytearray(cache.read_bytes())
    if damage == "flipped":
        data[len(data) // 2] ^= 255
    cache.write_bytes({"cut": data[:-90], "text": b"hello", "empty": b""}.get(damage, data))
    found = look(root, cache=cache)
    assert found.read == 3
    assert any("damaged" in notice for notice in found.notices)
    assert found.files == sound.files
    assert look(root, cache=cache).read == 0


def test_a_scan_that_cannot_be_kept_stops_nothing(tmp_path):
    root = lay(tmp_path / "music", 2)
    (tmp_path / "file").write_text("in the way")
    found = look(root, cache=tmp_path / "file" / "scan.npz")
    assert found.by_code() == {KEPT: 2}
    assert any("read all files again" in notice for notice in found.notices)


def test_a_broken_off_run_keeps_what_it_read(tmp_path):
    root, cache = lay(tmp_path / "music", 5), tmp_path / "scan.npz"
    run = diagnose(root, cache=cache, n_workers=1)
    next(run)
    next(run)
    run.close()
    assert look(root, cache=cache).read == 3


@LINUX
def test_names_links_and_closed_folders(tmp_path):
    """Guards a traceback for a name that is no text, and walks that never end."""
    root = lay(tmp_path / "music", 1)
    names = [
        b"\xff\xfe.mid",
        "музыка.mid".encode(),
        "עברית\u202e.mid".encode(),
        b"a\nb.mid",
        b"-x.mid",
        b"<img src=x onerror=alert(1)>.mid",
        b"x" * 250 + b".mid",
    ]
    for name, file in zip(names, STARTER[1:], strict=False):
        shutil.copy(file, os.path.join(os.fsencode(root), name))
    (root / "loop").symlink_to(root)
    (root / "dangling.mid").symlink_to(root / "nothing.mid")
    os.mkfifo(root / "pipe.mid")
    diagnosis = look(root)
    assert diagnosis.by_code() == {KEPT: 8, "midi-unreadable": 2}
    assert "\\xff\\xfe.mid" in codes(diagnosis)
    json.dumps(diagnosis.as_dict()).encode("ascii")
    page = diagnosis_page(diagnosis)
    page.encode("utf-8")
    assert "<img src=x" not in page
    assert "\u202e" not in page
    *_, corpus = build_corpus(root, tmp_path / "corpus", get_tokenizer(), n_workers=1)
    assert isinstance(corpus, Corpus)
    assert len(list(build_corpus(root, tmp_path / "corpus", get_tokenizer()))) == 1


def test_a_closed_folder_is_told(tmp_path, monkeypatch):
    """Guards music that is missed in silence; root may enter every folder, so one is made up."""
    root = lay(tmp_path / "music", 1)
    closed = lay(root / "closed", 2)
    scandir = os.scandir

    def guarded(path):
        if Path(path) == closed:
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", guarded)
    assert codes(look(root))["closed"] == "unreadable-folder"


def zipped(path: Path, count: int = 3) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in STARTER[:count]:
            archive.write(file, f"deep/{file.name}")
        archive.writestr("deep/README", "hello")
        archive.writestr("__MACOSX/._a.mid", b"\0\5\x16\7")
    return path


def test_archives_are_looked_into(tmp_path):
    root = lay(tmp_path / "music", 1)
    zipped(root / "more.ZIP", 3)
    found = codes(look(root))
    name = STARTER[0].name
    assert sorted((found[name], found[f"more.ZIP/deep/{name}"])) == sorted([KEPT, "duplicate"])
    assert found["more.ZIP/deep/README"] == "other-file"
    assert sum(code == KEPT for code in found.values()) == 3
    alone = look(zipped(tmp_path / "alone.zip", 2))
    assert alone.by_code() == {KEPT: 2, "other-file": 2}
    *_, corpus = build_corpus(tmp_path / "alone.zip", tmp_path / "c", get_tokenizer())
    assert isinstance(corpus, Corpus)
    assert {piece.path for piece in corpus.report.pieces} == {
        f"deep/{file.name}" for file in STARTER[:2]
    }


def test_archives_are_not_believed(tmp_path, monkeypatch):
    """Guards S16: a gigabyte inside a zip takes 17 GB of memory and all the time there is."""
    root = lay(tmp_path / "music", 1)
    (root / "no.zip").write_bytes(b"PK\3\4 nothing")
    (root / "cut.zip").write_bytes(zipped(tmp_path / "whole.zip").read_bytes()[:-30])
    with zipfile.ZipFile(root / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.mid", bytes(50_000_000))
    with zipfile.ZipFile(root / "odd.zip", "w", zipfile.ZIP_BZIP2) as archive:
        archive.write(STARTER[0], "odd.mid")
    with zipfile.ZipFile(root / "inner.zip", "w") as archive:
        archive.write(tmp_path / "whole.zip", "whole.zip")
    zipfile.ZipFile(root / "empty.zip", "w").close()  # had no line at all
    found = codes(look(root))
    assert found["empty.zip"] == "bad-archive"
    assert found["no.zip"] == found["cut.zip"] == "bad-archive"
    assert found["bomb.zip/bomb.mid"] == found["odd.zip/odd.mid"] == "bad-archive"
    assert found["inner.zip/whole.zip"] == "other-file"
    lying = bytearray((tmp_path / "whole.zip").read_bytes())
    end = lying.rfind(b"PK\5\6")
    lying[end + 12 : end + 16] = struct.pack("<I", 2**31)
    (tmp_path / "lying.zip").write_bytes(lying)
    with pytest.raises(CorpusError, match="table of contents"):
        archive_entries(str(tmp_path / "lying.zip"))
    monkeypatch.setattr("musicgen.corpus.archives.MOST_BYTES", 1000)
    with pytest.raises(CorpusError, match="unpacks to"):
        archive_entries(str(tmp_path / "whole.zip"))


def test_nothing_to_find_is_a_sentence(tmp_path):
    (tmp_path / "a.txt").write_text("no music")
    with pytest.raises(NoUsableFilesError, match="none is called"):
        look(tmp_path)
    with pytest.raises(CorpusError, match="no folder"):
        look(tmp_path / "missing")
    (tmp_path / "bad.mid").write_text("no music")
    diagnosis = look(tmp_path)
    assert diagnosis.split_rule == "There is nothing to train on."
    assert "<img" not in diagnosis_page(diagnosis)


def test_many_small_files(tmp_path):
    """Guards 'one file; two; 29; 5,000 small ones': a round of comparisons that never ends."""
    rng = random.Random(1)
    for number in range(300):
        onset = [i * 0.25 for i in range(20)]
        play(tmp_path / f"{number:04}.mid", onset, [rng.randint(50, 80) for _ in onset])
    found = look(tmp_path)
    assert found.by_code() == {KEPT: 300}
    assert 10 <= found.by_split()["validation"] <= 55


def test_the_page_holds_every_line_and_needs_nothing(tmp_path):
    page = diagnosis_page(look(lay(tmp_path / "music", 5)))
    assert page.count("data:image/png;base64,") == 10
    for file in STARTER[:5]:
        assert file.name in page
    assert "http:" not in page
    assert "https:" not in page
    assert "<script" not in page


def test_the_doctor_speaks_to_a_pianist(tmp_path):
    """Guards "1,279 s", and a split told as "the music's own fingerprint" and groups on sides."""
    assert [told_clock(s) for s in (7.4, 59.6, 1279.0)] == ["7 s", "1 min 0 s", "21 min 19 s"]
    root = lay(tmp_path / "music", 4)
    shutil.copy(STARTER[0], root / "again.mid")
    diagnosis = look(root)
    said = " ".join(diagnosis.summary())
    assert "1 piece is there in several files" in said
    assert "fingerprint" not in said
    assert "group" not in said
    for line in diagnosis.files:
        assert not line.is_kept or f" notes in {told_clock(line.seconds)}." in line.message
