"""The drawer without a browser: what is kept and for whom, and what can be done with a take."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
import types
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from made_takes import made_take
from musicgen.errors import TakesError
from musicgen.midi import NoteTable
from musicgen.studio.take_store import TakeStore
from musicgen.ui import resources, strings, take_strings
from musicgen.ui import shelf as shelf_module
from musicgen.ui.drawer import Drawer
from musicgen.ui.matching import parting_s
from musicgen.ui.order import Order
from musicgen.ui.pieces import from_take, from_upload
from musicgen.ui.recent import MAX_TAKES
from musicgen.ui.resources import Studio
from musicgen.ui.shelf import Shelf
from musicgen.ui.state import Desk
from musicgen.ui.views import create, takes

ORDER = Order(seconds=10, temperature=1.1, top_p=None, top_k=0, min_p=0.0, seed=None)
VISITOR = "a" * 32


@pytest.fixture
def shelf(tmp_path):
    (tmp_path / "sound").mkdir()
    return Shelf(tmp_path / "sound")


@pytest.fixture
def store(tmp_path):
    return TakeStore(tmp_path / "takes")


@pytest.fixture
def drawer(shelf, store):
    return Drawer(shelf, store, VISITOR)


def titles(drawer):
    return [sheet.title for sheet in drawer.sheets()]


def test_all_takes_are_kept_and_eight_of_them_in_memory(drawer, shelf, monkeypatch):
    """Guards: the ninth take that pushed the first one out for good."""
    monkeypatch.setattr(shelf_module, "_MOMENT_S", -1.0)
    kept = [drawer.keep(made_take(seed=seed), ORDER) for seed in range(MAX_TAKES + 3)]
    assert titles(drawer) == [f"Take {number}" for number in range(1, MAX_TAKES + 4)]
    assert len(drawer.pieces()) == MAX_TAKES
    assert shelf.get(kept[0].id) is None
    again = drawer.find(kept[0].id)
    assert again is not None
    assert again.midi == kept[0].midi
    assert again.take is not None
    assert np.array_equal(again.take.ids, kept[0].take.ids)
    assert shelf.get(kept[0].id) is again
    assert len(drawer.pieces()) == MAX_TAKES


def test_who_comes_back_finds_their_takes_and_nobody_else_does(drawer, shelf, store):
    """Guards: a restarted server that has forgotten everything."""
    first, second = (drawer.keep(made_take(seed=seed), ORDER) for seed in (1, 2))
    drawer.rename(first.id, "  Nocturne\n ")
    drawer.star(first.id, True)
    drawer.vote(first.id, second.id, second.id)
    later = Drawer(shelf, TakeStore(store.root), VISITOR)
    assert titles(later) == ["Nocturne", "Take 2"]
    assert [sheet.is_starred for sheet in later.sheets()] == [True, False]
    assert [vote.verdict for sheet in later.sheets() for vote in sheet.votes] == ["worse", "better"]
    assert later.sheets()[0].settings.temperature == 1.1
    assert later.keep(made_take(), ORDER).title == "Take 3"
    assert Drawer(shelf, store, "b" * 32).sheets() == ()
    assert Drawer(shelf, store, "b" * 32).find(first.id) is None


def test_a_disk_that_takes_nothing_loses_no_generation(shelf, tmp_path):
    (tmp_path / "takes").write_bytes(b"")
    drawer = Drawer(shelf, TakeStore(tmp_path / "takes"), VISITOR)
    kept = [drawer.keep(made_take(seed=seed), ORDER) for seed in range(3)]
    assert isinstance(drawer.trouble, TakesError)
    assert drawer.find(kept[0].id) is kept[0]
    drawer.rename(kept[0].id, "Still here")
    assert titles(drawer) == ["Still here", "Take 2", "Take 3"]
    (tmp_path / "takes").unlink()
    drawer.keep(made_take(), ORDER)
    assert drawer.trouble is None
    assert len(drawer.sheets()) == 4
    assert titles(Drawer(shelf, TakeStore(tmp_path / "takes"), VISITOR)) == titles(drawer)


def test_what_the_disk_did_not_take_is_kept_when_it_has_room_again(shelf, tmp_path, monkeypatch):
    """Guards: takes that stay in memory, and the sentence on that, until another one is made."""
    (tmp_path / "takes").write_bytes(b"")
    drawer = Drawer(shelf, TakeStore(tmp_path / "takes"), VISITOR)
    piece = drawer.keep(made_take(), ORDER)
    drawer.star(piece.id, True)
    (tmp_path / "takes").unlink()
    drawer.settle()
    assert drawer.trouble is not None, "it was asked just now"
    monkeypatch.setattr(time, "monotonic", lambda now=time.monotonic: now() + 60)
    drawer.settle()
    assert drawer.trouble is None
    (sheet,) = Drawer(shelf, TakeStore(tmp_path / "takes"), VISITOR).sheets()
    assert (sheet.id, sheet.is_starred) == (piece.id, True)


def test_without_a_cookie_eight_are_kept_and_a_star_is_one_of_them(shelf):
    drawer = Drawer(shelf)
    first = drawer.keep(made_take(), ORDER)
    drawer.star(first.id, True)
    for seed in range(MAX_TAKES + 2):
        drawer.keep(made_take(seed=seed), ORDER)
    assert not drawer.is_lasting
    assert len(drawer.sheets()) == MAX_TAKES
    assert titles(drawer)[0] == "Take 1"
    assert drawer.find(first.id) is first


@pytest.mark.parametrize("lasting", [True, False])
def test_what_is_removed_can_be_had_back(shelf, store, lasting):
    drawer = Drawer(shelf, store, VISITOR) if lasting else Drawer(shelf)
    piece = drawer.keep(made_take(), ORDER)
    assert drawer.remove(piece.id)
    assert drawer.sheets() == ()
    assert drawer.find(piece.id) is None
    assert not drawer.remove(piece.id)
    assert drawer.undo(piece.id)
    back = drawer.find(piece.id)
    assert back is not None
    assert back.midi == piece.midi
    assert drawer.undo(piece.id), "it is there: another tab was quicker"
    assert drawer.trouble is None


def test_what_was_just_removed_is_on_the_shelf_yet(shelf):
    """Guards: "not found" for the sound and the heads that a page asked for at that moment."""
    drawer = Drawer(shelf)
    one, other = (drawer.keep(made_take(seed=seed), ORDER) for seed in range(2))
    assert drawer.remove(one.id)
    assert shelf.get(one.id) is one
    assert drawer.remove(other.id)
    assert drawer.undo(other.id)
    drawer.let_go()
    assert shelf.get(other.id) is None


@pytest.mark.parametrize("lasting", [True, False])
def test_all_that_was_removed_within_the_hour_can_be_had_back(shelf, store, lasting, monkeypatch):
    """Guards: an undo that knows the last take alone, though the others are still there."""
    drawer = Drawer(shelf, store, VISITOR) if lasting else Drawer(shelf)
    kept = [drawer.keep(made_take(seed=seed), ORDER) for seed in range(3)]
    drawer.rename(kept[0].id, "First")
    for piece in kept:
        assert drawer.remove(piece.id)
        time.sleep(0.02)  # a disk tells times by its own clock's ticks
    assert [sheet.title for sheet in drawer.removed()] == ["Take 3", "Take 2", "First"]
    assert drawer.undo(kept[2].id)
    assert drawer.undo(kept[0].id)
    assert titles(drawer) == ["First", "Take 3"]
    assert [sheet.id for sheet in drawer.removed()] == [kept[1].id]
    monkeypatch.setattr(time, "time", lambda now=time.time: now() + 3700)
    assert drawer.removed() == ()


def test_a_vote_counts_for_two_takes_that_are_there(drawer):
    one, other = (drawer.keep(made_take(seed=seed), ORDER).id for seed in (1, 2))
    for given in ((one, one, one), (one, "f" * 32, one), (one, other, "f" * 32), ("", other, None)):
        drawer.vote(*given)
    assert not any(sheet.votes for sheet in drawer.sheets())
    drawer.vote(one, other, None)
    assert [sheet.votes[0].verdict for sheet in drawer.sheets()] == ["same", "same"]


def test_everything_goes_home_but_what_is_damaged(drawer, store):
    for seed in range(MAX_TAKES + 2):
        drawer.keep(made_take(seed=seed), ORDER)
    bad = store.of(VISITOR).folder / f"{drawer.sheets()[0].id}.mid"
    bad.write_bytes(b"MThd")
    with zipfile.ZipFile(io.BytesIO(drawer.take_home())) as archive:
        listed = json.loads(archive.read("takes.json"))["takes"]
        assert len(listed) == MAX_TAKES + 1
        assert all(archive.read(take["file"]).startswith(b"MThd") for take in listed)
        assert listed[0]["asked"]["temperature"] == 1.1
    assert drawer.trouble is not None


def test_attention_of_a_take_is_shown_or_it_is_said_why_not(shelf):
    """Guards: the attention of another model under an old take's notes."""
    studio = Studio("nowhere")
    asked = []
    take = made_take()
    studio._pipelines["nowhere", 0.0] = types.SimpleNamespace(
        sha256="ab" * 32, attention=lambda source, until_s: asked.append(source) or 1 / 0
    )
    with pytest.raises(ZeroDivisionError):
        studio.looking.gaze(from_take(take, title="a"))
    assert asked == [take]
    other = from_take(replace(take, model_sha256="cd" * 32), title="a")
    lost = from_take(replace(take, ids=np.zeros((0, 0), dtype=np.int64)), title="a")
    for piece, said in ((other, take_strings.OTHER_MODEL), (lost, take_strings.EVENTS_LOST)):
        with pytest.raises(TakesError) as told:
            studio.looking.gaze(piece)
        assert told.value.message == said
    studio.close()


