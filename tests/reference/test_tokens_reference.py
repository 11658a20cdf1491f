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


def plain_lengths() -> list[int]:
    """Lengths in steps: 1 to 100, then centres as far apart as 3% of the true length allows."""
    lengths = list(range(1, 101))
    first_open = 101
    while first_open <= 60_000:
        centre = first_open
        while within(centre + 1, first_open):
            centre += 1
        lengths.append(centre)
        while first_open <= centre or within(centre, first_open):
            first_open += 1
    return lengths


def within(centre: int, steps: int) -> bool:
    """Whether a note of `steps` steps may be stored as `centre`.

    The true length may be one step shorter, as onset and end are each rounded by half a step.
    """
    if steps <= 100:
        return centre == steps
    return abs(centre - steps) + 1 <= 0.03 * (steps - 1)


LENGTHS = plain_lengths()


def step_of(seconds: float) -> int:
    return math.floor(seconds * 100 + 0.5 + 1e-7)


def nearest_length(steps: int) -> int:
    return min(range(len(LENGTHS)), key=lambda i: (abs(LENGTHS[i] - steps), LENGTHS[i]))


def plain_encode(notes: list[tuple[float, float, int, int]]) -> list[tuple[int, int, int, int]]:
    events = []
    for onset_s, end_s, pitch, velocity in notes:
        onset, end = step_of(onset_s), step_of(end_s)
        for other_onset_s, _, other_pitch, _ in notes:
            if other_pitch == pitch and step_of(other_onset_s) > onset:
                end = min(end, step_of(other_onset_s))
        events.append((onset, pitch, velocity // 4, nearest_length(max(end - onset, 1))))
    ids = [(1, 1, 1, 1)]
    now = 0
    for onset, pitch, velocity_bin, length in sorted(events):
        while onset - now > 200:
            ids.append((203, 3, 3, 3))
            now += 200
        ids.append((3 + onset - now, 4 + pitch, 4 + velocity_bin, 4 + length))
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
