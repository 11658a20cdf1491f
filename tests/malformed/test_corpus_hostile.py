"""Folders of hostile and of wild files: none of them ends a run, and each has its line."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

from musicgen.corpus import KEPT, Corpus, Diagnosis, build_corpus, diagnose
from musicgen.tokens import get_tokenizer


def _expected(root: Path) -> int:
    """Count the files below a folder, those in archives one by one."""
    count = 0
    for path in root.rglob("*"):
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                count += sum(not name.endswith("/") for name in archive.namelist())
        elif path.is_file():
            count += 1
    return count


def test_every_hostile_file_has_its_line(midi_cases, wild_midi, tmp_path):
    """Guards P68, T16, R21: a corpus run ended by one file, or files dropped without a word."""
    root = tmp_path / "music"
    hostile = shutil.ignore_patterns("*5000_entries*")  # takes a while
    shutil.copytree(midi_cases, root / "cases", ignore=hostile)
    shutil.copytree(wild_midi, root / "wild")
    *_, diagnosis = diagnose(root, n_workers=1)
    assert isinstance(diagnosis, Diagnosis)
    assert len(diagnosis.files) == _expected(root)
    assert len({line.path for line in diagnosis.files}) == len(diagnosis.files)
    assert all(line.code and line.message.endswith(".") for line in diagnosis.files)
    kept = {line.path for line in diagnosis.files if line.code == KEPT}
    assert len(kept) > 40
    *_, corpus = build_corpus(root, tmp_path / "corpus", get_tokenizer(), n_workers=1)
    assert isinstance(corpus, Corpus)
    assert {piece.path for piece in corpus.report.pieces} == kept
    sides: dict[str, str] = {}
    for piece in corpus.report.pieces:
        assert sides.setdefault(piece.group, piece.split) == piece.split
