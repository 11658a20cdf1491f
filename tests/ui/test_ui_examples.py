"""The examples on an empty page: three takes of the shipped model, half a minute each."""

from __future__ import annotations

from pathlib import Path

import pytest

from musicgen.ui.make_examples import EXAMPLES, SECONDS, make_examples
from musicgen.ui.pieces import examples


def test_three_examples_ship_and_are_half_a_minute_long(root: Path):
    pieces = examples(root / "ui" / "examples")
    assert [piece.title.lower() for piece in pieces] == [example.title for example in EXAMPLES]
    assert len(pieces) == 3
    for piece in pieces:
        assert piece.preview.end_s == pytest.approx(SECONDS, rel=0.1)
        assert len(piece.preview.notes) > 50


def test_making_them_replaces_the_old_ones(tmp_path: Path, tiny_model: Path):
    (tmp_path / "9-old.mid").write_bytes(b"")
    paths = make_examples(tmp_path, str(tiny_model))
    assert sorted(tmp_path.glob("*.mid")) == paths
    assert len(paths) == len(EXAMPLES)
