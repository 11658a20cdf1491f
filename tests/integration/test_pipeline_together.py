"""Several takes at once are the takes that one makes one by one."""

from __future__ import annotations

import threading
from contextlib import closing

import pytest

from musicgen.errors import GenerationError
from musicgen.pipeline import MusicPipeline, Progress, Take, make_together

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
