"""Music is heard while it is made: what is heard is what is kept."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from musicgen.audio import BLOCK, SAMPLE_RATE, Passage, render
from musicgen.generation.context import Context
from musicgen.midi import NoteTable, notes_to_score, score_to_bytes
from musicgen.pipeline import MusicPipeline
from musicgen.ui.jobs import Heard, Job
from musicgen.ui.listening import can_be_heard, heard_passage
from musicgen.ui.order import Order
from musicgen.ui.pieces import from_upload
from musicgen.ui.resources import Studio
from musicgen.ui.state import Desk

SECOND = SAMPLE_RATE // BLOCK * BLOCK
TWO_STEPS = 2.1 / 32768  # two roundings to 16 bit
PATIENCE_S = 120
SETTINGS = {"temperature": 1.0, "top_p": None, "top_k": 0, "min_p": 0.0, "seed": 7}


@pytest.fixture
def studio(tiny_model: Path) -> Iterator[Studio]:
    here = Studio(str(tiny_model))
    here.pipeline().prepare()
    yield here
    here.close()


@pytest.fixture
def slowly(monkeypatch):
    """Make every event take a while, so that the music can be listened to meanwhile."""
    append = Context.append
    monkeypatch.setattr(Context, "append", lambda *given: (time.sleep(0.03), append(*given))[1])


def listen(job: Job, begin: int) -> tuple[list[Passage], int]:
    """Return a job's passages from a sample on, and how many were there before it was done."""
    passages: list[Passage] = []
    early = 0
    until = time.monotonic() + PATIENCE_S
    while not (passages and passages[-1].is_last):
        assert time.monotonic() < until
        if not can_be_heard(job, begin, 4 * SECOND):
            time.sleep(0.01)
            continue
        is_early = job.active
        passage = heard_passage(job, begin, 4 * SECOND)
        assert passage is not None
        assert passage.begin == begin
        passages.append(passage)
        early += is_early and job.active
        begin += passage.samples.shape[1]
    return passages, early


def made(studio: Studio, order: Order, begin: int) -> tuple[Job, np.ndarray, int]:
    desk = Desk(studio.shelf)
    studio.submit(desk, order)
    assert desk.job is not None
    passages, early = listen(desk.job, begin)
    return desk.job, np.concatenate([each.samples for each in passages], axis=1), early


@pytest.mark.usefixtures("slowly")
def test_what_is_heard_while_it_is_made_is_what_is_kept(studio):
    """Guards: a stream that differs from the file, or a file that differs for the listening."""
    job, heard, early = made(studio, Order(seconds=30.0, **SETTINGS), 0)
    assert early >= 3, "sound begins while the music is being made"
    assert job.piece is not None
    assert job.piece.id == job.id, "the page goes on playing what it plays"
    whole = render(job.piece.midi)
    assert heard.shape == whole.samples.shape
    assert np.abs(heard).max() > 0.001
    assert np.abs(heard - whole.samples / whole.gain).max() < TWO_STEPS

    pipeline = MusicPipeline.load(studio.model)
    assert job.piece.midi == pipeline.generate(seconds=30.0, **SETTINGS).midi


@pytest.mark.usefixtures("slowly")
def test_a_prompt_is_heard_at_once_and_gone_on_from(studio, music):
    upload = from_upload(music, name="a.mid")
    prompt = from_upload(music, name="a.mid", seconds=6.0)
    order = Order(seconds=10.0, upload=upload, prompt=prompt, prompt_seconds=6.0, **SETTINGS)
    begin = 3 * SECOND
    job, heard, early = made(studio, order, begin)
    assert early >= 2
    assert job.piece is not None
    whole = render(job.piece.midi)
    kept = whole.samples[:, begin:] / whole.gain
    assert heard.shape == kept.shape
    assert np.abs(heard - kept).max() < TWO_STEPS


@pytest.mark.usefixtures("slowly")
def test_stop_keeps_what_was_heard(studio):
    desk = Desk(studio.shelf)
    studio.submit(desk, Order(seconds=120.0, **SETTINGS))
    job = desk.job
    assert job is not None
    until = time.monotonic() + PATIENCE_S
    while not can_be_heard(job, 3 * SECOND, SECOND):
        assert time.monotonic() < until
        time.sleep(0.01)
    early = heard_passage(job, 0, 4 * SECOND)
    job.stop()
    asked = time.monotonic()
    while job.active:
        time.sleep(0.005)
    assert time.monotonic() - asked < 2.0
    late = heard_passage(job, 0, 4 * SECOND)
    assert early is not None
    assert late is not None
    same = early.samples.shape[1]
    np.testing.assert_array_equal(early.samples, late.samples[:, :same])


def test_rests_before_the_first_note_are_waited_for():
    """Guards a piece that is called mute for good since it begins with a rest."""

    class Resting:
        def heard(self):
            empty = score_to_bytes(notes_to_score(NoteTable.of([], [], [], [])))
            return Heard(until_s=5.0, midi=lambda: empty, is_whole=False)

    assert heard_passage(Resting(), 0, SECOND) is None  # type: ignore[arg-type]
