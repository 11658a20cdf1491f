"""A messy folder becomes a corpus, and every file has its reason."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from musicgen.assets import asset_dir
from musicgen.corpus import KEPT, Corpus, Diagnosis, ScanProgress, build_corpus, diagnose
from musicgen.corpus import split as splitting
from musicgen.corpus.words import told_reasons
from musicgen.errors import CorpusError, NoUsableFilesError
from musicgen.tokens import get_tokenizer

STARTER = sorted((asset_dir("data") / "starter").glob("*.mid"))


def build(root: Path, folder: Path, **options: Any) -> Corpus:
    *progress, corpus = build_corpus(root, folder, get_tokenizer(), **options)
    assert isinstance(corpus, Corpus)
    assert all(isinstance(found, ScanProgress) for found in progress)
    return corpus


def lay(root: Path, *names: str, first: int = 0) -> Path:
    for source, name in zip(STARTER[first:], names, strict=False):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, root / name)
    return root


def test_events_on_disk_are_the_files_events(tmp_path: Path) -> None:
    root = lay(tmp_path / "music", "a.mid", "b.MID", "deep/er/c.midi")
    corpus = build(root, tmp_path / "corpus")
    tokenizer = get_tokenizer()
    for split in ("train", "validation"):
        events = corpus.events(split)
        for piece in corpus.pieces(split):
            ids = events[piece.start : piece.start + piece.n_events]
            assert tuple(ids[0]) == tokenizer.start_event
            assert tuple(ids[-1]) == tokenizer.end_event
            assert tokenizer.n_notes(ids.astype(np.int64)) == piece.n_notes
    assert len(corpus.pieces("validation")) == 1


def test_every_file_left_out_has_a_reason(tmp_path: Path) -> None:
    """Guards R20: '65 inputs, 0 outputs' without a word; P68: one HTML page ends the run."""
    root = lay(tmp_path / "music", "good.mid", "better.mid")
    (root / "page.mid").write_text("<html>404</html>")
    (root / "empty.mid").write_bytes(b"")
    (root / "._good.mid").write_bytes(b"\0\5\x16\7")
    corpus = build(root, tmp_path / "corpus")
    assert [r.path for r in corpus.report.refused] == ["._good.mid", "empty.mid", "page.mid"]
    assert all(r.code and r.message for r in corpus.report.refused)
    assert "3 files left out" in corpus.report.sentence()


def test_a_look_over_and_the_corpus_count_the_same_files(tmp_path: Path) -> None:
    """Guards "4 left out" above a run that said 3: a notes.txt was in one count alone."""
    root = lay(tmp_path / "music", "good.mid", "better.mid")
    (root / "page.mid").write_text("not music")
    (root / "notes.txt").write_text("not music either")
    (root / "deep").mkdir()
    (root / "deep" / "empty.mid").write_bytes(b"")
    report = build(root, tmp_path / "corpus").report
    *_, found = diagnose(root)
    assert isinstance(found, Diagnosis)
    out = {code: count for code, count in found.by_code().items() if code != KEPT}
    assert report.refused_by_code() == out
    reasons = told_reasons(out)
    assert f"3 files left out: {reasons}." in report.sentence()
    assert any(f"3 left out: {reasons}." in sentence for sentence in found.summary())


@pytest.mark.parametrize("where", ["run", "."])
def test_a_run_among_its_music_is_no_music(tmp_path: Path, where: str) -> None:
    """Guards files of the run (`train . -o run`) that were counted among those left out."""
    root = lay(tmp_path / "music", "good.mid", "better.mid")
    run = root / where
    (run / "samples").mkdir(parents=True, exist_ok=True)
    (run / "corpus").mkdir()
    (run / "corpus" / "old.txt").write_text("{}")
    if where != ".":
        (run / "run.json").write_text("{}")
    report = build(root, run / "corpus", skip=run).report
    assert sorted(piece.path for piece in report.pieces) == ["better.mid", "good.mid"]
    assert report.refused == ()


def test_copies_never_straddle_the_split(tmp_path: Path) -> None:
    """Guards R23: the same music under another name in validation flatters the figures."""
    root = lay(tmp_path / "music", *(f"piece{i}.mid" for i in range(12)))
    lay(root, *(f"copy{i}.mid" for i in range(12)))
    report = build(root, tmp_path / "corpus").report
    assert len(report.pieces) == 12
    assert report.refused_by_code() == {"duplicate": 12}
    digests = [{p.digest for p in report.of_split(s)} for s in ("train", "validation")]
    assert not digests[0] & digests[1]


def test_folders_named_train_and_validation_decide(tmp_path: Path) -> None:
    names = ("train/a.mid", "train/b.mid", "validation/c.mid", "test/d.mid")
    report = build(lay(tmp_path / "music", *names), tmp_path / "corpus").report
    assert [p.path for p in report.of_split("train")] == ["train/a.mid", "train/b.mid"]
    assert [p.path for p in report.of_split("validation")] == ["validation/c.mid"]


@pytest.mark.parametrize("count", [1, 2, 3, 5, 20])
def test_small_folders_can_be_split(tmp_path: Path, count: int) -> None:
    """Guards midi-model #7: a fixed validation size that leaves nothing to train on."""
    root = lay(tmp_path / "music", *(f"{i}.mid" for i in range(count)))
    corpus = build(root, tmp_path / "corpus")
    assert len(corpus.events("train")) > 1
    assert len(corpus.events("validation")) > 1
    if count == 1:
        # Said "1 to train on, 1 held out" of one piece, and "0.0 hours" of its seconds.
        assert "hours" not in corpus.report.sentence()
        assert "to train on" not in corpus.report.sentence()
    if count == 2:
        assert "Of so few pieces one is held out" in corpus.report.split_rule


