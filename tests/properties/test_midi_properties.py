"""Laws of MIDI reading and writing, tried on whatever Hypothesis thinks of."""

from __future__ import annotations

import io
import os
import random
import time
from pathlib import Path

import mido
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from musicgen.errors import EmptyScoreError, MidiReadError
from musicgen.midi import (
    NoteTable,
    TempoMap,
    describe,
    find_midi_files,
    fold_pedal,
    note_table,
    notes_to_score,
    read_midi,
    score_to_bytes,
)

SETTINGS = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
STARTER = Path(__file__).resolve().parents[2] / "data" / "starter"
LEFT_ALONE = {"tempo-extreme", "time-signature-odd", "time-signatures-many", "very-long"}


def _note(draw_ticks: int = 5000) -> st.SearchStrategy:
    return st.tuples(
        st.integers(0, draw_ticks), st.integers(1, 2000), st.integers(0, 127), st.integers(1, 127)
    )


def _table(notes: list[tuple[int, int, int, int]]) -> NoteTable:
    start, length, pitch, velocity = np.array(notes).T
    return NoteTable.of(start / 1000, (start + length) / 1000, pitch, velocity)


@SETTINGS
@given(st.lists(_note(), min_size=1, max_size=40, unique_by=lambda n: (n[0], n[2])))
def test_notes_survive_bytes(notes) -> None:
    table = _table(notes)
    back = note_table(read_midi(score_to_bytes(notes_to_score(table))).score)
    assert np.allclose(back.onset_s, table.onset_s)
    assert back.pitch.tolist() == table.pitch.tolist()
    # of overlapping notes of one pitch the ends may change places: MIDI does not say whose they are
    assert np.allclose(np.sort(back.end_s), np.sort(table.end_s))


@SETTINGS
@given(
    st.lists(st.tuples(st.integers(0, 4000), st.integers(1, 16_777_215)), max_size=12),
    st.lists(st.integers(0, 6000), min_size=1, max_size=20),
    st.integers(1, 32767),
)
def test_the_clock_agrees_with_mido(changes, ticks, division) -> None:
    clock = TempoMap.from_changes([t for t, _ in changes], [us for _, us in changes], division)
    for tick in ticks:
        seconds, at, tempo = 0.0, 0, 500_000
        for change, following in sorted(changes, key=lambda c: c[0]):
            if change > tick:
                break
            seconds += mido.tick2second(change - at, division, tempo)
            at, tempo = change, following
        seconds += mido.tick2second(tick - at, division, tempo)
        assert clock.seconds(tick) == pytest.approx(seconds, rel=1e-9, abs=1e-12)


@SETTINGS
@given(
    st.lists(_note(), min_size=1, max_size=40),
    st.lists(st.tuples(st.integers(0, 7000), st.integers(1, 900)), max_size=8),
)
def test_the_pedal_never_shortens_or_moves_a_note(notes, presses) -> None:
    table = _table(notes)
    spans, last = [], -1
    for down, length in sorted(presses):
        if down > last:
            spans.append((down / 1000, (down + length) / 1000))
            last = down + length
    folded = fold_pedal(table, {0: np.array(spans)} if spans else {})
    assert len(folded) == len(table)
    assert np.array_equal(folded.onset_s, table.onset_s)
    assert folded.end_s.sum() >= table.end_s.sum() - 1e-9
    again = fold_pedal(folded, {0: np.array(spans)} if spans else {})
    assert np.allclose(np.sort(again.end_s), np.sort(folded.end_s))


_MESSAGE = st.one_of(
    st.builds(
        mido.Message,
        st.sampled_from(["note_on", "note_off"]),
        note=st.integers(58, 62),
        velocity=st.integers(0, 127),
        channel=st.integers(0, 15),
        time=st.integers(0, 300),
    ),
    st.builds(
        mido.Message,
        st.just("control_change"),
        control=st.integers(0, 127),
        value=st.integers(0, 127),
        time=st.integers(0, 300),
    ),
    st.builds(mido.Message, st.just("program_change"), program=st.integers(0, 127)),
    st.builds(mido.MetaMessage, st.just("set_tempo"), tempo=st.integers(1, 16_777_215)),
    st.builds(
        mido.MetaMessage,
        st.just("text"),
        text=st.text(max_size=200).map(lambda s: s.encode().decode("latin-1")),
    ),
    st.builds(mido.Message, st.just("sysex"), data=st.lists(st.integers(0, 127), max_size=150)),
)


