"""Compiled code shared out to OpenMP's threads, or to our own."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator

import pytest
import torch

from musicgen.engine import workers
from musicgen.engine.workers import on_all_cores


@pytest.fixture(autouse=True)
def three_threads() -> Iterator[None]:
    """Let torch have three threads, whatever the machine has."""
    threads = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(autouse=True, params=["OpenMP's", "our own"])
def whose_threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Take OpenMP's threads where there are some, or our own."""
    if request.param == "our own":
        monkeypatch.setattr(workers, "_openmp", lambda: None)
    return request.param


@pytest.mark.skipif(sys.platform != "linux", reason="our own threads are taken elsewhere")
def test_torch_s_threads_are_found(whose_threads: str):
    """Guards a torch whose library is called otherwise: it would only be slower."""
    assert (workers._openmp() is None) == (whose_threads == "our own")


def test_each_part_is_done_once_and_by_as_many_threads_as_torch_has():
    """Guards parts that two threads do, or none, and threads that are begun anew each time."""
    together, done = threading.Barrier(3), []

    def do(part: int) -> None:
        if part < 3:
            together.wait(timeout=20)  # three are at work at once
        done.append((part, threading.get_ident()))

    on_all_cores(do, range(20))
    first, found = {who for _, who in done}, sorted(part for part, _ in done)
    assert found == list(range(20))
    assert len(first) == 3
    done.clear()
    on_all_cores(do, range(3))
    assert {who for _, who in done} == first
    on_all_cores(do, [])


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_a_part_that_fails_is_heard_of_when_all_are_done(failing: int):
    """Guards a thread that still writes while the caller has already given up."""
    together, done = threading.Barrier(3), []

    def do(part: int) -> None:
        together.wait(timeout=20)
        if part == failing:
            raise ValueError("no number")
        done.append(part)

    with pytest.raises(ValueError, match="no number"):
        on_all_cores(do, range(3))
    assert len(done) == 2


def test_two_callers_do_not_wait_for_one_another_for_ever():
    found: list[int] = []

    def call() -> None:
        on_all_cores(found.append, range(50))

    callers = [threading.Thread(target=call) for _ in range(4)]
    for each in callers:
        each.start()
    for each in callers:
        each.join(timeout=20)
    assert len(found) == 200


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system copies no process")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_copied_process_has_threads_of_its_own():
    """Guards a copy that waits for a thread which only its parent has."""
    on_all_cores(lambda part: None, range(3))
    child = os.fork()
    if not child:
        reached = []
        on_all_cores(reached.append, range(3))
        os._exit(len(reached))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
