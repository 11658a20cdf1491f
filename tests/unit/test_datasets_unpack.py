"""Archives unpacked: what is taken, what is left, and what no archive may do."""

from __future__ import annotations

import io
import os
import warnings
import zipfile
from pathlib import Path

import pytest

from archive_server import tar_of, zip_of
from musicgen.datasets.table import TABLE, Dataset, find_dataset
from musicgen.datasets.unpack import Limits, Unpacked, unpack
from musicgen.errors import DatasetError

CSV = b"""canonical_composer,split,midi_filename,duration
Bach,train,2004/a.midi,1.0
Bach,validation,2004/b.midi,1.0
Bach,test,2006/c.midi,1.0
Bach,../../etc,2006/d.midi,1.0
"""


def corpus(**others) -> Dataset:
    facts = {
        "name": "songs",
        "title": "Songs",
        "about": "Songs.",
        "page": "https://example.org/songs",
        "url": None,
        "licence": "CC0",
        "licence_url": "https://example.org/licence",
        "terms": "Free.",
        "citation": "Songs, 2026",
        **others,
    }
    return Dataset(**facts)


def unpacked(tmp_path: Path, data: bytes, *, limits: Limits = Limits(), **facts):
    archive = tmp_path / "songs.archive"
    archive.write_bytes(data)
    folder = tmp_path / "out"
    folder.mkdir()
    *_, found = unpack(archive, corpus(**facts), folder, limits=limits)
    assert isinstance(found, Unpacked)
    return found, sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*.*"))


def test_the_corpus_s_own_split_becomes_folders(tmp_path):
    """Guards MAESTRO's test split landing in training."""
    files = {f"m/{name}": name.encode() for name in ("2004/a.midi", "2004/b.midi", "2006/c.midi")}
    files |= {"m/2006/d.midi": b"d", "m/2006/e.midi": b"e", "m/m.csv": CSV, "m/LICENSE.txt": b"BY"}
    found, names = unpacked(tmp_path, zip_of(files), root="m", split_table="m.csv")
    assert dict(found.by_split) == {"train": 1, "validation": 1, "test": 1}
    assert found.outside == 2
    assert names == [
        "LICENSE.txt", "m.csv", "test/2006/c.midi", "train/2004/a.midi", "validation/2004/b.midi",
    ]  # fmt: skip


def test_training_takes_that_layout(tmp_path, starter):
    from musicgen.corpus import Corpus, build_corpus
    from musicgen.tokens import get_tokenizer

    pieces = sorted(starter.glob("*.mid"))[:3]
    files = {f"m/2004/{p.name}": p.read_bytes() for p in pieces}
    splits = ("train", "validation", "test")
    rows = [f"{split},2004/{p.name}" for split, p in zip(splits, pieces, strict=True)]
    files["m/m.csv"] = "\n".join(["split,midi_filename", *rows]).encode()
    unpacked(tmp_path, zip_of(files), root="m", split_table="m.csv")
    *_, made = build_corpus(tmp_path / "out", tmp_path / "events", get_tokenizer("piano"))
    assert isinstance(made, Corpus)
    assert {Path(p.path).name: p.split for p in made.index.report.pieces} == {
        pieces[0].name: "train",
        pieces[1].name: "validation",
    }


@pytest.mark.parametrize("make", [zip_of, tar_of])
def test_only_music_and_the_texts_on_its_terms_are_taken(tmp_path, make):
    wanted = {"s/a.mid": b"1", "s/deep/er/b.KAR": b"2", "s/README.md": b"3", "COPYING": b"4"}
    other = {
        "s/run.sh": b"x",
        "s/sound.wav": b"x",
        "s/README.exe": b"x",
        "s/._a.mid": b"x",
        "__MACOSX/s/a.mid": b"x",
        "elsewhere/c.mid": b"x",
        "s/versions/v1.mid": b"x",
    }
    found, names = unpacked(tmp_path, make(wanted | other), root="s", left_out=("*/versions/*",))
    assert names == ["README.md", "a.mid", "deep/er/b.KAR"]
    assert (tmp_path / "out" / "COPYING").exists()
    assert (found.n_files, found.left_out) == (2, 1)


@pytest.mark.parametrize("make", [zip_of, tar_of])
@pytest.mark.parametrize(
    "name",
    ["../out.mid", "a/../../out.mid", "/out.mid", "C:/out.mid", "..\\out.mid", "a\\..\\b.mid"],
)
def test_a_name_that_leads_out_refuses_the_archive(tmp_path, make, name):
    with pytest.raises(DatasetError, match="leads out") as caught:
        unpacked(tmp_path, make({"a.mid": b"1", name: b"2"}))
    assert caught.value.code == "unsafe-archive"
    assert not (tmp_path / "out.mid").exists()


