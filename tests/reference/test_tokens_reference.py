"""The vectorized piano encoder against a plain one that takes one note at a time.

The plain encoder is written from docs/tokens.md and shares no code with the library.
"""

from __future__ import annotations

import math
import os
import random
from pathlib import Path

import numpy as np
import pytest
import symusic

from musicgen.midi.notes import NoteTable, fold_pedal, note_table
from musicgen.tokens import get_tokenizer

CORPORA = os.environ.get("MUSICGEN_CORPORA", "")


def plain_bounds() -> list[int]:
    """The longest length of each id: 1 to 100, then as long as any two of an id are within 3%.

    The true length of a note may be one step shorter than that between its rounded ends.
    """
    bounds = list(range(1, 101))
    while bounds[-1] < 60_000:
        shortest = longest = bounds[-1] + 1
        while longest + 1 - shortest + 1 <= 0.03 * (shortest - 1):
            longest += 1
        bounds.append(longest)
    return bounds


BOUNDS = plain_bounds()
MIDDLES = [(low + 1 + high) // 2 for low, high in zip([0, *BOUNDS], BOUNDS, strict=False)]
FIRST_SHARED = 4 + len(BOUNDS)


def step_of(seconds: float) -> int:
    return math.floor(seconds * 100 + 0.5 + 1e-7)


def plain_length_id(steps: int) -> int:
    return next((i for i, longest in enumerate(BOUNDS) if steps <= longest), len(BOUNDS) - 1)


def plain_encode(notes: list[tuple[float, float, int, int]]) -> list[tuple[int, int, int, int]]:
    events = []
    for onset_s, end_s, pitch, velocity in notes:
        onset, end = step_of(onset_s), step_of(end_s)
        strokes = [step_of(other_s) for other_s, _, other, _ in notes if other == pitch]
        stroke = min((other for other in strokes if other > onset), default=10**9)
        length = max(min(end, stroke) - onset, 1)
        events.append((onset, pitch, velocity // 4, plain_length_id(length), length, stroke))
    ids = [(1, 1, 1, 1)]
    now = 0
    releases: list[int] = []
    for onset, pitch, velocity_bin, length_id, length, stroke in sorted(events):
        while onset - now > 200:
            ids.append((203, 3, 3, 3))
            now += 200
        told = onset + MIDDLES[length_id]
        is_cut = onset + length == stroke or told >= stroke
        told_id = 4 + length_id
        for n in range(1, min(8, len(releases)) + 1):
            shared = releases[-n]
            same_id = shared > onset and plain_length_id(shared - onset) == length_id
            if same_id or (is_cut and shared >= stroke):
                told, told_id = shared, FIRST_SHARED + n - 1
                break
        releases.append(told)
        ids.append((3 + onset - now, 4 + pitch, 4 + velocity_bin, told_id))
        now = onset
    return [*ids, (2, 2, 2, 2)]


def rows(table: NoteTable) -> list[tuple[float, float, int, int]]:
    columns = (table.onset_s, table.end_s, table.pitch, table.velocity)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def assert_same_ids(table: NoteTable) -> None:
    expected = np.array(plain_encode(rows(table)))
    np.testing.assert_array_equal(get_tokenizer("piano").encode(table), expected)


def test_generated_pieces_get_the_ids_of_the_plain_encoder():
    rng = np.random.default_rng(5)
    for case in range(60):
        n = int(rng.integers(0, 60))
        onset = np.cumsum(rng.choice([0, 0.004, 0.01, 0.35, 1.99, 2.0, 2.005, 7.3], n))
        length = rng.choice([0.0, 0.001, 0.2, 0.995, 1.0, 1.005, 3.3, 45.0, 700.0], n)
        pitch = rng.integers(60, 63 if case % 2 else 128, n)
        assert_same_ids(NoteTable.of(onset, onset + length, pitch, rng.integers(1, 128, n)))


def test_pedalled_pieces_get_the_ids_of_the_plain_encoder():
    """Guards the rounds in which releases are settled: long chains, strokes within them."""
    rng = np.random.default_rng(6)
    for _ in range(40):
        n = int(rng.integers(2, 120))
        onset = np.cumsum(rng.choice([0, 0.01, 0.02, 0.11, 0.3], n))
        pedal_s = rng.choice([0.5, 1.7, 6.0])
        end = np.maximum((np.floor(onset / pedal_s) + 1) * pedal_s, onset + 0.01)
        pitch = rng.integers(60, 60 + int(rng.choice([2, 5, 40])), n)
        assert_same_ids(NoteTable.of(onset, end, pitch, rng.integers(1, 128, n)))


def test_onsets_half_way_between_two_steps_go_up():
    # Bug guarded: 0.285 * 100 is 28.499999999999996 in floating point.
    halves = np.arange(0.005, 30.0, 0.01)
    assert_same_ids(NoteTable.of(halves[::40], halves[::40] + 0.1, [60] * 75, [64] * 75))
    ids = get_tokenizer("piano").encode(NoteTable.of([0.285], [0.5], [60], [64]))
    assert ids[1, 0] == 3 + 29


@pytest.mark.skipif(not CORPORA, reason="MUSICGEN_CORPORA is not set")
@pytest.mark.parametrize("corpus", ["maestro/validation", "piano_midi_de", "pop909", "freedoom"])
def test_real_files_get_the_ids_of_the_plain_encoder(corpus):
    folder = Path(CORPORA) / corpus
    if not folder.is_dir():
        pytest.skip(f"the corpus {corpus} is not there")
    files = sorted(path for path in folder.rglob("*.mid*") if path.is_file())
    for path in random.Random(3).sample(files, 4):
        score = symusic.Score(path)
        table = fold_pedal(note_table(score), score)
        assert_same_ids(table.select(slice(0, 500)))
        np.testing.assert_array_equal(
            get_tokenizer("piano").encode(score), get_tokenizer("piano").encode(table)
        )
