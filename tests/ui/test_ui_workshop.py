"""The queue: fair, bounded, several at once, and a failure costs nobody else anything."""

from __future__ import annotations

import threading
import time
import types

import pytest

from made_takes import made_take
from musicgen.errors import GenerationError
from musicgen.ui import workshop as workshop_module
from musicgen.ui.jobs import Job
from musicgen.ui.order import Order
from musicgen.ui.workshop import Workshop

ORDER = Order(seconds=10, temperature=1.0, top_p=0.95, top_k=0, min_p=0.0, seed=1)


class Music:
    """Music in making that is done when its gate opens.

    Args:
        gate: Opens once a piece.
        takes_a_thread: What its engine says of itself.
    """

    def __init__(self, gate, *, takes_a_thread=1):
        self.gate, self.by_turns, self.steps = gate, False, None
        self.engine = types.SimpleNamespace(
            takes_a_thread=takes_a_thread, read_together=lambda takes: [True] * len(takes)
        )

    def step(self):
        return made_take() if self.gate.acquire(timeout=0.005) else None

    def finish(self):
        return None


class Room:
    """A workshop of such music.

    Args:
        takes_a_thread: What the engine says of itself.
    """

    def __init__(self, *, takes_a_thread=1):
        self.gate, self.done = threading.Semaphore(0), []
        self.workshop = Workshop(lambda job: Music(self.gate, takes_a_thread=takes_a_thread))

    def order(self, visitor=None):
        def keep(take, name, model):
            self.done.append(visitor)
            return types.SimpleNamespace(id=name)

        return self.workshop.submit(Job(ORDER, keep=keep, visitor=visitor))

    def places(self, jobs):
        return [self.workshop.place(job) for job in jobs]


def wait_for(condition):
    until = time.monotonic() + 5
    while not condition():
        if time.monotonic() > until:
            pytest.fail("it did not happen within 5 seconds")
        time.sleep(0.005)


def test_jobs_know_their_place_and_can_be_taken_back():
    room = Room()
    queue = [room.order() for _ in range(3)]
    wait_for(lambda: room.places(queue) == [0, 1, 2])
    assert room.workshop.withdraw(queue[1])
    assert not room.workshop.withdraw(queue[0])
    assert room.places(queue[2:]) == [1]
    room.gate.release(2)
    wait_for(lambda: not queue[2].active)
    assert queue[0].state == "done"
    assert queue[1].state == "queued"


def test_visitors_take_turns_however_much_one_asks_for():
    """Guards a visitor with eight pieces before whom nobody else was heard."""
    room = Room()
    first = room.order("a")
    wait_for(lambda: room.places([first]) == [0])
    queue = [room.order(name) for name in "aaabbc"]
    assert room.places(queue) == [1, 4, 6, 2, 5, 3]
    assert room.workshop.wait_s(queue[0]) is None  # how fast this machine is, is not known
    room.gate.release(7)
    wait_for(lambda: len(room.done) == 7)
    assert "".join(room.done) == "aabcaba"


def test_as_many_are_made_at_once_as_the_engine_reads_together():
    """Guards twenty visitors of whom the last heard nothing for half a minute."""
    room = Room(takes_a_thread=3)
    queue = [room.order(name) for name in "abcde"]
    wait_for(lambda: room.places(queue) == [0, 0, 0, 1, 2])
    room.gate.release()
    wait_for(lambda: room.places(queue) == [0, 0, 0, 0, 1])
    room.gate.release(4)
    wait_for(lambda: len(room.done) == 5)


def test_how_long_one_waits_is_learned_and_said():
    room = Room()
    queue = [room.order(name) for name in "abcd"]
    wait_for(lambda: room.places(queue[:1]) == [0])
    time.sleep(0.05)
    room.gate.release()
    wait_for(lambda: room.places(queue[1:2]) == [0])
    waits = [room.workshop.wait_s(each) for each in queue]
    assert waits[:2] == [None, None]
    assert 0 < waits[2] < waits[3]
    assert queue[3].so_far(2, waits[3])["wait"] >= 1
    room.gate.release(3)
    wait_for(lambda: len(room.done) == 4)


def test_what_nobody_waits_for_is_let_go(monkeypatch):
    """Guards work for pages that were closed, before which everybody else waited."""
    monkeypatch.setattr(workshop_module, "_PATIENCE_S", 0.2)
    room = Room()
    playing, waiting, there = (room.order(name) for name in "abc")
    wait_for(lambda: room.places([playing]) == [0])
    until = time.monotonic() + 0.4
    while time.monotonic() < until:
        room.workshop.glance(there)
        time.sleep(0.01)
    assert playing.state == "done"  # it was being made, and is made no more
    assert waiting.state == "done"
    assert there.active
    room.gate.release()
    wait_for(lambda: not there.active)
    assert room.done == ["c"]


def test_a_stop_is_heard_while_others_play():
    room = Room(takes_a_thread=2)
    mine, yours = room.order("a"), room.order("b")
    wait_for(lambda: room.places([mine, yours]) == [0, 0])
    mine.stop()
    wait_for(lambda: not mine.active)
    assert yours.active
    room.gate.release()
    wait_for(lambda: not yours.active)
    assert room.done == ["b"]


@pytest.mark.parametrize("where", ["begin", "step", "keep"])
def test_a_failure_is_a_sentence_and_the_others_go_on(where):
    fault = {}

    class Broken(Music):
        def step(self):
            raise fault["error"]

    def begin(job):
        if job.visitor != "broken":
            return Music(gate, takes_a_thread=2)
        if where == "begin":
            raise fault["error"]
        if where == "step":
            return Broken(gate, takes_a_thread=2)
        gate.release()
        return Music(gate, takes_a_thread=2)

    def keep(take, name, model):
        return types.SimpleNamespace(id=name)

    def refuse(take, name, model):
        raise fault["error"]

    for error in (
        GenerationError("The model gave no numbers.", hint="Use another model."),
        ZeroDivisionError(),
    ):
        fault["error"], gate = error, threading.Semaphore(0)
        workshop = Workshop(begin)
        broken = workshop.submit(Job(ORDER, keep=refuse, visitor="broken"))
        wait_for(lambda broken=broken: not broken.active)
        other = workshop.submit(Job(ORDER, keep=keep, visitor="other"))
        gate.release()
        wait_for(lambda other=other: not other.active)
        assert other.state == "done"
        assert broken.state == "failed"
        assert broken.error is not None
        assert broken.error.hint
        if isinstance(error, GenerationError):
            assert broken.error is error
