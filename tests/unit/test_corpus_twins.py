"""Twins are found whatever their form, and what only resembles is left alone.

The pairs are made by mido (tests/helpers/twins.py), by code that shares nothing with the detector.
"""

from __future__ import annotations

import csv
import random
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from musicgen.assets import asset_dir
from musicgen.corpus.fingerprints import fingerprint_of, likeness, music_digest
from musicgen.corpus.groups import Sorted, sort_out
from musicgen.corpus.music import Music, measure
from musicgen.corpus.similar import LEAST_SHARE, share_of, similar_pairs
from musicgen.midi import NoteTable, note_table, read_midi
from twins import MAKERS, few_notes_changed

STARTER = sorted((asset_dir("data") / "starter").glob("*.mid"))


def music_of(data: bytes) -> Music:
    document = read_midi(data)
    return measure(document, note_table(document.score))


def found_pairs(pieces: dict[str, Music]) -> tuple[set[frozenset[str]], Sorted]:
    """Return the pairs of names that are said to be the same music."""
    names = list(pieces)
    music = list(pieces.values())
    found = {frozenset((names[p.first], names[p.second])) for p in similar_pairs(music)}
    result = sort_out(names, music, [""] * len(names))
    found |= {frozenset((names[n], names[twin.of])) for n, twin in result.twins.items()}
    return found, result


@pytest.fixture(scope="module")
def family() -> dict[str, Music]:
    """Return eight pieces and their twins by every maker, named `piece/maker`."""
    pieces = {}
    for file in STARTER[::3]:
        data = file.read_bytes()
        pieces[f"{file.stem}/itself"] = music_of(data)
        for name, make in MAKERS.items():
            pieces[f"{file.stem}/{name}"] = music_of(make(data, random.Random(file.stem + name)))
    return pieces


def test_every_twin_is_found_and_nothing_else(family):
    """Guards R23: one near and two exact copies of training pieces in a published test set."""
    _, result = found_pairs(family)
    names = list(family)
    for number, twin in result.twins.items():
        assert names[number].split("/")[0] == names[twin.of].split("/")[0], "not the same piece"
    n_pieces = len(STARTER[::3])
    n_twins = len(family) - n_pieces
    assert len(result.twins) >= 0.95 * n_twins
    for piece in STARTER[::3]:
        mine = [n for n, name in enumerate(names) if name.startswith(f"{piece.stem}/")]
        biggest = max(
            sum(result.group[n] == group for n in mine) for group in {result.group[n] for n in mine}
        )
        assert biggest >= 0.95 * len(mine), "twins share a group"


@pytest.mark.parametrize("name", MAKERS)
def test_no_maker_is_beyond_the_detector(family, name):
    for piece in STARTER[::3]:
        one, other = family[f"{piece.stem}/itself"], family[f"{piece.stem}/{name}"]
        if one.digest != other.digest:
            assert share_of(one, other) >= LEAST_SHARE, piece.stem


def test_the_outcome_does_not_depend_on_names_or_order(family):
    names, music = list(family), list(family.values())
    order = list(range(len(names)))
    random.Random(7).shuffle(order)
    one = sort_out(names, music, [""] * len(names))
    other = sort_out([f"n{n}" for n in order], [music[n] for n in order], [""] * len(names))
    assert {music[n].digest for n in one.kept} == {music[order[n]].digest for n in other.kept}
    assert [one.group[n] for n in order] == list(other.group)


def test_many_copies_leave_one():
    """Guards a hole in the shortcut for large buckets, where not every pair is compared."""
    data = STARTER[9].read_bytes()
    make = few_notes_changed(0.02)
    many = [music_of(make(data, random.Random(seed))) for seed in range(40)]
    result = sort_out([str(n) for n in range(40)], many, [""] * 40)
    assert len(result.kept) == 1
    assert len(set(result.group)) == 1


def test_twins_across_a_folders_own_split_stay_and_are_told():
    data = STARTER[0].read_bytes()
    same, near = music_of(data), music_of(MAKERS["transposed"](data, random.Random(1)))
    result = sort_out(["a", "b", "c"], [same, near, same], ["train", "validation", "test"])
    assert result.kept == (1, 2), "of duplicates the one that is not trained on is kept"
    assert [(p.first, p.second) for p in result.across] == [(1, 2)]


