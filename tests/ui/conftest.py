"""What the app's tests share: a tiny model with random weights, some music, a server."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest


@pytest.fixture(scope="session", autouse=True)
def no_collection_after_a_page():
    """Save a third of a second a run of a page, in which Python looks at all of torch's objects."""
    from streamlit import config

    config.set_option("runner.postScriptGC", False)


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a checkpoint that plays nonsense, quickly."""
    import torch

    from musicgen.model import Decoder
    from small_models import save_small, small_config

    torch.manual_seed(0)
    config = small_config(d_model=64, n_heads=8, d_ff=128, d_head_ff=256, max_seq_len=256)
    return save_small(tmp_path_factory.mktemp("model") / "tiny", Decoder(config))


@pytest.fixture
def app(tiny_model: Path, monkeypatch: pytest.MonkeyPatch, root: Path) -> AppTest:
    """Return the app with a model that plays nonsense, at its first page."""
    from streamlit.testing.v1 import AppTest

    from musicgen.ui import resources

    monkeypatch.setenv(resources.MODEL_VARIABLE, str(tiny_model))
    resources.studio.cache_clear()
    return AppTest.from_file(str(root / "ui" / "app.py"), default_timeout=60).run()


@pytest.fixture(scope="session")
def music() -> bytes:
    """Return a MIDI file of 48 notes in 12 seconds."""
    from musicgen.midi import NoteTable, notes_to_score, score_to_bytes

    onset = [i / 4 for i in range(48)]
    end = [at + 0.3 for at in onset]
    pitch = [48 + (7 * i) % 36 for i in range(48)]
    velocity = [40 + i for i in range(48)]
    return score_to_bytes(notes_to_score(NoteTable.of(onset, end, pitch, velocity)))


@pytest.fixture(scope="session")
def band() -> bytes:
    """Return a MIDI file of 12 seconds for eight instruments; its drums come in after 6."""
    import io

    import mido

    file = mido.MidiFile(ticks_per_beat=480)
    names = ("<b>Lead</b>", "", "Bass", "", "", "", "", "Kit")
    for number, (name, program) in enumerate(zip(names, range(0, 64, 8), strict=True)):
        track = mido.MidiTrack()
        file.tracks.append(track)
        channel = 9 if name == "Kit" else number
        if name:
            track.append(mido.MetaMessage("track_name", name=name, time=0))
        track.append(mido.Message("program_change", channel=channel, program=program, time=0))
        for beat in range(12 if name == "Kit" else 24):
            late = 12 * 480 if name == "Kit" and beat == 0 else 0
            note = {"channel": channel, "note": 40 + number}
            track.append(mido.Message("note_on", velocity=80, time=late, **note))
            track.append(mido.Message("note_off", time=480, **note))
    stored = io.BytesIO()
    file.save(file=stored)
    return stored.getvalue()


@pytest.fixture(scope="session")
def app_url(tiny_model: Path) -> Iterator[str]:
    """Serve the app as `musicgen ui` does, and return its address."""
    with serving(["-m", "musicgen"], tiny_model) as url:
        yield url


SLOWLY = """
import sys, time
from musicgen.cli.app import main
from musicgen.generation.context import Context

append = Context.append
pause_s = float(sys.argv.pop(1))
Context.append = lambda self, event: (time.sleep(pause_s), append(self, event))[1]
main()
"""
# The settings are there some seconds before the roll, as on a slow machine.
LATE_ROLL = """
import time
from musicgen.cli.app import main
from musicgen.ui.views import create

stage = create._stage
create._stage = lambda *given: (time.sleep(4), stage(*given))[1]
main()
"""


@pytest.fixture
def slow_app_url(tiny_model: Path) -> Iterator[str]:
    """Serve the app where an event takes a fifth of a second, and return its address."""
    with serving(["-c", SLOWLY, "0.2"], tiny_model) as url:
        yield url


@pytest.fixture
def training_app_url(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """Serve the app with a home of its own for training runs, and return its address."""
    monkeypatch.setenv("MUSICGEN_HOME", str(tmp_path / "home"))
    with serving(["-m", "musicgen"], tiny_model) as url:
        yield url


@pytest.fixture
def crawling_app_url(tiny_model: Path) -> Iterator[str]:
    """Serve the app where music is made more slowly than it sounds, and return its address."""
    with serving(["-c", SLOWLY, "2"], tiny_model) as url:
        yield url


@pytest.fixture
def late_roll_app_url(tiny_model: Path) -> Iterator[str]:
    """Serve the app where the roll comes seconds after the settings, and return its address."""
    with serving(["-c", LATE_ROLL], tiny_model) as url:
        yield url


@pytest.fixture
def server(tiny_model: Path) -> Callable[[int], AbstractContextManager[str]]:
    """Return what serves the app on a port, slowly, for as long as a test likes."""
    return lambda port: serving(["-c", SLOWLY, "2"], tiny_model, port)


@pytest.fixture
def quick_server(tiny_model: Path) -> Callable[[int], AbstractContextManager[str]]:
    """Return what serves the app on a port, for as long as a test likes."""
    return lambda port: serving(["-m", "musicgen"], tiny_model, port)


@pytest.fixture
def free_port() -> int:
    """Return a port that nobody listens on."""
    return _free_port()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _home(model: Path) -> str:
    """Return where a server keeps takes and runs: never what belongs to whoever runs the tests."""
    return os.environ.get("MUSICGEN_HOME") or str(model.parent / "home")


@contextmanager
def serving(program: list[str], model: Path, port: int | None = None) -> Iterator[str]:
    """Serve the app by a Python program, and yield its address."""
    port = port or _free_port()
    url = f"http://127.0.0.1:{port}"
    server = subprocess.Popen(
        [
            *(sys.executable, *program),
            *("ui", "--no-browser", "--port", str(port), "--model", str(model)),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "OMP_NUM_THREADS": "1", "MUSICGEN_HOME": _home(model)},
    )
    try:
        _wait(url, server)
        yield url
    finally:
        server.terminate()
        server.wait(timeout=20)
        if server.stderr is not None:
            server.stderr.close()


def _wait(url: str, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 90
    while time.monotonic() < until:
        if server.poll() is not None:
            said = server.stderr.read().decode() if server.stderr else ""
            pytest.fail(f"the app ended while it started: {said[-2000:]}")
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    pytest.fail("the app did not answer within 90 seconds")