@SETTINGS
@given(st.lists(st.lists(_MESSAGE, max_size=40), min_size=1, max_size=3))
def test_any_legal_file_is_read_and_its_repaired_bytes_are_at_rest(tracks) -> None:
    file = mido.MidiFile(ticks_per_beat=96)
    file.tracks.extend(mido.MidiTrack(track) for track in tracks)
    buffer = io.BytesIO()
    file.save(file=buffer)
    try:
        document = read_midi(buffer.getvalue())
    except EmptyScoreError:
        return
    again = read_midi(document.data)
    assert again.data == document.data
    assert describe(again).notes == describe(document).notes
    assert {warning.code for warning in again.warnings} <= LEFT_ALONE


def _mutated(data: bytes, chance: random.Random) -> bytes:
    """Return `data` after a few of the accidents that befall files."""
    damaged = bytearray(data)
    if chance.random() < 0.4:
        del damaged[chance.randrange(30, len(damaged)) :]
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        at = chance.randrange(len(damaged)) if damaged else 0
        accident = chance.randrange(6)
        if accident == 0:
            damaged[at : at + 1] = bytes([chance.randrange(256)])
        elif accident == 1:
            damaged[at : at + 1] = bytes(
                [(damaged[at] if damaged else 0) ^ 1 << chance.randrange(8)]
            )
        elif accident == 2:
            del damaged[at : at + chance.randrange(1, 9)]
        elif accident == 3:
            damaged[at:at] = chance.randbytes(chance.randrange(1, 9))
        elif accident == 4:
            source = chance.randrange(max(1, len(damaged)))
            damaged[at:at] = damaged[source : source + chance.randrange(1, 400)]
        else:
            length = chance.choice((b"\xff\xff\xff\xff", b"\0\0\0\0", b"\xff\xff\xff\x7f", b"MTrk"))
            damaged[at : at + 4] = length
    return bytes(damaged)


def _survives(data: bytes) -> None:
    began = time.thread_time()
    try:
        document, refusal = read_midi(data), None
    except MidiReadError as error:
        document, refusal = None, error
    if document is None:
        assert refusal.message.endswith(".")
        assert refusal.hint
    else:
        facts = describe(document)
        table = note_table(document.score, include_drums=True)
        assert (table.end_s > table.onset_s).all()
        assert describe(read_midi(document.data)).notes == facts.notes
        mido.MidiFile(file=io.BytesIO(document.data))
    assert time.thread_time() - began < 5


@pytest.mark.parametrize("seed", range(40))
def test_damaged_pieces_are_read_or_refused_never_worse(seed: int) -> None:
    pieces = find_midi_files(STARTER)
    if not pieces:
        pytest.skip("data/starter holds no pieces")
    chance = random.Random(seed)
    _survives(_mutated(chance.choice(pieces).read_bytes(), chance))


@pytest.mark.long
def test_twenty_thousand_damaged_performances(corpora: Path, wild_midi: Path) -> None:
    import resource

    folders = ("maestro/validation", "piano_midi_de", "freedoom", "groove", "pop909")
    paths = [path for name in folders for path in find_midi_files(corpora / name)[::29]]
    paths += find_midi_files(wild_midi)[::3]
    pool = [data for path in paths if 40 < len(data := path.read_bytes()) < 150_000]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for seed in range(int(os.environ.get("MUSICGEN_MUTATIONS", "20000"))):
        chance = random.Random(seed)
        data = _mutated(chance.choice(pool), chance)
        try:
            _survives(data)
        except Exception as error:
            raise AssertionError(f"mutation {seed} of {len(data)} bytes") from error
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 500 * 1024
