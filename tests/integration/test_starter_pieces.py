"""The starter pieces are what their script composes, and music in the sense of our own reader."""

from __future__ import annotations

import subprocess
import sys

import pytest

from musicgen.midi import describe, note_table, read_midi


def test_the_script_writes_the_same_bytes_again(root, starter, tmp_path):
    # Nobody may edit a piece by hand, and no Python or numpy may compose another one.
    script = root / "data" / "compose_starter.py"
    subprocess.run([sys.executable, str(script), str(tmp_path)], check=True)
    shipped = {file.name: file.read_bytes() for file in starter.glob("*.mid")}
    composed = {file.name: file.read_bytes() for file in tmp_path.glob("*.mid")}
    assert sorted(composed) == sorted(shipped)
    assert len(shipped) == 24
    for name, data in shipped.items():
        assert composed[name] == data, name


def test_the_pieces_are_short_varied_and_clean(starter):
    keys, meters, pedalled = set(), set(), 0
    for file in sorted(starter.glob("*.mid")):
        document = read_midi(file)
        facts = describe(document)
        notes = note_table(document.score)
        assert facts.warnings == (), file.name
        assert 25 <= facts.end_s <= 62, (file.name, facts.end_s)
        assert facts.first_s < 0.5
        assert 2 <= len(notes) / facts.end_s <= 16, file.name
        assert len(set(notes.velocity.tolist())) >= 16, f"{file.name} is played flat"
        assert len(document.score.tempos) > 8, f"{file.name} is played like a machine"
        keys.add((document.score.key_signatures[0].key, document.score.key_signatures[0].tonality))
        meter = document.score.time_signatures[0]
        meters.add((meter.numerator, meter.denominator))
        pedalled += bool(document.score.tracks[0].controls)
    assert len(keys) >= 10
    assert {(4, 4), (3, 4), (2, 4), (6, 8), (7, 8), (12, 8)} <= meters
    assert 8 <= pedalled < 24


def test_no_key_is_struck_while_it_is_down(starter):
    # The same pitch twice at once is unplayable and reads back with the wrong lengths.
    for file in sorted(starter.glob("*.mid")):
        notes = note_table(read_midi(file).score)
        down_until: dict[int, float] = {}
        for onset, end, pitch in zip(notes.onset_s, notes.end_s, notes.pitch, strict=True):
            assert onset >= down_until.get(int(pitch), 0.0) - 1e-9, (file.name, onset, pitch)
            down_until[int(pitch)] = end


@pytest.mark.parametrize("numeral", ["I", "ii7/3", "V7", "bVI", "viio7", "IM7/7", "#ivo7", "Vs"])
def test_numerals_are_spelled_as_in_a_harmony_book(root, numeral, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "data"))
    from starter_kit import Piece

    spelled = {
        "I": (0, (0, 4, 7)),
        "ii7/3": (5, (2, 5, 9, 0)),
        "V7": (7, (7, 11, 2, 5)),
        "bVI": (8, (8, 0, 3)),
        "viio7": (11, (11, 2, 5, 8)),
        "IM7/7": (11, (0, 4, 7, 11)),
        "#ivo7": (6, (6, 9, 0, 3)),
        "Vs": (7, (7, 0, 2)),
    }
    [span] = Piece(title="x", tonic=0, bpm=60).harmony(numeral)
    assert (span.bass, span.tones) == spelled[numeral]
