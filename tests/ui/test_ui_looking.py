"""Attention is read in one thread that lets pages and music go first."""

from __future__ import annotations

import os
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from musicgen.pipeline.looking import AttentionView
from musicgen.ui import looking as looking_module
from musicgen.ui import urgency
from musicgen.ui.looking import Looking
from musicgen.ui.workshop import Workshop

NO_MODEL = "no model is needed"


def no_pipeline(_model):
    raise AssertionError(NO_MODEL)


def test_what_somebody_waits_for_comes_before_what_nobody_asked():
    """Guards: a click on a note that waited for the small maps of twenty other visitors."""
    looking, order, gate = Looking(no_pipeline), [], threading.Event()
    first = looking.ask(gate.wait)

    def wish(name, *, is_unasked):
        return looking.ask(lambda: order.append(name), is_unasked=is_unasked)

    unasked = [wish(f"unasked {i}", is_unasked=True) for i in (1, 2)]
    asked = [wish(f"asked {i}", is_unasked=False) for i in (1, 2)]
    gate.set()
    for future in (first, *unasked, *asked):
        future.result(timeout=10)
    assert order == ["asked 1", "asked 2", "unasked 1", "unasked 2"]


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
        piece = SimpleNamespace(id=name, model=None, take=None, midi=name)
        looking.ask(lambda piece=piece: looking.gaze(piece)).result(timeout=10)
    assert read == ["a", "b", "c", "b"], "two stay; the one that was not looked at longest goes"


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
