"""What the doctor calls the keys that music is in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from musicgen.corpus import pictures
from musicgen.corpus.diagnosis import Figures
from musicgen.midi import PLAIN_TONIC_NAMES

FIFTHS = "FCGDAEB"
SEMITONES = dict(zip("CDEFGAB", (0, 2, 4, 5, 7, 9, 11), strict=True))
FIGURES = replace(
    Figures.of([]), keys=np.arange(1, 25), density_per_s=np.ones(24), seconds=np.ones(24)
)


@pytest.mark.parametrize("key", range(24))
def test_a_key_is_called_by_its_fewest_accidentals(key: int) -> None:
    """Guards "C# major" (seven sharps) of a piece that is written in D flat, with five flats."""
    name = PLAIN_TONIC_NAMES[key]
    raised = name.count("#") - name.count("b")
    assert (SEMITONES[name[0]] + raised) % 12 == key % 12
    sharps = FIFTHS.index(name[0]) - 1 + 7 * raised - (3 if key >= 12 else 0)
    assert abs(sharps) <= 6


def test_the_report_and_its_picture_have_these_names(monkeypatch: pytest.MonkeyPatch) -> None:
    told = FIGURES.as_dict()["keys"]
    assert len(told) == 24
    assert (told["Db major"], told["C# minor"], told["Ab major"], told["G# minor"]) == (
        2,
        14,
        9,
        21,
    )
    labels: dict[str, list[str]] = {}

    def bars(counts: np.ndarray, under: list[tuple[float, str]], *, title: str, **_: str) -> bytes:
        labels[title] = [name for _, name in under]
        return b""

    monkeypatch.setattr(pictures, "bars_png", bars)
    assert len(list(pictures.pictures(FIGURES, "light"))) == 5
    assert labels["Key"][:3] == ["C", "Db", "D"]
    assert labels["Key"][12:14] + labels["Key"][20:21] == ["c", "c#", "g#"]
    assert len(labels["Key"]) == 24
