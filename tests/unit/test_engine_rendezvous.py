"""Threads that meet: nobody waits for ever, nobody is left out, and they come together again."""

from __future__ import annotations

import random
import threading
import time

import pytest

from musicgen.engine.rendezvous import Rendezvous

LONG_S = 60.0  # only a deadlock lasts so long


class Server:
    """Doubles what it is asked for, and remembers who asked together; may fail at random."""

    def __init__(self, *, fails=0.0):
        self.calls, self.inside = [], 0
        self.fails, self.random = fails, random.Random(0)

    def __call__(self, stage, wishes):
        self.inside += 1
        assert self.inside == 1, "two threads compute at once"
        try:
            if self.random.random() < self.fails:
                raise OSError("no more memory")
            self.calls.append((stage, sorted(wishes)))
            return {take: 2 * wish + stage for take, wish in wishes.items()}
        finally:
            self.inside -= 1


def run(work, n_takes):
    """Run `work(take)` in a thread each; return what they raised."""
    raised = []

    def guarded(take):
        try:
            work(take)
        except BaseException as error:  # noqa: BLE001  handed to the test
            raised.append(error)

    threads = [threading.Thread(target=guarded, args=(i,), daemon=True) for i in range(n_takes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG_S)
    assert not any(thread.is_alive() for thread in threads), "a deadlock"
    return raised


def test_one_alone_waits_for_nobody(monkeypatch):
    server = Server()
    meeting = Rendezvous(server)
    monkeypatch.setattr("musicgen.engine.rendezvous.PATIENCE_S", LONG_S)
    assert [meeting.ask(3, 1, wish) for wish in range(50)] == [2 * wish + 1 for wish in range(50)]
    assert len(server.calls) == 50


def test_those_that_come_are_computed_together(monkeypatch):
    """Guards a batch of one: eight takes would cost eight times one."""
    # With that patience, each call has everybody: or the test would never end.
    monkeypatch.setattr("musicgen.engine.rendezvous.PATIENCE_S", LONG_S)
    server, started = Server(), threading.Barrier(4)
    meeting = Rendezvous(server)
    meeting._expected = set(range(4))

    def play(take):
        started.wait()
        for wish in range(25):
            assert meeting.ask(take, 1, wish) == 2 * wish + 1

    assert run(play, 4) == []
    assert server.calls == [(1, [0, 1, 2, 3])] * 25


def test_takes_that_have_come_apart_meet_at_the_last_stage(monkeypatch):
    """Guards takes that stay apart for good: a step back would double the cost from then on."""
    monkeypatch.setattr("musicgen.engine.rendezvous.PATIENCE_S", 1.0)  # the last is alone once
    server, started = Server(), threading.Barrier(2)
    meeting = Rendezvous(server)
    meeting._expected = {0, 1}

    def play(take):
        started.wait()
        for stage in [9] * (3 * take) + [1, 2, 9] * 10:  # the second take begins three behind
            meeting.ask(take, stage, 0)

    assert run(play, 2) == []
    together = [takes for _, takes in server.calls if takes == [0, 1]]
    assert len(together) == 24


def test_takes_that_are_asked_by_turns_in_one_thread_do_not_wait_each_time(monkeypatch):
    """Guards a patience that is lost on every event by whoever reads two streams by turns."""
    monkeypatch.setattr("musicgen.engine.rendezvous.PATIENCE_S", 0.1)
    meeting, began = Rendezvous(Server()), time.monotonic()
    for wish in range(100):
        assert meeting.ask(wish % 2, 1, wish) == 2 * wish + 1
    assert time.monotonic() - began < 5.0  # of 10 s


@pytest.mark.parametrize("fails", [0.0, 0.1])
def test_many_takes_that_end_stand_still_and_fail_at_random(fails):
    """Guards a deadlock when a take is stopped, stands still, or what computes raises."""
    server = Server(fails=fails)
    meeting = Rendezvous(server)

    def play(take):
        mine = random.Random(take)
        for _ in range(mine.randrange(20, 60)):
            if mine.random() < 0.02:
                threading.Event().wait(0.02)  # a listener who is slow
            stage = mine.choice((1, 2, 3, 4))
            assert meeting.ask(take, stage, take) == 2 * take + stage

    raised = run(play, 12)
    assert all(isinstance(error, OSError) for error in raised)
    assert bool(raised) == bool(fails)
    assert not meeting._waiting
    assert not meeting._answers
    assert meeting.ask(99, 1, 4) == 9 or fails
