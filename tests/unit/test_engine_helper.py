"""A second thread that helps: the very same numbers, whenever it comes, and nothing left behind."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path

import numpy as np
import pytest
import torch

from musicgen.engine import board as words
from musicgen.engine import cores
from musicgen.engine.numba_steps import NumbaEngine
from musicgen.model import Decoder, DecoderConfig

WINDOW = 400


@pytest.fixture(autouse=True)
def wakeful(monkeypatch):
    """Give each helper a core, patience from one call to the next, and its share of a busy core."""
    monkeypatch.setattr("musicgen.engine.numba_steps.usable_cores", lambda: 2)
    monkeypatch.setattr("musicgen.engine.helper.PATIENCE_S", 0.05)
    monkeypatch.setattr("musicgen.engine.helper._take_what_is_left", lambda _thread: None)


def random_decoder(**sizes):
    """A model wide enough that each of its products, and attention, is shared out."""
    config = DecoderConfig(
        **{
            "vocab_sizes": (300, 40, 20),
            "d_model": 256,
            "n_layers": 2,
            "n_heads": 8,
            "d_ff": 600,
            "d_head_ff": 512,
            "max_seq_len": WINDOW,
            **sizes,
        }
    )
    decoder = Decoder(config, seed=3)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in decoder.parameters():
            if not parameter.any():
                parameter.normal_(0.0, 0.05, generator=generator)
    return decoder.eval()


def random_ids(decoder, n_events):
    generator = np.random.default_rng(0)
    columns = [generator.integers(0, size, n_events) for size in decoder.config.vocab_sizes]
    return [tuple(map(int, event)) for event in np.stack(columns, axis=1)]


def helped_engine(decoder=None, *, as_int8=True):
    """Return an engine with a helper, the helper, and its board."""
    engine = NumbaEngine(decoder or random_decoder(), as_int8=as_int8, with_helper=True)
    helper = engine.helper
    assert helper is not None
    return engine, helper, helper._board


def helpers():
    return [each for each in threading.enumerate() if each.name == "musicgen-helper"]


def until(holds, seconds=20.0):
    ends_s = time.monotonic() + seconds
    while not holds() and time.monotonic() < ends_s:
        time.sleep(0.002)
    return holds()


def same_scores(one, other, event, n_attributes):
    return all(
        np.array_equal(one.logits(k, event[:k]), other.logits(k, event[:k]))
        for k in range(n_attributes)
    )


@pytest.mark.parametrize("as_int8", [True, False])
@pytest.mark.parametrize("delay", ["none", "random", "long"])
def test_scores_are_the_same_bit_for_bit_whenever_the_helper_comes(as_int8, delay):
    """Guards against tiles and heads that a late helper made of what a later phase had written."""
    decoder = random_decoder()
    ids, generator = random_ids(decoder, WINDOW), np.random.default_rng(1)
    alone = NumbaEngine(decoder, as_int8=as_int8).begin()
    engine, _, board = helped_engine(decoder, as_int8=as_int8)
    helped = engine.begin()
    alone.prefill(ids[:150])
    helped.prefill(ids[:150])
    for n, event in enumerate(ids[150:-1], 151):
        if delay == "random":
            board[words.DELAY] = int(generator.choice([0, 0, 10, 100, 1_000, 10_000]))
        elif delay == "long":
            board[words.DELAY] = 100_000
        if n % 70 == 0:  # another take of the past: what was written before is written over
            alone.truncate(n - 60)
            helped.truncate(n - 60)
        board[words.N_ALONE] = board[words.N_IN_VAIN] = 0  # asked each time, late or not
        alone.append(event)
        helped.append(event)
        assert same_scores(alone, helped, ids[n], 3), n
    assert board[words.PHASE] > 1_000, "it was asked for help"


def test_the_helper_does_a_part_of_the_work():
    # Without this all other tests would pass with a helper that never comes in time: its share
    # sinks to the least as long as something is missing, and rises only when nothing is.
    engine, _, board = helped_engine()
    steps, n_in_time = engine.begin(), 0
    ends_s = time.monotonic() + 30.0
    while n_in_time < 10 and time.monotonic() < ends_s:
        board[words.SHARE : words.SHARE + 4] = words.LEAST_SHARE
        steps.truncate(0)
        steps.prefill([(1, 1, 1)] * 100)
        steps.logits(0, ())
        n_in_time += int((board[words.SHARE : words.SHARE + 4] > words.LEAST_SHARE).sum())
    assert n_in_time >= 10


def test_prompts_of_a_take_are_read_alike_with_help():
    decoder = random_decoder()
    ids = random_ids(decoder, 333)
    alone = NumbaEngine(decoder, as_int8=True).begin()
    helped = NumbaEngine(decoder, as_int8=True, with_helper=True).begin()
    for steps in (alone, helped):
        steps.prefill(ids[:301])
        steps.prefill(ids[301:332])
    assert same_scores(alone, helped, ids[332], 3)


@pytest.mark.parametrize("sizes", [{"n_heads": 6, "d_model": 240}, {"n_heads": 64}])
def test_heads_that_fill_no_tile_are_not_shared_out(sizes):
    # The last tile of such a head writes into the next head: out of order it would spoil it.
    decoder = random_decoder(**sizes)
    ids = random_ids(decoder, 300)
    alone = NumbaEngine(decoder, as_int8=True).begin()
    helped = NumbaEngine(decoder, as_int8=True, with_helper=True).begin()
    alone.prefill(ids[:250])
    helped.prefill(ids[:250])
    for n in range(250, 299):
        alone.append(ids[n])
        helped.append(ids[n])
        assert same_scores(alone, helped, ids[n + 1], 3), n


def test_takes_by_turns_in_one_thread_are_the_same_with_help():
    decoder = random_decoder()
    ids = random_ids(decoder, 200)
    plain = NumbaEngine(decoder, as_int8=True)
    engine = NumbaEngine(decoder, as_int8=True, with_helper=True)
    mine, theirs = ([each.begin() for _ in range(3)] for each in (engine, plain))
    for n in range(150):
        for takes, reader in ((mine, engine), (theirs, plain)):
            for i, take in enumerate(takes):
                take.append(ids[(n + i * 7) % 200])
            reader.read_together(takes)
    assert all(same_scores(a, b, ids[3], 3) for a, b in zip(mine, theirs, strict=True))


def test_a_helper_that_is_stopped_midway_leaves_the_take_going():
    decoder = random_decoder()
    ids = random_ids(decoder, 120)
    alone = NumbaEngine(decoder, as_int8=True).begin()
    engine, helper, _ = helped_engine(decoder)
    helped = engine.begin()
    stopper = threading.Timer(0.01, helper.stop)
    for n in range(119):
        if n == 40:
            stopper.start()
        alone.append(ids[n])
        helped.append(ids[n])
        assert same_scores(alone, helped, ids[n + 1], 3), n
    stopper.join()
    assert helper._thread is not None
    helper._thread.join(20.0)
    assert not helper._thread.is_alive()
    assert helper.lend(helped.place[0], is_read=True).size == 0


def test_an_engine_that_is_dropped_takes_its_thread_along():
    engine, helper, _ = helped_engine()
    thread, steps = helper._thread, engine.begin()
    steps.append((1, 1, 1))
    steps.logits(0, ())
    assert thread is not None
    assert thread in helpers()
    del engine, steps, helper
    gc.collect()
    assert until(lambda: not thread.is_alive())


def test_a_take_is_freed_only_when_the_helper_has_left_it():
    """Guards against a crash: the helper read the cache of a take that was gone."""
    engine, helper, board = helped_engine()
    other, was_late = engine.begin(), False
    ends_s = time.monotonic() + 30.0
    while not was_late and time.monotonic() < ends_s:
        board[words.DELAY] = 1_000_000  # it is in the midst of a unit when the take goes
        steps = engine.begin()
        steps.prefill([(1, 1, 1)] * 200)
        steps.logits(0, ())
        plan, is_lent = weakref.ref(steps.plan), helper._lent_to == steps.place[0]
        del steps
        was_late = is_lent and not helper._has_left()
        if was_late:
            assert plan() is not None
        board[words.DELAY] = 0
        assert until(helper._has_left)
        other.truncate(0)
        other.append((1, 1, 1))
        other.logits(0, ())
        if helper._lent_to == other.place[0]:
            assert plan() is None, "no longer than that"
    assert was_late


def test_a_take_that_goes_in_peace_is_freed_at_once():
    engine, helper, _ = helped_engine()
    steps = engine.begin()
    steps.append((1, 1, 1))
    steps.logits(0, ())
    assert until(helper._has_left)
    plan, cache = weakref.ref(steps.plan), weakref.ref(steps._cache.keys)
    del steps
    assert plan() is None
    assert cache() is None
    assert helper._lent_to == 0


def test_a_program_ends_at_once_whatever_the_helper_does():
    code = (
        "import sys, time; from test_engine_helper import random_decoder; "
        "from musicgen.engine import numba_steps; numba_steps.usable_cores = lambda: 2; "
        "engine = numba_steps.NumbaEngine(random_decoder(), as_int8=True, with_helper=True); "
        "steps = engine.begin(); steps.append((1, 1, 1)); steps.logits(0, ()); "
        "time.sleep(float(sys.argv[1])); print('made')"
    )
    search = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    for pause_s in ("0", "0.1"):
        done = subprocess.run(
            [sys.executable, "-c", code, pause_s],
            env={**os.environ, "PYTHONPATH": search},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "made\n", "")


def test_while_the_helper_is_late_in_one_take_no_other_has_it():
    """Guards against a crash: only the last take that had the helper is waited for at its end."""
    engine, helper, board = helped_engine()
    first, second, was_late = engine.begin(), engine.begin(), False
    ends_s = time.monotonic() + 30.0
    while not was_late and time.monotonic() < ends_s:
        board[words.DELAY] = 1_000_000  # tens of milliseconds
        first.truncate(0)
        first.prefill([(1, 1, 1)] * 200)
        first.logits(0, ())
        is_lent = helper._lent_to == first.place[0]
        lent = helper.lend(second.place[0], is_read=False)
        is_late = not helper._has_left()
        if lent.size:
            helper.take_back()
        was_late = is_lent and is_late
        assert not (was_late and lent.size)
        board[words.DELAY] = 0
        assert until(helper._has_left)
    assert was_late


def test_takes_in_two_threads_have_no_helper():
    engine, helper, _ = helped_engine()  # which lives as long as its engine
    lent, both = [], threading.Barrier(2)

    def play(take):
        for n in range(30):
            both.wait()
            board = helper.lend(take, is_read=False)
            lent.append((n, board.size > 0))
            if board.size:
                helper.take_back()

    threads = [threading.Thread(target=play, args=(take,)) for take in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not any(is_lent for n, is_lent in lent if n > 2)
    del engine


def test_a_lone_take_in_a_new_thread_has_the_helper():
    engine, helper, _ = helped_engine()  # which lives as long as its engine
    assert until(helper._has_left)
    time.sleep(0.05)  # as after another visitor's take
    found = []

    def is_lent():
        board = helper.lend(1, is_read=True)
        if board.size:
            helper.take_back()
        return board.size > 0

    thread = threading.Thread(target=lambda: found.append(until(is_lent)))
    thread.start()
    thread.join()
    assert found == [True]
    assert helper._alone_until_s == 0.0
    del engine


def test_the_helper_falls_asleep_and_is_woken():
    engine, _, board = helped_engine()
    steps = engine.begin()
    assert until(lambda: board[words.SLEEP] == words.ASLEEP), "it must leave its core to others"
    before = int(board[words.DONE])

    def comes():
        steps.truncate(0)
        steps.append((1, 1, 1))
        steps.logits(0, ())
        return board[words.DONE] != before

    for _ in range(3):
        assert until(comes)
        before = int(board[words.DONE])
        assert until(lambda: board[words.SLEEP] == words.ASLEEP)


def test_on_one_core_there_is_no_helper(monkeypatch):
    monkeypatch.setattr("musicgen.engine.numba_steps.usable_cores", lambda: 1)
    before = len(helpers())
    engine = NumbaEngine(random_decoder(), as_int8=True, with_helper=True)
    assert engine.helper is None
    assert len(helpers()) == before


def test_without_being_asked_for_there_is_no_helper():
    assert NumbaEngine(random_decoder(), as_int8=True).helper is None


@pytest.mark.parametrize(
    ("quota", "n_cores"),
    [("max 100000\n", 4), ("100000 100000\n", 1), ("250000 100000\n", 2), ("5000 100000", 1)],
)
def test_what_a_container_may_use_counts(tmp_path, monkeypatch, quota, n_cores):
    # Two threads on a quota of one core would be put to sleep for half of the time.
    (tmp_path / "cpu.max").write_text(quota)
    monkeypatch.setattr(cores, "QUOTA", tmp_path / "cpu.max")
    monkeypatch.setattr(cores.os, "sched_getaffinity", lambda _: {0, 1, 2, 3}, raising=False)
    assert cores.usable_cores() == n_cores
    monkeypatch.setattr(cores, "QUOTA", tmp_path / "missing")
    assert cores.usable_cores() == 4


def test_a_helper_that_does_not_come_is_left_in_peace_for_a_while():
    """Guards the speed beside others: asking in vain at each product cost a tenth."""
    engine, helper, board = helped_engine()
    steps = engine.begin()
    assert until(helper._has_left)
    board[words.N_ALONE] = 20  # as after many phases without it

    def is_asked():
        before = int(board[words.PHASE])
        steps.truncate(0)
        steps.append((1, 1, 1))
        steps.logits(0, ())
        return int(board[words.PHASE]) != before

    assert not any(is_asked() for _ in range(19))
    assert until(is_asked)
