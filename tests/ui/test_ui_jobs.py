"""The queue and the desk: fair, bounded, and nothing is lost by a failure."""

from __future__ import annotations

import dataclasses
import gc
import time
import types

import numpy as np
import pytest

from made_takes import made_take
from musicgen.audio import BLOCK, SAMPLE_RATE
from musicgen.errors import MusicgenError
from musicgen.midi import NoteTable, notes_to_score, score_to_bytes
from musicgen.ui import jobs, resources, strings
from musicgen.ui import shelf as shelf_module
from musicgen.ui.jobs import Job
from musicgen.ui.listening import can_be_heard, heard_passage, is_passage
from musicgen.ui.order import Order
from musicgen.ui.pieces import from_upload
from musicgen.ui.recent import MAX_TAKES
from musicgen.ui.resources import Studio
from musicgen.ui.shelf import Shelf
from musicgen.ui.state import Desk, Desks

SECOND = SAMPLE_RATE // BLOCK * BLOCK
ORDER = Order(seconds=10, temperature=1.0, top_p=0.95, top_k=0, min_p=0.0, seed=1)


def job(visitor=None):
    return Job(ORDER, keep=lambda take, name, model: take, visitor=visitor)


def progress(count, *, made=9):
    """Return a report of so many settled notes, a second each."""
    new = NoteTable.of(range(count), [i + 0.5 for i in range(count)], [60] * count, [80] * count)
    return types.SimpleNamespace(
        notes=made,
        settled=lambda: new,
        settled_events=(None,) * count,
        settled_s=float(count),
        settled_midi=lambda: score_to_bytes(notes_to_score(new)),
        tries_endings=made > 9,
    )


def test_getting_the_model_ready_is_said():
    """Guards: half a minute of compiling that only said "Waking the model"."""
    this, seen, studio = job(), [], Studio("nowhere")
    studio._pipelines["nowhere", 0.0] = types.SimpleNamespace(
        prepare=lambda: seen.append(this.so_far(0)["state"]), stream=lambda *_, **__: iter(())
    )
    studio._begin(this)
    studio.close()
    assert seen == ["preparing"]
    assert "once" in strings.ROLL["compiling"]


def test_a_visitor_without_a_seed_waits_for_no_compiler():
    """Guards twelve seconds of silence behind the very first click on a machine."""
    asked, studio = [], Studio("nowhere")
    studio._pipelines["nowhere", 0.0] = types.SimpleNamespace(
        stream=lambda *_, **options: asked.append(options) or iter(())
    )
    studio._begin(Job(dataclasses.replace(ORDER, seed=None), keep=lambda *_: None))
    studio.close()
    assert [options["at_once"] for options in asked] == [True]


def test_what_stays_for_good_is_never_collected_again(monkeypatch):
    """Guards a third of a second at the end of every run of a page, in which all stood still."""
    studio = Studio("nowhere")
    studio._pipelines["nowhere", 0.0] = types.SimpleNamespace(prepare=lambda: None)
    monkeypatch.setattr(studio, "_rehearse", lambda pipeline: None)
    monkeypatch.setattr(studio, "_render_examples", lambda: None)
    gc.unfreeze()  # a studio of another test has done the same
    try:
        studio._load_quietly()
        assert gc.get_freeze_count() > 10_000
    finally:
        gc.unfreeze()
        studio.close()


def test_the_whole_length_is_said_when_it_is_made(music):
    """Guards: "Composing: 0 of 30 s · 240 notes" at the end of nearly every piece."""
    piece = from_upload(music, name="a.mid")
    this = Job(ORDER, keep=lambda take, name, model: piece)
    this.advance(progress(5))
    this.finish(types.SimpleNamespace())
    shown = this.so_far(0)
    assert shown["state"] == "done"
    assert shown["made"] == pytest.approx(piece.preview.end_s, abs=0.05)


def test_how_long_each_state_lasts_is_told(monkeypatch):
    """Guards: "Waking the model …" that never changes."""
    now = [100.0]
    monkeypatch.setattr(jobs, "time", types.SimpleNamespace(monotonic=lambda: now[0]))
    this = job()
    this.state = "loading"
    now[0] += 3.2
    assert this.so_far(0)["since"] == 3
    this.state = "preparing"
    assert this.so_far(0)["since"] == 0
    assert "{since}" in strings.ROLL["loading"]
    assert "{since}" in strings.ROLL["preparing"]


@pytest.mark.parametrize("is_making", [True, False])
def test_the_examples_sound_is_ready_unless_music_is_being_made(monkeypatch, is_making):
    """Guards: seconds between a click on an example and its sound; and a maker held up by it."""
    monkeypatch.setattr(resources, "_BREATH_S", 0.0)
    studio, rendered = Studio("nowhere"), []
    monkeypatch.setattr(studio.shelf, "sound", lambda name, kind: rendered.append(name))
    monkeypatch.setattr(studio.workshop, "submit", lambda job: job)
    if is_making:
        studio.submit(Desk(studio.shelf), ORDER)
    studio._render_examples()
    studio.close()
    assert rendered == ([] if is_making else [piece.id for piece in studio.examples])