def test_little_music_is_compared_without_harm():
    """Guards divisions by nothing: eight notes, one chord, one key struck again and again."""
    rng = np.random.default_rng(0)
    tables = [
        NoteTable.of(np.arange(8.0), np.arange(8.0) + 1, np.full(8, 60), np.full(8, 64)),
        NoteTable.of(np.zeros(8), np.ones(8), np.arange(60, 68), np.full(8, 64)),
        NoteTable.of(np.arange(9.0), np.arange(9.0) + 1, rng.integers(40, 80, 9), np.full(9, 64)),
        NoteTable.of([], [], [], []),
    ]
    prints = [fingerprint_of(table.onset_s, table.pitch) for table in tables]
    for one in prints:
        for other in prints:
            assert 0 <= likeness(one, other).share <= 1
    assert len({music_digest(table) for table in tables}) == 4


def test_a_sample_tells_what_the_whole_would():
    """Guards a bias where one piece is far larger than its sample and holds the other."""
    rng = np.random.default_rng(5)
    pitch, onset = rng.integers(30, 100, 4000), np.cumsum(rng.choice([0.2, 0.4, 0.8], 4000))
    whole = fingerprint_of(onset, pitch)
    half = fingerprint_of(onset[:2000], pitch[:2000])
    found = likeness(whole, half)
    assert found.share == pytest.approx(0.5, abs=0.08)
    assert found.inside == pytest.approx(1.0, abs=0.03)


def _real_files(corpora: Path) -> list[Path]:
    rng = random.Random(20)
    chosen = []
    for pattern, count in (
        ("maestro/validation/*.midi", 8),
        ("piano_midi_de/midis/**/*.mid", 10),
        ("pop909/POP909/*/*.mid", 10),
        ("freedoom/musics/*.mid", 4),
    ):
        files = sorted(f for f in corpora.glob(pattern) if f.stat().st_size < 60_000)
        chosen += rng.sample(files, count)
    return chosen


@pytest.mark.long
def test_precision_and_recall_on_real_music(corpora):
    """The figures of docs/corpus.md: precision 0.98 and recall 0.95 at least."""
    rng = random.Random(3)
    pieces: dict[str, Music] = {}
    truth: set[frozenset[str]] = set()
    for file in _real_files(corpora):
        data = file.read_bytes()
        pieces[f"{file.stem}/itself"] = music_of(data)
        for name in rng.sample(sorted(MAKERS), 5):
            pieces[f"{file.stem}/{name}"] = music_of(MAKERS[name](data, rng))
            truth.add(frozenset((f"{file.stem}/itself", f"{file.stem}/{name}")))
    by_title = defaultdict(list)
    with open(corpora / "maestro" / "maestro.csv", encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            by_title[row["composer"], row["title"]].append(row["file"])
    played_twice = sorted(files for files in by_title.values() if len(files) > 1)
    for files in rng.sample(played_twice, 30):  # the same composition, other performances
        for file in files[:2]:
            pieces[f"{Path(file).stem}/itself"] = music_of(
                (corpora / "maestro" / file).read_bytes()
            )
    found, _ = found_pairs(pieces)
    said = {pair for pair in found if any(name.endswith("/itself") for name in pair)}
    right = {pair for pair in said if len({name.split("/")[0] for name in pair}) == 1}
    recall = len(truth & said) / len(truth)
    precision = len(right) / len(said)
    print(f"{len(truth)} pairs: recall {recall:.3f}; {len(said)} said: precision {precision:.3f}")
    assert recall >= 0.95, sorted(map(sorted, truth - said))
    assert precision >= 0.98, sorted(map(sorted, said - right))


def test_candidates_miss_hardly_a_pair():
    """Guards bands and rows that do not belong together: all pairs are compared here."""
    rng = np.random.default_rng(11)
    pieces = []
    for _ in range(40):
        pitch, onset = rng.integers(40, 90, 300), np.cumsum(rng.choice([0.25, 0.5, 1.0], 300))
        for share in (0.0, 0.03, 0.06):
            changed = np.where(rng.random(300) < share, rng.integers(40, 90, 300), pitch)
            pieces.append(fingerprint_of(onset, changed))
    music: Any = [SimpleNamespace(played=piece, written=None) for piece in pieces]
    expected = {
        (i, j)
        for i in range(len(pieces))
        for j in range(i + 1, len(pieces))
        if share_of(music[i], music[j])
    }
    found = {(pair.first, pair.second) for pair in similar_pairs(music)}
    assert found <= expected
    assert len(expected) > 100
    assert len(found) >= 0.98 * len(expected)
