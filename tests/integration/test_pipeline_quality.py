"""The quality card of a take, by the shipped model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from musicgen import MusicPipeline
from musicgen.evaluation import Faults
from musicgen.pipeline.quality import best_of, quality_card


@pytest.fixture(scope="module")
def pipeline() -> MusicPipeline:
    return MusicPipeline.load("piano", device="cpu")


def test_a_take_beside_real_music(pipeline: MusicPipeline) -> None:
    take = pipeline.generate(seconds=20, seed=3)
    card = quality_card(pipeline, take)
    with torch.inference_mode():
        logits = pipeline.model(torch.from_numpy(take.ids[None]))
    nats = sum(
        float(F.cross_entropy(row[0], torch.from_numpy(take.ids[1:, k]), reduction="sum"))
        for k, row in enumerate(logits)
    )
    assert card.bits_per_note == pytest.approx(nats / np.log(2) / len(take.new_notes), rel=0.02)
    assert card.copies is not None
    assert card.copies.passage is not None
    assert not card.is_copied
    assert card.n_faults == 0
    assert card.held_out_bits_per_note == pytest.approx(11.49, abs=0.01)
    assert card.ranges.seconds == pytest.approx(20, abs=1)
    assert card.ranges.share_inside > 0.5
    assert card.as_dict()["share_inside"] == card.ranges.share_inside


def test_of_a_continuation_only_the_new_notes_count(pipeline: MusicPipeline) -> None:
    """Guards a card that praises the model for the visitor's own music."""
    prompt = pipeline.generate(seconds=10, seed=1)
    take = pipeline.continue_(prompt.midi, seconds=10, seed=2)
    card = quality_card(pipeline, take)
    assert card.ranges.seconds == pytest.approx(10, abs=1)
    whole = quality_card(pipeline, take.midi)
    assert whole.ranges.seconds == pytest.approx(20, abs=1)
    assert card.bits_per_note != whole.bits_per_note


def test_the_best_is_no_copy_then_without_fault_then_the_most_usual(
    pipeline: MusicPipeline,
) -> None:
    card = quality_card(pipeline, pipeline.generate(seconds=5, seed=1))
    assert card.copies is not None
    usual = replace(card, faults=Faults(loops=0, silences=0, long_notes=0))
    figures = tuple(replace(figure, value=None) for figure in card.ranges.figures)
    odd = replace(usual, ranges=replace(card.ranges, figures=figures))
    faulty = replace(usual, faults=Faults(loops=0, silences=1, long_notes=0))
    copied = replace(usual, copies=replace(card.copies, beyond=True))
    assert best_of([copied, faulty, odd, usual]) == 3
    assert best_of([copied, faulty, odd]) == 2
    assert best_of([copied, faulty]) == 1
    assert best_of([usual, usual]) == 0