def test_what_is_shown_only_grows():
    """Guards: a count of notes that ran backwards while endings were tried."""
    this = job()
    assert this.heard() is None
    for count, made in ((3, 9), (5, 30), (5, 12)):
        this.advance(progress(count, made=made))
        shown = this.so_far(0)
        assert len(shown["notes"]["on"]) == count
        assert shown["made"] == count
    assert shown["ending"]


def test_passages_reach_as_far_as_the_music_is_sure():
    this = job()
    assert not can_be_heard(this, 0, SECOND)
    this.advance(progress(0))
    assert not can_be_heard(this, 0, SECOND)
    assert heard_passage(this, 0, SECOND) is None
    this.advance(progress(3))
    passage = heard_passage(this, 2 * SECOND, 4 * SECOND)
    assert passage is not None
    assert not passage.is_last
    assert 0.9 * SECOND < passage.samples.shape[1] < SECOND
    assert np.abs(passage.samples).max() > 0.001
    assert not can_be_heard(this, 3 * SECOND, SECOND)


def test_a_whole_piece_is_heard_to_its_end(music):
    this = job()
    this.finish(from_upload(music, name="a.mid"))
    assert this.so_far(0)["notes"]["on"] == []
    last = heard_passage(this, 10 * SECOND, 10 * SECOND)
    assert last is not None
    assert last.is_last
    assert heard_passage(this, 60 * SECOND, SECOND) is None


@pytest.mark.parametrize(
    ("begin", "length"), [(-64, 64), (1, 64), (0, 0), (0, 65), (0, 64 * 750 * 3600)]
)
def test_passages_that_may_not_be_asked_for(begin, length):
    assert not is_passage(begin, length)
    assert is_passage(0, SECOND)


def test_a_desk_keeps_eight_takes_and_the_shelf_forgets_the_rest(tmp_path, monkeypatch):
    shelf = Shelf(tmp_path)
    desk = Desk(shelf)
    monkeypatch.setattr(shelf_module, "_MOMENT_S", -1.0)
    kept = [desk.drawer.keep(made_take(), ORDER) for _ in range(MAX_TAKES + 2)]
    assert [piece.id for piece in desk.takes] == [piece.id for piece in kept[2:]]
    assert shelf.get(kept[0].id) is None
    assert desk.takes[-1].title == "Take 10"


def test_desks_do_not_mix_and_old_ones_make_room(tmp_path, monkeypatch):
    import musicgen.ui.state as state

    monkeypatch.setattr(state, "_MAX_DESKS", 2)
    shelf = Shelf(tmp_path)
    desks = Desks(shelf)
    mine, yours = desks.of("a"), desks.of("b")
    piece = mine.drawer.keep(made_take(), ORDER)
    assert desks.of("a") is mine
    assert yours.find(piece.id) is None
    desks.of("b")
    desks.of("c")
    assert desks.of("a") is not mine
    assert shelf.get(piece.id) is None


def test_a_desk_at_which_music_is_made_makes_no_room(tmp_path, monkeypatch):
    """Guards: a newcomer's cookie that takes the oldest desk away and stops what is made there."""
    import musicgen.ui.state as state

    monkeypatch.setattr(state, "_MAX_DESKS", 2)
    desks = Desks(Shelf(tmp_path))
    busy, idle = desks.of("a"), desks.of("b")
    begun = job()
    busy.begin(begun)
    monkeypatch.setattr(time, "monotonic", lambda now=time.monotonic: now() + 7 * 3600)
    newcomer = desks.of("c")
    assert desks.of("a") is busy
    assert not begun.stopping
    newcomer.begin(job())
    with pytest.raises(MusicgenError) as told:
        desks.of("b")
    assert told.value.message == strings.ALL_DESKS_BUSY
    begun.finish(None)
    assert desks.of("b") is not idle
    assert desks.of("c") is newcomer


def test_a_new_file_takes_the_place_of_the_old_one(tmp_path, music, monkeypatch):
    monkeypatch.setattr(shelf_module, "_MOMENT_S", -1.0)
    shelf = Shelf(tmp_path)
    desk = Desk(shelf)
    old = from_upload(music, name="old.mid")
    new = from_upload(music, name="new.mid", seconds=3.0)
    desk.lay(old)
    desk.lay(old, new)
    assert shelf.get(old.id) is None
    assert desk.prompt is new
    assert desk.upload is old
    assert new.prompt_end_s == pytest.approx(3.0)


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "C:\\x\\y.mid", "a:stream.mid", "\x00", "-rf"]
)
def test_a_files_name_is_never_a_path(name, music):
    piece = from_upload(music, name=name)
    assert piece.title
    assert set(piece.file_stem) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert not piece.file_stem.startswith("-")