def test_an_example_that_was_chosen_before_takes_the_roll_from_no_take(shelf, monkeypatch):
    """Guards: the newest take, shown on coming back for an example that was chosen long ago."""
    desk, state = Desk(shelf), {"roll": {"pick": "example"}, "show": None}
    monkeypatch.setattr(create.st, "session_state", state)
    create._picked(desk)
    assert state["show"] == "example"
    state["show"] = desk.drawer.keep(made_take(), ORDER).id
    create._picked(desk)
    assert state["show"] != "example"


def test_stop_stops_all_that_was_asked_for(shelf, monkeypatch):
    studio, desk = Studio("nowhere"), Desk(shelf)
    waiting = []
    monkeypatch.setattr(studio.workshop, "submit", lambda job: waiting.append(job) or job)
    monkeypatch.setattr(studio.workshop, "withdraw", lambda job: job is not waiting[0])
    first = studio.submit(desk, ORDER, ORDER, ORDER)
    assert desk.job is first
    studio.stop(desk)
    assert [job.stopping for job in waiting] == [True] * 3
    assert [job.active for job in waiting] == [True, False, False]
    assert len(desk.collect()) == 2
    assert desk.jobs == (first,)
    studio.close()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads memory as Linux tells it")
@pytest.mark.long
def test_memory_does_not_grow_with_the_takes(tmp_path, root):
    """Guards: takes, jobs or sheets that are held for ever. 500 usual takes: docs/studio.md."""
    done = subprocess.run(
        [sys.executable, root / "tests/helpers/many_takes.py", tmp_path, "60", "2", "2500"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    grown_mb, kept = done.stdout.split()
    assert int(kept) == 60
    assert float(grown_mb) < 25


@pytest.fixture
def app(tiny_model, monkeypatch, root, tmp_path):
    """Return the page of a visitor whose takes last, with a drawer that does what a test says."""
    monkeypatch.setenv(resources.MODEL_VARIABLE, str(tiny_model))
    monkeypatch.setenv("MUSICGEN_HOME", str(tmp_path / "home"))
    resources.studio.cache_clear()
    shared = resources.studio()

    def drawn(told, *, on_act):
        st.session_state["told"] = told
        asked = st.session_state.pop("test_asks", None)
        if asked is not None:
            takes.act(shared, st.session_state["desk"], asked)
            st.rerun()

    monkeypatch.setattr(takes.drawer_component, "drawer", drawn)
    monkeypatch.setattr(takes.versus_component, "versus", lambda *pair, **_: compared.append(pair))
    compared: list[object] = []
    page = AppTest.from_file(str(root / "ui" / "app.py"), default_timeout=60)
    page.session_state["desk"] = Desk(shared.shelf, Drawer(shared.shelf, shared.takes, VISITOR))
    page.session_state["length"] = 5
    page.session_state["compared"] = compared
    return page.run()


def ask(app, **asked):
    app.session_state["test_asks"] = asked
    return app.run()


def settle(app):
    until = time.monotonic() + 60
    while time.monotonic() < until:
        app.run()
        if not app.session_state["desk"].jobs:
            return app
        time.sleep(0.1)
    pytest.fail("the music was not made within 60 seconds")


def make(app, *, seed=None, count=1):
    app.session_state["seed"], app.session_state["count"] = seed, count
    next(button for button in app.button if button.label == strings.GENERATE).click().run()
    return settle(app)


def test_several_takes_at_a_press_and_what_can_be_done_with_one(app):
    make(app, seed=7, count=2)
    assert not app.exception
    drawer = app.session_state["desk"].drawer
    named = {sheet.facts.seed: sheet for sheet in drawer.sheets()}
    assert sorted(named) == [7, 8]
    first, second = named[7].id, named[8].id
    title = named[7].title
    assert app.session_state["told"]["shown"] == first, "it sounds since it was asked for"

    ask(app, do="show", id=second)
    assert app.session_state["told"]["shown"] == second
    ask(app, do="rename", id=second, title="=Second <b>")
    ask(app, do="star", id=second, star=True)
    ask(app, do="versus", id=first)
    assert [piece["id"] for piece in app.session_state["compared"][-1]] == [second, first]
    assert app.session_state["told"]["comparing"]
    ask(app, do="remove", id=first)
    assert app.session_state["told"]["removed"] == [{"id": first, "title": title}]
    assert not app.session_state["told"]["comparing"]
    ask(app, do="undo", id=first)
    assert app.session_state["told"]["shown"] == first
    assert app.session_state["told"]["removed"] == []
    cards = app.session_state["told"]["takes"]
    assert {(card["title"], card["star"]) for card in cards} == {
        ("=Second <b>", True),
        (title, False),
    }
    assert not app.exception


def test_a_take_that_is_done_while_the_page_is_drawn_is_found(app, monkeypatch):
    """Guards: "Stop and keep" for good, where the second take was done just behind the first.

    The page of the first is being drawn: the button is there, the rest of the page is to come.
    """
    desk, shared = app.session_state["desk"], resources.studio()
    monkeypatch.setattr(shared.workshop, "submit", lambda job: job)  # they end when they are told
    drawn = create.roll
    app.session_state["count"] = 2
    next(button for button in app.button if button.key == "go").click().run()
    first, second = desk.jobs
    first.finish(made_take())

    def while_it_is_drawn(*given, **more):
        second.finish(made_take())
        drawn(*given, **more)

    monkeypatch.setattr(create, "roll", while_it_is_drawn)
    app.run()
    assert any(button.key == "stop" for button in app.button), "the order of events is another"
    making = app.session_state["told"]["making"]
    assert [job["id"] for job in making] == [second.id], "the drawer asks for it, and is told"
    app.run()  # as it has the page drawn anew
    assert not any(button.key == "stop" for button in app.button)
    assert app.session_state["told"]["making"] == []
    assert desk.jobs == ()


@pytest.mark.parametrize(
    ("changes", "parting"),
    [
        ({}, None),
        ({"onset_s": {5: 2.6}}, 2.5),
        ({"pitch": {3: 90}}, 1.5),
        ({"end_s": {2: 1.2}, "pitch": {9: 90}}, 1.2),
    ],
)
def test_where_two_takes_part(changes, parting):
    """Guards a comparison by ear of the beginning that two takes have in common."""
    columns = {
        "onset_s": [i / 2 for i in range(12)],
        "end_s": [i / 2 + 0.4 for i in range(12)],
        "pitch": [60 + i for i in range(12)],
    }
    one = NoteTable.of(**columns, velocity=[80] * 12)
    for name, values in changes.items():
        for place, value in values.items():
            columns[name][place] = value
    other = NoteTable.of(**columns, velocity=[80] * 12, track=1)
    assert parting_s(one, other) == parting_s(other, one) == parting
    part = one.select(one.onset_s < 4)
    assert parting_s(part, one) == 4.0


def test_music_goes_on_from_a_take_and_from_a_point_in_it(app):
    make(app, seed=3)
    (first,) = app.session_state["desk"].drawer.sheets()
    end_s = app.session_state["desk"].find(first.id).preview.end_s
    app.session_state["seed"] = None
    settle(ask(app, do="anew", id=first.id, at=2.5))
    settle(ask(app, do="on", id=first.id))
    anew, on = app.session_state["desk"].drawer.sheets()[1:]
    assert not app.exception
    assert not app.error
    assert (anew.origin.take, anew.origin.title, anew.origin.at_s) == (first.id, "Take 1", 2.5)
    assert anew.facts.prompt_seconds == pytest.approx(2.5)
    assert anew.facts.seconds == pytest.approx(end_s, abs=0.4)
    assert on.origin.at_s is None
    drawer = app.session_state["desk"].drawer
    assert [drawer.beginning(each.id) for each in (first, anew, on)] == ["Take 1"] * 3
    assert on.facts.prompt_notes == first.facts.notes
    assert on.facts.seconds == pytest.approx(end_s + 5, abs=0.6)
    before = app.session_state["desk"].find(first.id).preview.notes
    after = app.session_state["desk"].find(anew.id).preview.notes
    kept = before.onset_s < 2.5
    assert np.array_equal(after.pitch[: kept.sum()], before.pitch[kept]), "what was before stays"


def test_music_goes_on_from_a_point_on_the_roll(app, music, monkeypatch):
    """Guards: a point on the roll that is good for takes alone, not for the visitor's own file."""

    def drawn(piece, *, on_act, **_):
        st.session_state["roll"] = {"act": {"do": "on", "id": desk.prompt.id, "at": 3.1}}
        st.button("here", on_click=on_act)

    monkeypatch.setattr(create, "roll", drawn)
    desk = app.session_state["desk"]
    desk.lay(from_upload(music, name="mine.mid"))
    app.run()  # what the component said is forgotten with it
    app.run()
    next(button for button in app.button if button.label == "here").click().run()
    settle(app)
    assert not app.exception
    (sheet,) = desk.drawer.sheets()
    assert (sheet.origin.title, sheet.origin.take, sheet.origin.at_s) == ("mine.mid", None, 3.1)
    assert desk.prompt.preview.end_s == pytest.approx(3.1)
    assert app.slider(key="use").value == 3
    assert desk.drawer.beginning(sheet.id) is None


def test_what_a_browser_may_send_breaks_nothing(app):
    make(app)
    (sheet,) = app.session_state["desk"].drawer.sheets()
    bad = ("f" * 32, "../x", "", None, 7, {"a": 1})
    for do in ("show", "rename", "star", "remove", "undo", "versus", "on", "anew", "nothing", None):
        for name in bad:
            ask(app, do=do, id=name, title=3, star="yes", at="x")
            assert not app.exception, (do, name)
    for at in (-1, 0, 1e-9, float("nan"), True, 10**400):
        settle(ask(app, do="anew", id=sheet.id, at=at))
        assert not app.exception, at
    assert sheet.id in [each.id for each in app.session_state["desk"].drawer.sheets()]
