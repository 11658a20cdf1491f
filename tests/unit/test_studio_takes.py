"""Takes on the disk: found again, under a quota, safe against damage and other processes."""

from __future__ import annotations

import base64
import csv
import io
import json
import os
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from made_takes import made_sheet, made_take
from musicgen.errors import TakesError
from musicgen.pipeline import preview
from musicgen.studio import take_folder
from musicgen.studio.restoring import restored
from musicgen.studio.take_bundle import bundle
from musicgen.studio.take_sheets import THUMB_HEIGHT, THUMB_WIDTH, TakeOrigin
from musicgen.studio.take_store import TakeQuota, TakeStore

VISITOR = "0123456789abcdef" * 2


def keep(store, folder, number, **about):
    take = made_take(seed=number, **about)
    return store.keep(folder, made_sheet(take, number=number), take.midi, take.ids)


def names(folder):
    return [sheet.number for sheet in folder.sheets()]


@pytest.fixture
def store(tmp_path):
    return TakeStore(tmp_path / "takes")


@pytest.fixture
def folder(store):
    return store.of(VISITOR)


def test_a_take_comes_back_as_it_was(store, folder):
    """Guards: takes that a restarted server does not know any more."""
    assert folder.sheets() == ()
    take = made_take(seed=7)
    sheet = store.keep(folder, made_sheet(take), take.midi, take.ids)
    again = TakeStore(store.root).of(VISITOR)
    assert again.sheets() == (sheet,)
    stored = again.read(sheet.id)
    back = restored(stored, preview(stored.midi))
    assert back.midi == take.midi
    assert np.array_equal(back.ids, take.ids)
    assert back.as_dict() == take.as_dict()
    assert np.array_equal(back.new_notes.pitch, take.new_notes.pitch)


def test_the_cookie_is_in_no_name_and_no_file(store, folder):
    """Guards: a secret that whoever sees the folder could open the desk with."""
    keep(store, folder, 1)
    for path in store.root.rglob("*"):
        assert VISITOR not in str(path)
        assert path.is_dir() or VISITOR.encode() not in path.read_bytes()
    assert store.of("f" * 32).sheets() == ()


def test_names_stars_and_votes_stay(store, folder):
    sheet = keep(store, folder, 1)
    folder.change(sheet.id, title="=Nocturne", is_starred=True)
    again = TakeStore(store.root).of(VISITOR).sheets()[0]
    assert (again.title, again.is_starred) == ("=Nocturne", True)
    with pytest.raises(ValueError, match="characters"):
        folder.change(sheet.id, title="x" * 81) and folder.sheets()


def test_a_removed_take_can_be_had_back_and_then_is_gone(store, folder, monkeypatch):
    sheet = keep(store, folder, 1)
    folder.remove(sheet.id)
    assert folder.sheets() == ()
    with pytest.raises(TakesError):
        folder.read(sheet.id)
    assert folder.restore(sheet.id) == sheet
    folder.remove(sheet.id)
    monkeypatch.setattr(take_folder, "FORGIVING_S", -1.0)
    keep(store, folder, 2)
    assert list(folder.folder.glob(f"{sheet.id}*")) == []
    with pytest.raises(TakesError):
        folder.restore(sheet.id)


@pytest.mark.parametrize("name", ["../x", "", "a" * 31, "A" * 32, "\0" * 32])
def test_a_name_from_outside_leads_nowhere(folder, name):
    for act in (folder.read, folder.remove, folder.restore, folder.change):
        with pytest.raises(TakesError):
            act(name)


DAMAGE = {
    "cut": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "nonsense": lambda data: bytes(range(256)),
    "later version": lambda data: data.replace(b'"version": 1', b'"version": 2'),
    "unknown key": lambda data: data.replace(b'"version"', b'"path": "/etc", "version"'),
    "a number as text": lambda data: data.replace(b'"number": 1', b'"number": "1"'),
    "no number": lambda data: data.replace(b'"made_s": 1.0', b'"made_s": NaN'),
    "made after all zips": lambda data: data.replace(b'"made_s": 1.0', b'"made_s": 1e11'),
    "longer than any": lambda data: data.replace(b'"prompt_seconds": ', b'"prompt_seconds": 9e9'),
    "another's name": lambda data: data.replace(b"0" * 31 + b"1", b"0" * 31 + b"9"),
    "no picture": lambda data: data.replace(b'"thumb": "', b'"thumb": "<'),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=list(DAMAGE))
