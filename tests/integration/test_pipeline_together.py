"""Several takes at once are the takes that one makes one by one."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from musicgen.engine.numba_steps import NumbaEngine, NumbaSteps
from musicgen.errors import GenerationError
from musicgen.pipeline import MusicPipeline, Progress, Take, make_together
from musicgen.pipeline.making import TakeStream
from musicgen.tokens import get_tokenizer
from small_models import small_decoder

SECONDS = 4.0


@pytest.fixture(scope="module")
def pipeline() -> MusicPipeline:
    return MusicPipeline.load("piano", device="cpu")


@pytest.mark.parametrize("workers", [1, 3])
def test_made_together_equals_made_alone(pipeline: MusicPipeline, workers: int):
    """Guards shared state between decoders: a take must not hear another one's cache."""
    streams = [pipeline.stream(seconds=SECONDS, seed=seed) for seed in range(5)]
    made = list(make_together(streams, workers=workers))
    takes = {number: what for number, what in made if isinstance(what, Take)}
    assert sorted(takes) == [0, 1, 2, 3, 4]
    assert any(isinstance(what, Progress) for _, what in made)
    for seed, take in takes.items():
        assert take.midi == pipeline.generate(seconds=SECONDS, seed=seed).midi


def test_closing_ends_all(pipeline: MusicPipeline):
    """Guards Ctrl-C: threads that go on computing would hold the process up."""
    before = threading.active_count()
    streams = [pipeline.stream(seconds=600, seed=seed) for seed in range(4)]
    with closing(make_together(streams, workers=2)) as making:
        next(making)
    assert threading.active_count() == before


def test_what_one_raises_is_raised_and_the_others_end(pipeline: MusicPipeline):
    before = threading.active_count()
    good = pipeline.stream(seconds=600, seed=1)
    bad = pipeline.stream(seconds=SECONDS, seed=2)

    def fail():
        raise GenerationError("no numbers")
        yield

    bad._events = fail()
    with pytest.raises(GenerationError, match="no numbers"):
        list(make_together([good, bad], workers=2))
    assert threading.active_count() == before


def test_no_worker_makes_nothing(pipeline: MusicPipeline):
    with pytest.raises(ValueError, match="greater than 0"):
        list(make_together([pipeline.stream(seconds=SECONDS)], workers=0))


@pytest.fixture(scope="module")
def compiled() -> MusicPipeline:
    """Return a pipeline of a small model with a short window, by compiled code."""
    return MusicPipeline(small_decoder(), get_tokenizer(), engine="numba")


def test_one_thread_makes_eight_takes_by_turns_and_reads_their_events_together(
    compiled: MusicPipeline, starter: Path, monkeypatch: pytest.MonkeyPatch
):
    """Guards weights that are fetched for each take, and takes that stand still for a prompt."""
    read_some, n_read = NumbaEngine.read_some, list[int]()

    def counted(engine: NumbaEngine, takes: Sequence[NumbaSteps]) -> None:
        n_read.append(len(takes))
        read_some(engine, takes)

    monkeypatch.setattr(NumbaEngine, "read_some", counted)
    piece = sorted(starter.glob("*.mid"))[0]
    asked = [{"seed": 0}, {"seed": 1, "source": piece}, *({"seed": seed} for seed in range(2, 10))]
    streams = [compiled.stream(seconds=3 * SECONDS, **each) for each in asked]
    made = list(make_together(streams, workers=1))
    takes = {number: what for number, what in made if isinstance(what, Take)}
    assert sorted(takes) == list(range(10))
    assert max(n_read) == 8
    assert n_read.count(8) >= 4
    told_first = [number for number, _ in made]
    assert told_first.index(8) > told_first.index(0)  # only when one of the eight was done
    for number in (0, 1, 5, 9):
        n_read.clear()
        alone = _made(compiled.stream(seconds=3 * SECONDS, **asked[number]))
        assert alone.midi == takes[number].midi
        assert max(n_read) == 1
    assert all(take.events_per_s > 0 for take in takes.values())


def _made(stream: TakeStream) -> Take:
    *_, take = stream
    assert isinstance(take, Take)
    return take


def test_takes_are_shared_out_among_threads(compiled: MusicPipeline):
    """Guards eight takes by turns in one thread while the other core stands still."""
    streams = [compiled.stream(seconds=600, seed=seed) for seed in range(4)]
    seen: set[int] = set()
    with closing(make_together(streams, workers=2)) as making:
        for number, _ in making:
            seen.add(number)
            if len(seen) == 4:
                names = {thread.name for thread in threading.enumerate()}
                assert sum(name.startswith("take") for name in names) == 2
                break
    assert all(next(stream, None) is None for stream in streams)  # all are closed


@pytest.fixture(scope="module")
def lanes() -> MusicPipeline:
    """Return a pipeline whose takes share their steps, as they do on a GPU."""
    return MusicPipeline(small_decoder(), get_tokenizer(), engine="lanes")


def test_takes_that_share_steps_are_those_made_alone(lanes: MusicPipeline):
    """Guards a batch that changes its takes: same seed, same bytes, however many there are."""
    streams = [lanes.stream(seconds=SECONDS, seed=seed) for seed in range(10)]
    takes = {n: what for n, what in make_together(streams) if isinstance(what, Take)}
    assert sorted(takes) == list(range(10))
    for seed in (0, 4, 9):
        assert takes[seed].midi == lanes.generate(seconds=SECONDS, seed=seed).midi
        assert takes[seed].engine == "lanes-float32"


def test_as_many_share_steps_as_their_engine_has_lanes(lanes: MusicPipeline):
    """Guards a GPU that makes one take a core, and so two at a time on two cores."""
    streams = [lanes.stream(seconds=600, seed=seed) for seed in range(9)]
    seen: set[int] = set()
    with closing(make_together(streams)) as making:
        for number, _ in making:
            seen.add(number)
            if len(seen) == 8:
                break
    assert seen == set(range(8))


def test_takes_that_share_steps_may_be_stopped_at_any_time(lanes: MusicPipeline):
    """Guards a deadlock: those that go on must not wait for those that were stopped."""
    before = threading.active_count()
    random = Random(0)
    for _ in range(3):
        streams = [lanes.stream(seconds=600, seed=seed) for seed in range(8)]
        with closing(make_together(streams)) as making:
            for _ in making:
                if random.random() < 0.3:
                    break
    kept = lanes.stream(seconds=600, seed=1)
    for _ in range(3):
        next(kept)
    assert lanes.generate(seconds=SECONDS, seed=0).finish_reason in ("length", "end")
    assert kept.finish() is not None
    assert threading.active_count() == before