@pytest.mark.parametrize("count", [2, 3, 5, 29])
def test_chance_never_holds_most_of_a_few(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Guards a folder of which chance holds out all pieces but one."""
    monkeypatch.setattr(splitting, "_mark", lambda piece: piece)
    monkeypatch.setattr(splitting, "_position", lambda mark: 0.95 + mark / 1000)
    split = splitting.split_by_music(cast("Any", range(count)), [str(n) for n in range(count)])
    assert split.sides.count("validation") == max(1, count // 3)
    assert "Of so few pieces" in split.rule


def test_a_share_is_told_as_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guards "About one piece in ten is held out" of 24 pieces of which 5 were."""
    monkeypatch.setattr(splitting, "_mark", lambda piece: piece)
    monkeypatch.setattr(splitting, "_position", lambda mark: 0.95 if mark < 5 else 0.5)
    split = splitting.split_by_music(cast("Any", range(24)), [str(n) for n in range(24)])
    assert split.sides.count("validation") == 5
    assert "on average one piece in ten, of a small folder more or fewer" in split.rule


def test_a_file_more_moves_no_other_file(tmp_path: Path) -> None:
    # Enough that some fall into the last tenth: where none does, the nearest is held out instead.
    root = lay(tmp_path / "music", *(f"{i}.mid" for i in range(40)))
    before = {p.path: p.split for p in build(root, tmp_path / "one").report.pieces}
    lay(root, "more.mid", first=40)
    after = {p.path: p.split for p in build(root, tmp_path / "two").report.pieces}
    assert {path: after[path] for path in before} == before


def test_an_unchanged_folder_is_not_read_again(tmp_path: Path) -> None:
    root = lay(tmp_path / "music", "a.mid", "b.mid")
    build(root, tmp_path / "corpus")
    found = list(build_corpus(root, tmp_path / "corpus", get_tokenizer()))
    assert len(found) == 1, "no progress: nothing was read"
    os.utime(root / "a.mid", ns=(1, 1))
    assert len(list(build_corpus(root, tmp_path / "corpus", get_tokenizer()))) == 3


@pytest.mark.parametrize("damage", ["shorter", "gone", "index", "train", "validation"])
def test_a_damaged_corpus_is_made_again(tmp_path: Path, damage: str) -> None:
    """Guards: one bit that fell over, and a resumed run that went on with other music unsaid."""
    root = lay(tmp_path / "music", "a.mid", "b.mid")
    first = build(root, tmp_path / "corpus")
    expected, held_out = np.array(first.events("train")), np.array(first.events("validation"))
    assert len(held_out)
    events = tmp_path / "corpus" / "train.u16"
    if damage == "shorter":
        events.write_bytes(events.read_bytes()[:-8])
    elif damage == "gone":
        events.unlink()
    elif damage == "index":
        (tmp_path / "corpus" / "corpus.json").write_text("{")
    else:
        file = tmp_path / "corpus" / f"{damage}.u16"
        data = bytearray(file.read_bytes())
        data[100] ^= 1
        file.write_bytes(data)
    again = build(root, tmp_path / "corpus")
    assert np.array_equal(again.events("train"), expected)
    assert np.array_equal(again.events("validation"), held_out)


def test_workers_give_the_same_corpus(tmp_path: Path) -> None:
    root = lay(tmp_path / "music", *(f"{i}.mid" for i in range(24)))
    shutil.copy(STARTER[0], root / "copy.mid")
    (root / "bad.mid").write_text("no")
    alone = build(root, tmp_path / "one", n_workers=1)
    together = build(root, tmp_path / "two", n_workers=2)
    assert alone.report == together.report
    assert np.array_equal(alone.events("train"), together.events("train"))


SCRIPT = """
from pathlib import Path
from musicgen.corpus import build_corpus
from musicgen.tokens import get_tokenizer

print("once", flush=True)
for step in build_corpus(Path("music"), Path("corpus"), get_tokenizer(), n_workers=2):
    pass
"""


def test_workers_never_run_the_script_again(tmp_path: Path) -> None:
    """Guards workers that ran `__main__`'s file: a script without a guard, or a page of the app."""
    lay(tmp_path / "music", *(f"{i}.mid" for i in range(24)))
    lay(tmp_path / "music", "one_more.mid")
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "once\n", "")
    assert (tmp_path / "corpus" / "corpus.json").is_file()