def test_a_damaged_sheet_costs_its_take_alone(store, folder, damage):
    """Guards: one bad file that empties the drawer or breaks the page."""
    bad, good = keep(store, folder, 1), keep(store, folder, 2)
    path = folder.folder / f"{bad.id}.json"
    path.write_bytes(damage(path.read_bytes()))
    again = TakeStore(store.root).of(VISITOR)
    assert again.sheets() == (good,)
    assert again.n_damaged() == 1
    with pytest.raises(TakesError):
        again.read(bad.id)


def test_damaged_music_is_a_sentence_and_lost_events_cost_attention_alone(store, folder):
    first, second = keep(store, folder, 1), keep(store, folder, 2)
    (folder.folder / f"{first.id}.mid").write_bytes(b"MThd")
    with pytest.raises(TakesError, match="damaged"):
        folder.read(first.id)
    (folder.folder / f"{second.id}.npy").write_bytes(b"\x80\x04pickle")
    assert folder.read(second.id).events is None
    (folder.folder / f"{first.id}.mid").unlink()
    assert folder.sheets() == (second,)
    assert folder.n_damaged() == 1


def test_the_oldest_without_a_star_make_room(tmp_path):
    store = TakeStore(tmp_path, TakeQuota(takes=3))
    folder = store.of(VISITOR)
    first = keep(store, folder, 1)
    folder.change(first.id, is_starred=True)
    for number in (2, 3, 4, 5):
        keep(store, folder, number)
    assert names(folder) == [1, 4, 5]
    assert {path.stem for path in folder.folder.glob("*.mid")} == {s.id for s in folder.sheets()}


def test_stars_make_no_room_and_nothing_is_lost_for_it(tmp_path):
    store = TakeStore(tmp_path, TakeQuota(takes=2))
    folder = store.of(VISITOR)
    for number in (1, 2):
        folder.change(keep(store, folder, number).id, is_starred=True)
    with pytest.raises(TakesError, match="full of starred"):
        keep(store, folder, 3)
    assert names(folder) == [1, 2]


def test_bytes_count_too(tmp_path):
    one = TakeStore(tmp_path / "one")
    keep(one, one.of(VISITOR), 1)
    size = sum(one.of(VISITOR).sizes().values())
    store = TakeStore(tmp_path / "two", TakeQuota(bytes=3 * size + 6000))
    folder = store.of(VISITOR)
    for number in range(1, 7):
        keep(store, folder, number)
    assert names(folder)[-1] == 6
    assert sum(folder.sizes().values()) <= 3 * size + 6000
    with pytest.raises(TakesError):
        keep(TakeStore(tmp_path / "two", TakeQuota(bytes=100)), folder, 7)
    assert names(folder)[-1] == 6, "a take too large for the quota pushes no other out"


def test_all_visitors_together_have_a_quota(tmp_path):
    store = TakeStore(tmp_path, TakeQuota(all_takes=20))
    mine, yours = store.of("a" * 32), store.of("b" * 32)
    for number in range(1, 11):
        keep(store, mine, number)
    for number in range(11, 24):
        keep(store, yours, number)
    assert len(names(mine)) + len(names(yours)) <= 20
    assert names(yours) == list(range(11, 24))
    assert names(mine)[-1] == 10, "the oldest of all went"


def test_a_disk_that_takes_nothing_is_one_sentence(tmp_path):
    (tmp_path / "takes").write_bytes(b"a file where the folder should be")
    store = TakeStore(tmp_path / "takes")
    folder = store.of(VISITOR)
    assert folder.sheets() == ()
    with pytest.raises(TakesError, match="takes no files") as told:
        keep(store, folder, 1)
    assert told.value.hint


