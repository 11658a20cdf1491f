"""Ctrl-C on `musicgen ui`: a word at once, an end soon, whatever the app's threads are doing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import types
from pathlib import Path

import pytest

from musicgen.ui import leaving, strings

PATIENCE_S = 60
# The app, its model being loaded for ever: by torch, and by a thread that Python would wait for.
BUSY = """
import threading, time
import torch
from musicgen.cli.app import main
from musicgen.ui.resources import Studio

def compute(self):
    numbers = torch.zeros(16, 16)
    print("busy", flush=True)
    while True:
        numbers @ numbers

def warm_up(self):
    threading.Thread(target=time.sleep, args=(600,)).start()
    for _ in range(4):
        threading.Thread(target=compute, args=(self,), daemon=True).start()

Studio.warm_up = warm_up
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to be sent")
def test_ctrl_c_ends_the_app_while_it_computes(tiny_model: Path, free_port: int):
    """Guards: SIGABRT at the interpreter's end, and a wait for all threads' work."""
    app = subprocess.Popen(
        [
            sys.executable,
            "-c",
            BUSY,
            "ui",
            "--no-browser",
            "--port",
            str(free_port),
            "--model",
            tiny_model,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    try:
        assert app.stdout is not None
        lines = iter(app.stdout.readline, "")
        assert any(line == "busy\n" for line in lines)
        app.send_signal(signal.SIGINT)
        _, said = app.communicate(timeout=PATIENCE_S)
    finally:
        app.kill()
        app.wait()
    assert app.returncode == 130, said
    assert strings.CLOSING in said
    assert "The studio is closed." in said


def test_an_end_that_is_asked_for_is_said_and_has_a_limit(monkeypatch, capfd):
    """Guards: seconds of silence after Ctrl-C while a page is open."""
    left, server = threading.Event(), []
    here = types.SimpleNamespace(closing=False, close=lambda: None)
    monkeypatch.setattr(leaving, "_PATIENCE_S", 0.0)
    monkeypatch.setattr(leaving, "_leave", lambda studio, number: left.set())
    monkeypatch.setattr(leaving.atexit, "register", lambda act: None)
    before = signal.signal(signal.SIGINT, lambda number, frame: server.append(number))
    try:
        with leaving.promptly(here):
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is not before
    finally:
        signal.signal(signal.SIGINT, before)
    assert left.wait(PATIENCE_S)
    assert here.closing
    assert server == [signal.SIGINT] * 2, "the server itself is told too"
    assert capfd.readouterr().err.count(strings.CLOSING) == 1


def test_an_answer_that_waits_for_music_does_not_keep_the_server(monkeypatch):
    """Guards: every open page's two seconds of waiting for music, after Ctrl-C."""
    import asyncio

    from musicgen.ui import routes
    from musicgen.ui.jobs import Job
    from musicgen.ui.order import Order

    order = Order(seconds=10, temperature=1.0, top_p=None, top_k=0, min_p=0.0, seed=1)
    job = Job(order, keep=lambda take, name, model: take)
    studio = types.SimpleNamespace(closing=True, making=lambda name: job)
    monkeypatch.setattr(routes, "studio", lambda: studio)
    monkeypatch.setattr(routes, "_PATIENCE_S", 600.0)
    asked = types.SimpleNamespace(path_params={"name": job.id, "begin": 0, "length": 6400})
    began = time.monotonic()
    answer = asyncio.run(routes.hear(asked))
    assert answer.status_code == 204
    assert time.monotonic() - began < PATIENCE_S
