"""Music that was laid down to train on, and who finds it again."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from musicgen.errors import TrainingError
from musicgen.studio import trays as trays_module
from musicgen.studio.models import ORDER
from musicgen.studio.trays import Trays, laid_again

ME, OTHER = 32 * "a", 32 * "b"


@pytest.fixture
def trays(tmp_path: Path) -> Trays:
    return Trays(tmp_path)


def test_whoever_laid_music_finds_it_again(trays: Trays, tmp_path: Path) -> None:
    """Guards: a reload of the page forgot files that nobody had trained on yet."""
    assert trays.of(ME) is None
    trays.add(ME, [("a.mid", b"MThd"), ("b.mid", b"MThdx")])
    tray = trays.add(ME, [("a.mid", b"other")])
    assert Trays(tmp_path).of(ME) == tray
    assert (tray.names, tray.n_bytes, tray.is_begun) == (("a-2.mid", "a.mid", "b.mid"), 14, False)
    assert trays.of(OTHER) is None
    # The cookie opens a visitor's desk: it stands in no file.
    assert all(
        ME.encode() not in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()
    )
    trays.clear(ME)
    assert trays.of(ME) is None
    assert list(tmp_path.iterdir()) == []


def test_what_a_run_was_made_of_stays_as_it_is(trays: Trays, tmp_path: Path) -> None:
    begun = trays.add(ME, [("a.mid", b"MThd")]).music
    (begun.parent / ORDER).write_text("{}")
    assert trays.of(ME).is_begun
    more = trays.add(ME, [("b.mid", b"MThd")])
    assert (more.names, more.is_begun) == (("a.mid", "b.mid"), False)
    assert [file.name for file in begun.iterdir()] == ["a.mid"]
    # A second run of the same music has files of its own: the first may be removed.
    (more.music.parent / ORDER).write_text("{}")
    place = laid_again(more.music, tmp_path)
    assert trays.of(ME).music == place / "music"
    (more.music / "a.mid").unlink()
    assert (place / "music" / "a.mid").read_bytes() == b"MThd"
    (place / ORDER).write_text("{}")
    trays.clear(ME)
    assert trays.of(ME) is None
    assert (place / "music" / "a.mid").exists()


def test_what_was_laid_long_ago_makes_room(trays: Trays) -> None:
    old = trays.add(ME, [("a.mid", b"MThd")]).music
    long_ago = time.time() - trays_module.KEPT_S - 60
    for folder in (old, old.parent):
        os.utime(folder, (long_ago, long_ago))
    trays.add(OTHER, [("a.mid", b"MThd")])
    assert not old.exists()


def test_a_visitor_lays_no_more_than_the_disk_is_lent(
    trays: Trays, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trays_module, "MOST_BYTES", 6)
    trays.add(ME, [("a.mid", b"MThd")])
    with pytest.raises(TrainingError, match="together"):
        trays.add(ME, [("b.mid", b"MThd")])
    assert trays.of(ME).names == ("a.mid",)