def test_a_full_disk_leaves_no_half_of_a_take(store, folder, monkeypatch):
    keep(store, folder, 1)
    sync = os.fsync
    calls = []

    def full(handle):
        calls.append(handle)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        sync(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(TakesError, match="No space left"):
        keep(store, folder, 2)
    assert names(folder) == [1]
    assert not [p for p in folder.folder.iterdir() if p.stem.lstrip(".")[:32].endswith("2")]
    assert not list(folder.folder.glob(".*.part"))


def test_a_full_disk_keeps_the_sheet_that_was_there(store, folder, monkeypatch):
    sheet = keep(store, folder, 1)

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(TakesError, match="No space left") as told:
        folder.change(sheet.id, title="Nocturne")
    assert "Free some space" in told.value.hint
    assert TakeStore(store.root).of(VISITOR).sheets() == (sheet,)
    assert not list(folder.folder.glob(".*.part"))


def test_a_take_that_was_moved_and_linked_stays_where_it_is(store, folder, tmp_path):
    """Guards: a star that put a file in the link's place and left the moved sheet as it was."""
    sheet = keep(store, folder, 1)
    n_bytes = folder.sizes()[sheet.id]
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for path in folder.folder.glob(f"{sheet.id}.*"):
        path.rename(moved / path.name).touch()
        path.symlink_to(moved / path.name)
    assert folder.sheets() == (sheet,)
    assert folder.sizes()[sheet.id] == n_bytes
    changed = folder.change(sheet.id, title="Nocturne")
    assert all(path.is_symlink() for path in folder.folder.glob(f"{sheet.id}.*"))
    assert '"Nocturne"' in (moved / f"{sheet.id}.json").read_text()
    assert folder.sheets() == (changed,)
    folder.remove(sheet.id)
    assert [each for _, each in folder.removed()] == [changed]
    assert folder.restore(sheet.id) == changed


def test_a_take_that_goes_while_it_is_read_is_gone_not_broken(store, folder, monkeypatch):
    """Guards: "cannot be read: No such file" for a take that made room for another's just then."""
    sheet = keep(store, folder, 1)
    read = Path.read_bytes

    def late(path):
        if path.suffix == ".mid":
            folder.drop({sheet.id})
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", late)
    with pytest.raises(TakesError, match="not on the disk any more"):
        folder.read(sheet.id)


OTHER = """
import sys
from pathlib import Path
from made_takes import made_sheet, made_take
from musicgen.studio.take_store import TakeQuota, TakeStore
root, visitor, first = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
store = TakeStore(root, TakeQuota(takes=9))
folder = store.of(visitor)
for number in range(first, first + 12):
    take = made_take(seed=number)
    sheet = store.keep(folder, made_sheet(take, number=number), take.midi, take.ids)
    try:
        folder.change(sheet.id, title=f"mine {number}")
        folder.read(sheet.id)
    except Exception as error:
        if "not on the disk" not in str(error):  # the other process needed its room
            raise
"""


def test_two_processes_share_a_folder(tmp_path, root):
    """Guards: two studios with one visitor (cookies know no port) that break each other's files."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(root / "tests/helpers")])}
    both = [
        subprocess.Popen(
            [sys.executable, "-c", OTHER, str(tmp_path), VISITOR, str(first)],
            stderr=subprocess.PIPE,
            env=env,
        )
        for first in (100, 200)
    ]
    for process in both:
        said = process.communicate(timeout=60)[1].decode()
        assert process.returncode == 0, said
    folder = TakeStore(tmp_path).of(VISITOR)
    assert folder.n_damaged() == 0
    assert 8 <= len(folder.sheets()) <= 10
    assert not list(folder.folder.glob(".*.part"))
    for sheet in folder.sheets():
        assert folder.read(sheet.id).events is not None


def test_the_picture_shows_the_notes():
    take = made_take(notes=4)
    bits = np.unpackbits(np.frombuffer(base64.b64decode(made_sheet(take).thumb), np.uint8))
    picture = bits.reshape(THUMB_HEIGHT, THUMB_WIDTH)
    assert 4 * 10 < picture.sum() < 4 * THUMB_WIDTH // 3
    assert picture[:, : THUMB_WIDTH // 8].any()
    assert picture[:, -THUMB_WIDTH // 8 :].any()


def test_the_zip_has_harmless_names_and_no_formula(store, folder):
    """Guards: `=cmd|...` in a spreadsheet, and a path in a file's name."""
    hostile = ["../../etc/passwd", "=cmd|' /C calc'!A0", " +1", "@SUM(A1)", "\U0001f3b9", "con"]
    takes = []
    for number, title in enumerate(hostile, start=1):
        sheet = keep(store, folder, number)
        origin = TakeOrigin(title=title)
        takes.append((replace(sheet, title=title, origin=origin), folder.read(sheet.id).midi))
    with zipfile.ZipFile(io.BytesIO(bundle(takes))) as archive:
        assert archive.testzip() is None
        files = [name for name in archive.namelist() if name.endswith(".mid")]
        assert len(set(files)) == len(hostile)
        for name in files:
            assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.")
        assert archive.read(files[0]) == takes[0][1]
        listed = json.loads(archive.read("takes.json"))
        assert [take["title"] for take in listed["takes"]] == hostile
        assert "folder" not in archive.read("takes.json").decode()
        rows = list(csv.reader(io.StringIO(archive.read("takes.csv").decode())))
    assert len(rows) == len(hostile) + 1
    for cell in (cell for row in rows for cell in row):
        assert not cell.lstrip(" ").startswith(("=", "+", "-", "@", "\t"))
