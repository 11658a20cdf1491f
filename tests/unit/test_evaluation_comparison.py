"""Spreads, distances and their yardstick, on excerpts whose figures are drawn."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from musicgen import configio
from musicgen.errors import ConfigError, NoUsableFilesError
from musicgen.evaluation import (
    STATISTICS,
    FolderReport,
    Measured,
    Statistics,
    compare,
    compare_folder,
    load_reference,
    make_reference,
)
from musicgen.evaluation.distance import js_distance, overlap
from musicgen.evaluation.histograms import HISTOGRAM_EDGES
from musicgen.evaluation.references import reference_file
from musicgen.evaluation.spread import draw
from musicgen.midi import NoteTable, notes_to_score, write_midi


def drawn(n: int, *, seed: int, off: float = 0.0, per_piece: int = 1) -> list[Measured]:
    rng = np.random.default_rng(seed)
    return [
        Measured(
            piece=f"{seed}-{row // per_piece}",
            start_s=0.0,
            statistics=Statistics(**dict(zip(STATISTICS, rng.normal(off, 1, len(STATISTICS))))),  # noqa: B905
            histograms={
                name: rng.dirichlet(np.ones(len(edges) - 1))
                for name, edges in HISTOGRAM_EDGES.items()
            },
        )
        for row in range(n)
    ]


@pytest.fixture(scope="module")
def reference():
    return make_reference(
        drawn(1000, seed=1),
        drawn(300, seed=2),
        names=("train", "validation"),
        seconds=60.0,
        generator=np.random.default_rng(0),
    )


@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=9), st.integers(0, 99))
def test_distance_is_a_metric_and_overlap_its_counterpart(weights, seed) -> None:
    rng = np.random.default_rng(seed)
    p, q, r = (rng.permutation(weights) / sum(weights) for _ in range(3))
    assert js_distance(p, p) == pytest.approx(0, abs=1e-7)
    assert js_distance(p, q) == pytest.approx(js_distance(q, p))
    assert js_distance(p, r) <= js_distance(p, q) + js_distance(q, r) + 1e-9
    assert overlap(p, p) == pytest.approx(1)


def test_distance_by_hand() -> None:
    half, one, other = np.array([0.5, 0.5]), np.array([1.0, 0.0]), np.array([0.0, 1.0])
    assert js_distance(one, other) == 1.0
    assert overlap(one, other) == 0.0
    divergence = (
        0.5 * math.log2(0.5 / 0.75) + 0.5 * math.log2(0.5 / 0.25) + math.log2(1 / 0.75)
    ) / 2
    assert js_distance(half, one) == pytest.approx(math.sqrt(divergence))


def test_music_of_the_same_kind_is_as_far_off_as_the_yardstick(reference) -> None:
    found = compare(drawn(100, seed=3), reference)
    assert found.ratio == pytest.approx(1.0, abs=0.15)
    assert all(0.8 <= one.inside <= 1 for one in found.statistics.values())


def test_a_small_sample_is_no_worse_for_being_small(reference) -> None:
    """Guards a yardstick of all held-out music, beside which few takes look bad by chance."""
    assert compare(drawn(12, seed=4), reference).ratio == pytest.approx(1.0, abs=0.2)


def test_music_of_another_kind_is_further_off(reference) -> None:
    found = compare(drawn(100, seed=3, off=1.5), reference)
    assert found.ratio > 2
    assert found.inside_least < 0.8


def test_an_undefined_figure_is_outside(reference) -> None:
    """Guards takes that pass because they hold too little to be measured."""
    takes = drawn(100, seed=3)
    bare = [
        replace(m, statistics=replace(m.statistics, repeated_share=float("nan"))) for m in takes
    ]
    found = compare(bare, reference).statistics["repeated_share"]
    assert found.inside == 0.0
    assert found.median is None
    assert found.distance.distance == pytest.approx(1.0)
    assert json.loads(json.dumps(compare(bare, reference).as_dict(), allow_nan=False))


def test_samples_are_of_different_pieces_while_there_are_any() -> None:
    measured = drawn(60, seed=5, per_piece=6)
    rows = draw(measured, 10, np.random.default_rng(0))
    assert len({measured[row].piece for row in rows.tolist()}) == 10
    assert len(set(draw(measured, 60, np.random.default_rng(0)).tolist())) == 60


def test_the_reference_goes_through_its_file(reference, tmp_path: Path) -> None:
    path = tmp_path / "statistics.json"
    path.write_text(configio.to_json(reference_file([reference])))
    assert compare(drawn(50, seed=6), load_reference(60.0, path)).ratio == pytest.approx(
        compare(drawn(50, seed=6), reference).ratio
    )
    found = compare(drawn(5, seed=6), load_reference(60.0, path))
    assert tuple(found.statistics) == STATISTICS  # the file sorts them by the alphabet
    with pytest.raises(ConfigError, match="45 s"):
        load_reference(45.0, path)
    path.write_text(path.read_text().replace('"ringing_share"', '"humming_share"'))
    with pytest.raises(ConfigError, match="other statistics"):
        load_reference(60.0, path)


@pytest.mark.parametrize("seconds", [30.0, 60.0, 120.0])
def test_a_reference_of_maestro_ships(seconds: float) -> None:
    shipped = load_reference(seconds)
    assert (shipped.corpus, shipped.held_out) == ("maestro/train", "maestro/validation")
    assert shipped.excerpts == 2000
    for spread in shipped.statistics.values():
        assert spread.low <= spread.median <= spread.high
        assert sum(spread.shares) == pytest.approx(1, abs=1e-4)


def write_pieces(folder: Path, n: int, *, seed: int, loud: int = 60) -> Path:
    folder.mkdir()
    rng = np.random.default_rng(seed)
    for piece in range(n):
        onset = np.sort(rng.uniform(0, 20, 90))
        notes = NoteTable.of(
            onset, onset + 0.5, rng.integers(50, 80, 90), rng.integers(loud - 20, loud + 20, 90)
        )
        write_midi(notes_to_score(notes), folder / f"{piece}.mid")
    return folder


def test_a_folder_beside_a_folder(tmp_path: Path) -> None:
    corpus = write_pieces(tmp_path / "corpus", 20, seed=1)
    soft = write_pieces(tmp_path / "soft", 4, seed=2, loud=40)
    (soft / "bad.mid").write_text("no")
    *_, alike = compare_folder(corpus, seconds=20.0, against=corpus)
    *_, softer = compare_folder(soft, seconds=20.0, against=corpus)
    assert isinstance(alike, FolderReport)
    assert isinstance(softer, FolderReport)
    assert (softer.comparison.excerpts, softer.unreadable) == (4, 1)
    assert softer.comparison.statistics["velocity_mean"].inside == 0.0
    assert alike.comparison.statistics["velocity_mean"].inside > 0.8
    assert alike.comparison.ratio < softer.comparison.ratio


def test_a_folder_of_shorter_music_is_refused(tmp_path: Path) -> None:
    folder = write_pieces(tmp_path / "short", 2, seed=1)
    with pytest.raises(NoUsableFilesError, match="2 are shorter"):
        list(compare_folder(folder, seconds=60.0))


def test_validation_lies_within_the_range_of_train(corpora: Path, tmp_path: Path) -> None:
    """The shipped reference is that of the corpus: about nine in ten real excerpts lie inside."""
    for path in sorted((corpora / "maestro" / "validation").rglob("*.mid*"))[::9]:
        (tmp_path / path.name).symlink_to(path)
    *_, report = compare_folder(tmp_path, seconds=120.0)
    assert isinstance(report, FolderReport)
    assert report.comparison.pieces > 10
    assert report.comparison.ratio < 1.6
    inside = [one.inside for one in report.comparison.statistics.values()]
    assert np.mean(inside) == pytest.approx(0.9, abs=0.06)
