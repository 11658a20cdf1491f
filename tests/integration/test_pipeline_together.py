"""Several takes at once are the takes that one makes one by one."""

from __future__ import annotations

import threading
from contextlib import closing
from random import Random

import pytest

from musicgen.errors import GenerationError
from musicgen.pipeline import MusicPipeline, Progress, Take, make_together
from musicgen.tokens import get_tokenizer
from small_models import small_decoder

SECONDS = 4.0


@pytest.fixture(scope="module")
def pipeline() -> MusicPipeline:
    return MusicPipeline.load("piano", device="cpu")


def test_made_together_equals_made_alone(pipeline: MusicPipeline):
    """Guards shared state between decoders: a take must not hear another one's cache."""
    streams = [pipeline.stream(seconds=SECONDS, seed=seed) for seed in range(5)]
    made = list(make_together(streams, workers=3))
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