def test_links_are_passed_over(tmp_path):
    found, names = unpacked(
        tmp_path, tar_of({"a.mid": b"1"}, links={"b.mid": "/etc/passwd", "d": "/tmp"})
    )
    assert names == ["a.mid"]
    assert found.n_files == 1


def test_a_link_in_a_zip_is_passed_over(tmp_path):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        link = zipfile.ZipInfo("b.mid")
        link.create_system, link.external_attr = 3, 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("a.mid", b"1")
    assert unpacked(tmp_path, made.getvalue())[1] == ["a.mid"]


def test_a_small_archive_does_not_fill_the_disk(tmp_path):
    bomb = zip_of({"a.mid": b"", **{f"{i}.mid": bytes(1_000_000) + bytes([i]) for i in range(9)}})
    assert len(bomb) < 20_000
    with pytest.raises(DatasetError, match="unpacks to more than 3,000,000 bytes"):
        unpacked(tmp_path, bomb, limits=Limits(total_bytes=3_000_000))
    (tmp_path / "out").rename(tmp_path / "before")
    with pytest.raises(DatasetError, match="more than 5 files"):
        unpacked(tmp_path, bomb, limits=Limits(members=5))
    (tmp_path / "out").rename(tmp_path / "before too")
    found, _ = unpacked(tmp_path, bomb, limits=Limits(file_bytes=1000))
    assert (found.n_files, found.oversized) == (1, 9)


def test_names_fit_every_disk(tmp_path):
    files = {
        "who?/a:b.mid": b"1",
        "Boyz II Men./x .mid": b"2",
        "con.mid": b"3",
        "é.mid": b"4",
        "e\u0301.mid": b"5",
        "É.MID": b"6",
        f"{'long' * 80}.mid": b"7",
    }
    _, names = unpacked(tmp_path, zip_of(files))
    assert names == sorted(
        ["who_/a_b.mid", "Boyz II Men/x .mid", "_con.mid", "é.mid", "e\u0301-2.mid", "É-3.MID",
         f"{'long' * 49}.mid"]
    )  # fmt: skip


def test_the_same_file_twice_is_written_once(tmp_path):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile's own: that a name stands twice
        for data in (b"1", b"1", b"2"):
            archive.writestr("a.mid", data)
    found, names = unpacked(tmp_path, made.getvalue())
    assert names == ["a-2.mid", "a.mid"]
    assert (found.n_files, found.copies) == (2, 1)


@pytest.mark.parametrize("data", [b"", b"PK", b"\x1f\x8b", zip_of({"a.mid": b"1"})[:-9], b"<html>"])
def test_a_damaged_archive_is_a_sentence(tmp_path, data):
    with pytest.raises(DatasetError, match="damaged"):
        unpacked(tmp_path, data)


def test_a_tar_that_ends_in_the_middle_is_a_sentence(tmp_path):
    whole = tar_of({f"{i}.mid": os.urandom(5000) for i in range(20)})
    with pytest.raises(DatasetError, match="damaged"):
        unpacked(tmp_path, whole[: len(whole) // 2])


def test_an_archive_of_something_else_is_a_sentence(tmp_path):
    with pytest.raises(DatasetError, match="no MIDI files"):
        unpacked(tmp_path, zip_of({"a.txt": b"1"}))
    (tmp_path / "out").rename(tmp_path / "before")
    with pytest.raises(DatasetError, match="tells its split"):
        unpacked(tmp_path, zip_of({"m/a.mid": b"1"}), root="m", split_table="m.csv")


def test_the_table_tells_no_more_than_is_known():
    """Guards invented sums: one without a source, a size without one, http without a sum."""
    assert len({dataset.name for dataset in TABLE}) == len(TABLE)
    for dataset in TABLE:
        assert (dataset.sha256 is None) == (dataset.sum_from == "nobody"), dataset.name
        assert dataset.sha256 is None or len(bytes.fromhex(dataset.sha256)) == 32
        assert dataset.url is None or dataset.sha256 or dataset.url.startswith("https:")
        assert all((dataset.licence, dataset.licence_url, dataset.terms, dataset.citation))
        assert "NC" not in dataset.licence or "Not for commerce" in dataset.terms
        assert dataset.left_out == () or dataset.why_left_out
    with pytest.raises(DatasetError, match="maestro-v9"):
        find_dataset("maestro-v9")
