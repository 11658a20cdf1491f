"""Playing in a process beside: others go on meanwhile, and its end costs nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from musicgen.assets import asset_dir
from musicgen.audio import Aside, render, sound_file, wav_bytes
from musicgen.errors import AudioError, MidiReadError

MUSIC = (asset_dir("ui") / "examples" / "1-calm.mid").read_bytes()


@pytest.fixture
def aside():
    process = Aside()
    yield process
    process.close()


def test_the_same_sound_and_the_same_errors(aside: Aside) -> None:
    assert aside.call(sound_file, MUSIC, "wav").data == wav_bytes(render(MUSIC))
    with pytest.raises(MidiReadError) as error:
        aside.call(sound_file, b"no music", "wav")
    assert error.value.hint
    with pytest.raises(ValueError, match="invalid literal"):
        aside.call(int, "no number")
    with pytest.raises(AudioError, match="KeyError"):
        aside.call({}.__getitem__, "nowhere")


def test_nobody_stands_still_while_it_plays(aside: Aside) -> None:
    """Guards pages that stood still for seconds: the synthesizer holds Python's lock."""
    aside.call(os.getpid)  # begun
    thread = threading.Thread(target=aside.call, args=(sound_file, MUSIC, "wav"))
    slept, longest_s = time.monotonic(), 0.0
    thread.start()
    while thread.is_alive():
        time.sleep(0.005)
        now = time.monotonic()
        longest_s, slept = max(longest_s, now - slept), now
    assert longest_s < 0.25


@pytest.mark.skipif(not hasattr(os, "nice"), reason="a system without urgency")
def test_it_is_as_urgent_as_it_was_told() -> None:
    """Guards pages that waited while whole pieces were played for others."""
    for niceness in (0, 3):
        aside = Aside(niceness=niceness)
        expected = min(19, os.nice(0) + niceness)
        assert aside.call(os.nice, 0) == expected
        aside.close()


def test_a_process_that_was_ended_is_begun_anew(aside: Aside) -> None:
    first = aside.call(os.getpid)
    assert first == aside.call(os.getpid) != os.getpid()
    os.kill(first, signal.SIGTERM)
    assert aside.call(os.getpid) not in (first, os.getpid())


def test_it_ends_with_the_last_who_knew_it() -> None:
    """Guards processes and pipes left over by studios that nobody closed."""
    aside = Aside()
    number = aside.call(os.getpid)
    del aside
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_a_call_that_ends_it_every_time_is_a_sentence(aside: Aside) -> None:
    with pytest.raises(AudioError, match="ended from outside"):
        aside.call(os._exit, 3)
    assert aside.call(int, "5") == 5


LEFT_ALONE = """
import os
from musicgen.audio import Aside
print(Aside().call(os.getpid), flush=True)
os._exit(0)
"""


@pytest.mark.skipif(os.name == "nt", reason="asks for a process by signal 0")
def test_it_ends_with_who_began_it() -> None:
    """Guards processes left behind by a server that was killed."""
    done = subprocess.run(
        [sys.executable, "-c", LEFT_ALONE], capture_output=True, text=True, check=True
    )
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            os.kill(int(done.stdout), 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError("it lives on")
