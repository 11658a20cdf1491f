"""The length of the new music is met within 5%, or a warning says why not."""

from __future__ import annotations

import numpy as np
import pytest

from musicgen.generation import LengthPlan
from musicgen.midi import NoteTable, notes_to_score, score_to_bytes
from musicgen.model import Decoder
from musicgen.pipeline import MusicPipeline, Take
from musicgen.tokens import get_tokenizer
from small_models import Reciter, small_config


def notes(*rows: tuple[float, float, int]) -> NoteTable:
    onset, end, pitch = zip(*rows, strict=True)
    return NoteTable.of(onset, end, pitch, np.full(len(rows), 64))


def reciting(*rows: tuple[float, float, int], after: int = 0) -> MusicPipeline:
    """Return a pipeline whose model plays these notes after a prompt of so many events."""
    tokenizer = get_tokenizer()
    ids = tokenizer.encode(notes(*rows))[1:]
    return MusicPipeline(Reciter(ids, tokenizer.vocab_sizes, 1 + after), tokenizer)


def scale(n_notes: int, gap_s: float = 0.5) -> list[tuple[float, float, int]]:
    return [(i * gap_s, i * gap_s + 0.4, 50 + i % 20) for i in range(n_notes)]


def off_by(take: Take, wanted_s: float) -> float:
    return abs(take.seconds - take.prompt_seconds - wanted_s) / wanted_s


def said(take: Take, words: str) -> bool:
    return any(words in warning for warning in take.warnings)


def test_a_piece_that_fills_its_length_needs_no_warning():
    take = reciting(*scale(30)).generate(seconds=10, seed=0)
    assert off_by(take, 10) <= 0.05
    assert not said(take, "asked for")


def test_an_early_end_is_said():
    take = reciting(*scale(12)).generate(seconds=30, may_end_early=True, seed=0)
    assert take.finish_reason == "end"
    assert off_by(take, 30) > 0.05
    assert said(take, "ended the piece by itself after 5.9 s of the 30 s")


def test_an_end_that_only_seems_to_meet_the_length_is_not_taken():
    # The first note would sound to the end; but its key is struck again, and what is left is short.
    # The model was let end there, and the take lasted 1.4 s of 10.
    tokenizer = get_tokenizer()
    ids = tokenizer.encode(notes((0, 9.9, 60), (1, 1.4, 61)))[1:]
    ids[1, 1] = ids[0, 1]
    pipeline = MusicPipeline(Reciter(ids, tokenizer.vocab_sizes, 1), tokenizer)
    take = pipeline.generate(seconds=10, seed=0)
    assert off_by(take, 10) <= 0.05
    assert not said(take, "asked for")


def test_a_model_that_stands_still_is_said(monkeypatch):
    monkeypatch.setattr(LengthPlan, "max_events", property(lambda plan: 8))
    take = reciting(*scale(30)).generate(seconds=30, seed=0)
    assert take.finish_reason == "event_limit"
    assert said(take, "stopped after 3.9 s of the 30 s")


PROMPT = score_to_bytes(notes_to_score(notes((0.0, 6.0, 40), (0.5, 1.0, 64), (1.0, 1.4, 67))))


@pytest.mark.parametrize(("seconds", "longer"), [(2.0, True), (3.8, True), (3.9, False)])
def test_a_note_of_the_prompt_that_rings_past_the_new_music_is_said(seconds, longer):
    take = reciting(*scale(30), after=3).continue_(PROMPT, 2.0, seconds=seconds, seed=0)
    assert take.prompt_notes == 3
    assert (off_by(take, seconds) > 0.05) == longer
    assert said(take, "sounds until 4.0 s after the cut") == longer


def test_without_the_prompt_its_ringing_is_no_matter():
    take = reciting(*scale(30), after=3).continue_(PROMPT, 2.0, True, seconds=2.0, seed=0)
    assert take.seconds == pytest.approx(2.0, rel=0.05)
    assert not said(take, "after the cut")


def test_an_early_end_without_the_prompt_is_said_too():
    pipeline = reciting(*scale(12), after=3)
    take = pipeline.continue_(PROMPT, 2.0, True, seconds=30, may_end_early=True, seed=0)
    assert take.finish_reason == "end"
    assert abs(take.seconds - 30) / 30 > 0.05
    assert said(take, "of the 30 s that were asked for")


@pytest.mark.parametrize("scheme", ["piano", "tsd"])
@pytest.mark.parametrize("seconds", [0.3, 2.0])
def test_a_random_model_meets_the_length_or_says_why_not(scheme, seconds):
    tokenizer = get_tokenizer(scheme)
    config = small_config(
        vocab_sizes=tokenizer.vocab_sizes, d_model=16, n_layers=1, n_heads=2, d_ff=16
    )
    pipeline = MusicPipeline(Decoder(config), tokenizer)
    for seed in range(2):
        whole = pipeline.continue_(PROMPT, 2.0, seconds=seconds, seed=seed)
        assert (
            off_by(whole, seconds) <= 0.05 or said(whole, "after the cut") or said(whole, "asked")
        )
        part = pipeline.continue_(PROMPT, 2.0, True, seconds=seconds, seed=seed)
        assert abs(part.seconds - seconds) / seconds <= 0.05 or said(part, "asked for"), part
