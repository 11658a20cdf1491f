"""Attention is read in one thread that lets pages and music go first."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from starlette.applications import Starlette

from musicgen.midi import NoteTable
from musicgen.pipeline.looking import AttentionView
from musicgen.ui import looking as looking_module
from musicgen.ui import urgency
from musicgen.ui.looking import Looking, Why
from musicgen.ui.workshop import Workshop

NO_MODEL = "no model is needed"


def no_pipeline(_model):
    raise AssertionError(NO_MODEL)


def test_what_somebody_waits_for_comes_before_what_nobody_asked():
    """Guards: a click on a note that waited for the small maps of twenty other visitors."""
    looking, order, gate = Looking(no_pipeline), [], threading.Event()
    first = looking.ask(gate.wait)

    def wish(name, why):
        return looking.ask(lambda: order.append(name), why=why)

    unasked = [wish(f"unasked {i}", Why.UNASKED) for i in (1, 2)]
    file = wish("file", Why.FILE)
    pressed = [wish(f"pressed {i}", Why.PRESSED) for i in (1, 2)]
    gate.set()
    for future in (first, *unasked, file, *pressed):
        future.result(timeout=10)
    assert order == ["pressed 1", "pressed 2", "file", "unasked 1", "unasked 2"]


def test_an_error_is_told_to_who_asked_and_the_next_is_served():
    """Guards: a thread that ended at the first broken piece, and heads that never came again."""
    looking = Looking(no_pipeline)
    with pytest.raises(ZeroDivisionError):
        looking.ask(lambda: 1 / 0).result(timeout=10)
    assert looking.ask(lambda: 1).result(timeout=10) == 1


def test_who_has_gone_is_passed_by():
    looking, gate, done = Looking(no_pipeline), threading.Event(), []
    held = looking.ask(gate.wait)
    gone = looking.ask(lambda: done.append("gone"))
    gone.cancel()
    gate.set()
    held.result(timeout=10)
    looking.ask(lambda: None).result(timeout=10)
    assert done == []


def test_only_so_much_attention_stays_in_memory(monkeypatch):
    """Guards: memory that grew with every piece that was looked into."""
    monkeypatch.setattr(looking_module, "_KEPT_BYTES", 2 * 4 * 4 * 2)
    monkeypatch.setattr(looking_module.Gaze, "of", lambda view, _piece: view)
    read = []

    def attention(source, until_s):
        read.append(source)
        return AttentionView(
            weights=np.zeros((1, 1, 4, 4), np.float16),
            ids=np.zeros((4, 4), np.int64),
            note_index=np.full(4, -1),
            notes=np.zeros((0, 4)),
        )

    looking = Looking(lambda _: SimpleNamespace(attention=attention))
    for name in "abacab":
        piece = SimpleNamespace(id=name, model=None, take=None, document=lambda name=name: name)
        looking.ask(lambda piece=piece: looking.gaze(piece)).result(timeout=10)
    assert read == ["a", "b", "c", "b"], "two stay; the one that was not looked at longest goes"


class Window:
    """A model that sees the last eight notes of what it is shown, and counts how often."""

    def __init__(self, onset_s):
        self.onset_s, self.passes = np.asarray(onset_s, dtype=float), []

    def piece(self):
        notes = NoteTable.of(self.onset_s, self.onset_s + 0.5, self.pitch, [80] * len(self.pitch))
        preview = SimpleNamespace(notes=notes, meter=None)
        return SimpleNamespace(
            id="p", model=None, take=None, document=lambda: None, preview=preview
        )

    @property
    def pitch(self):
        return 40 + np.arange(len(self.onset_s)) % 40

    def attention(self, _source, until_s):
        self.passes.append(until_s)
        end = len(self.onset_s) if until_s is None else int((self.onset_s < until_s).sum())
        seen = np.arange(max(0, end - 8), end)
        onset = self.onset_s[seen]
        notes = np.stack([onset, onset + 0.5, self.pitch[seen].astype(float), onset * 0 + 80], 1)
        return AttentionView(
            weights=np.full((1, 1, len(seen), len(seen)), 1 / len(seen), np.float16),
            ids=np.zeros((len(seen), 4), np.int64),
            note_index=np.arange(len(seen)),
            notes=notes,
            first_event=int(seen[0]),
        )


def test_a_note_of_a_long_piece_costs_one_pass_and_the_next_none(monkeypatch):
    """Guards: two parts of a piece that pushed each other out, and two passes for every click."""
    monkeypatch.setattr(looking_module, "_KEPT_BYTES", 0)
    model = Window(np.arange(40.0))
    looking, piece = Looking(lambda _: model), model.piece()
    for note in (9, 9, 10):
        seen = looking.ask(lambda note=note: looking.look(piece, note)).result(timeout=10)
        assert np.frombuffer(seen[:8], "<u4").tolist() == [3, note]
    assert model.passes == [None, 12.0]


def test_a_piece_that_is_all_in_one_instant_has_one_part():
    """Guards: "the part of the file to use is 0.0 s long" after a click on its first note."""
    model = Window(np.zeros(40))
    looking, piece = Looking(lambda _: model), model.piece()
    assert looking.ask(lambda: looking.look(piece, 0)).result(timeout=10) is None
    assert looking.ask(lambda: looking.look(piece, 39)).result(timeout=10) is not None
    assert model.passes == [None]


def test_nothing_is_read_for_a_browser_that_hung_up(monkeypatch):
    """Guards: thirty requests of one visitor, ended at once, that others' clicks waited for."""
    from musicgen.ui import gaze_routes
    from musicgen.ui.resources import Studio

    studio, read, sent = Studio("nowhere"), [], []
    monkeypatch.setattr(gaze_routes, "studio", lambda: studio)
    monkeypatch.setattr(studio.shelf, "get", lambda name: SimpleNamespace(id=name))
    monkeypatch.setattr(studio.looking, "look", lambda piece, note: read.append(note))
    app = Starlette(routes=gaze_routes.gaze_routes())

    async def ask(note: int, *, stays: bool) -> None:
        async def receive():
            if stays:
                await asyncio.sleep(60)
            return {"type": "http.disconnect"}

        async def send(message):
            sent.append(message.get("status"))

        path = f"/attention/p/note/{note}"
        scope = {"type": "http", "method": "GET", "path": path, "headers": [], "query_string": b""}
        await app(scope, receive, send)

    asyncio.run(ask(1, stays=False))
    asyncio.run(ask(2, stays=True))
    assert (read, sent) == ([2], [404, None, 204, None])
    studio.close()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="no urgency of single threads")
def test_pages_go_before_music_and_music_before_maps():
    """Guards: pages of twenty visitors that waited for two seconds while heads were read."""

    def niceness() -> int:
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    own, found = niceness(), []
    maps = Looking(no_pipeline).ask(niceness).result(timeout=10)
    done = threading.Event()

    def begin(_job):
        found.append(niceness())
        done.set()
        raise RuntimeError

    Workshop(begin).submit(
        SimpleNamespace(visitor=1, stopping=False, fail=lambda _error: None, piece=None)
    )
    assert done.wait(10)
    assert (found, maps) == ([min(19, own + urgency.MAKING)], min(19, own + urgency.LOOKING))
    assert own == niceness(), "the process itself stays as it was"
    assert urgency.MAKING < urgency.LOOKING
