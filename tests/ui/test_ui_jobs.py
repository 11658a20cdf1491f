"""The queue and the desk: fair, bounded, and nothing is lost by a failure."""

from __future__ import annotations

import threading
import types

import pytest

from musicgen.errors import GenerationError
from musicgen.ui.jobs import Job, Order, Workshop
from musicgen.ui.pieces import from_upload
from musicgen.ui.shelf import Shelf
from musicgen.ui.state import MAX_TAKES, Desk, Desks

ORDER = Order(seconds=10, temperature=1.0, top_p=0.95, top_k=0, min_p=0.0, seed=1)


def wait_for(condition):
    done = threading.Event()
    for _ in range(500):
        if condition():
            return
        done.wait(0.01)
    pytest.fail("it did not happen within 5 seconds")


def job():
    return Job(ORDER, keep=lambda take: take)


def test_jobs_are_done_one_after_another_and_know_their_place():
    gate, done = threading.Event(), []

    def work(this):
        gate.wait(5)
        done.append(this)
        this.finish(None)

    workshop = Workshop(work)
    jobs = [workshop.submit(job()) for _ in range(3)]
    wait_for(lambda: workshop.place(jobs[0]) == 0)
    assert [workshop.place(j) for j in jobs] == [0, 1, 2]
    assert workshop.withdraw(jobs[1])
    assert not workshop.withdraw(jobs[0])
    assert workshop.place(jobs[2]) == 1
    gate.set()
    wait_for(lambda: len(done) == 2)
    assert done == [jobs[0], jobs[2]]


def test_a_failure_is_a_sentence_and_the_next_job_is_done():
    def work(this):
        if this is first:
            raise GenerationError("The model gave no numbers.", hint="Use another model.")
        if this is second:
            raise ZeroDivisionError
        this.finish(None)

    first, second, third = job(), job(), job()
    workshop = Workshop(work)
    for this in (first, second, third):
        workshop.submit(this)
    wait_for(lambda: not third.active)
    assert first.error is not None
    assert first.error.message == "The model gave no numbers."
    assert second.error is not None
    assert second.error.hint
    assert third.state == "done"


def test_progress_replaces_what_the_model_took_back():
    from musicgen.midi import NoteTable

    this = job()
    for count in (5, 3):
        new = NoteTable.of(
            range(count), [i + 0.5 for i in range(count)], [60] * count, [80] * count
        )
        this.advance(types.SimpleNamespace(new=new, seconds_made=2.0))
    shown = this.so_far(0)
    assert len(shown["notes"]["on"]) == 3
    assert shown["made"] == 2.0


def take(music):
    return types.SimpleNamespace(midi=music, prompt_seconds=0.0)


def test_a_desk_keeps_eight_takes_and_the_shelf_forgets_the_rest(tmp_path, music):
    shelf = Shelf(tmp_path)
    desk = Desk(shelf)
    kept = [desk.keep(take(music)) for _ in range(MAX_TAKES + 2)]
    assert [piece.id for piece in desk.takes] == [piece.id for piece in kept[2:]]
    assert shelf.get(kept[0].id) is None
    assert desk.takes[-1].title == "Take 10"


def test_desks_do_not_mix_and_old_ones_make_room(tmp_path, music, monkeypatch):
    import musicgen.ui.state as state

    monkeypatch.setattr(state, "_MAX_DESKS", 2)
    shelf = Shelf(tmp_path)
    desks = Desks(shelf)
    mine, yours = desks.of("a"), desks.of("b")
    piece = mine.keep(take(music))
    assert desks.of("a") is mine
    assert yours.find(piece.id) is None
    desks.of("b")
    desks.of("c")
    assert desks.of("a") is not mine
    assert shelf.get(piece.id) is None


def test_a_new_file_takes_the_place_of_the_old_one(tmp_path, music):
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