CTRL_C_WHILE_WORKERS_START = """
import os, signal, sys, time
from musicgen.cli.app import main
from musicgen.corpus import workers

class Pool(workers.ProcessPoolExecutor):
    def submit(self, *args, **options):
        future = super().submit(*args, **options)
        time.sleep(1)
        os.killpg(0, signal.SIGINT)  # as a terminal does
        return future

workers.ProcessPoolExecutor = Pool
os.cpu_count = lambda: 2
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT to send")
def test_ctrl_c_while_files_are_read_is_one_line(tmp_path: Path) -> None:
    """Guards a traceback from each worker: all processes of a terminal hear of Ctrl-C."""
    lay(tmp_path / "music", *(f"{i}.mid" for i in range(24)))
    lay(tmp_path / "music", "one_more.mid")
    command = [sys.executable, "-c", CTRL_C_WHILE_WORKERS_START]
    done = subprocess.run(
        [*command, "train", "music", "-o", "run"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
    )
    assert done.returncode == 130, done.stderr
    assert done.stderr == "Interrupted. Nothing was trained yet.\n"


@pytest.mark.parametrize("what", ["missing", "file", "nothing", "text", "unusable"])
def test_folders_without_music_are_refused_in_a_sentence(tmp_path: Path, what: str) -> None:
    """Guards R19: 'num_samples should be positive, got 0'."""
    root = tmp_path / "music"
    if what == "file":
        root.write_text("a file")
    elif what != "missing":
        root.mkdir()
    if what == "text":
        (root / "a.txt").write_text("hello")
    if what == "unusable":
        (root / "a.mid").write_text("hello")
    with pytest.raises(CorpusError) as caught:
        build(root, tmp_path / "corpus")
    assert str(root) in caught.value.message
    assert caught.value.hint
    assert isinstance(caught.value, NoUsableFilesError) == (what not in ("missing", "file"))
