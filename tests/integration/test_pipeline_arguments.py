"""What a caller may give by mistake is refused by name, value and range, or taken as meant."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import torch

from musicgen.errors import ConfigError
from musicgen.midi import NoteTable, notes_to_score, score_to_bytes
from musicgen.pipeline import MusicPipeline
from musicgen.tokens import get_tokenizer
from small_models import save_small, small_decoder

TOKENIZER = get_tokenizer()
PROMPT = score_to_bytes(notes_to_score(NoteTable.of([0.0, 0.5], [0.4, 0.9], [60, 64], [70, 70])))
HUGE = 10**400
HUGER = 10**6000  # Python writes no number of so many digits


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_small(tmp_path_factory.mktemp("checkpoints") / "small", small_decoder())


@pytest.fixture(scope="module")
def pipeline(folder: Path) -> MusicPipeline:
    return MusicPipeline.load(folder, device="cpu", engine="torch")


@pytest.mark.parametrize(
    "threads", [0, -1, "2", 1.5, True, 10**20, pytest.param(HUGER, id="huger")]
)
def test_what_is_no_number_of_threads_is_told_with_its_range(folder, threads):
    """Guards torch's own RuntimeError."""
    before = torch.get_num_threads()
    with pytest.raises(ConfigError, match=r"threads is .* from 1 to 4,096") as caught:
        MusicPipeline.load(folder, device="cpu", threads=threads)
    assert caught.value.hint
    assert torch.get_num_threads() == before


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"temperature": HUGE}, r"temperature is 10{56}\.\.\.; it must be a number from 0 to 100"),
        ({"temperature": HUGER}, "temperature is .* from 0 to 100"),
        ({"temperature": True}, "temperature is True"),
        ({"temperature": "1"}, "temperature is '1'"),
        ({"temperature": [1.0]}, "temperature is "),
        ({"temperature": np.array([1.0])}, "temperature is array"),
        ({"top_k": HUGE}, "top_k is .* from 0 to 1e"),
        ({"top_k": 3.0}, "top_k is 3.0; it must be a whole number"),
        ({"seconds": HUGE}, "seconds is 1000.* from 0.1 to 14400"),
        ({"seconds": True}, "seconds is True"),
        ({"seconds": np.bool_(True)}, "seconds is "),
        ({"seed": True}, "The seed is True"),
        ({"seed": HUGER}, "The seed is "),
        ({"seed": 3.0}, "The seed is 3.0"),
        ({"per_attribute": 5}, "per_attribute is 5; it must be a mapping"),
        ({"per_attribute": "abc"}, "per_attribute is 'abc'"),
        ({"per_attribute": []}, r"per_attribute is \[\]"),
        ({"per_attribute": {"pitch": None}}, r"per_attribute\['pitch'\] is None"),
        ({"per_attribute": {"pitch": ["top_k"]}}, r"per_attribute\['pitch'\] is \['top_k'\]"),
        ({"may_end_early": "no"}, "may_end_early is 'no'; it must be True or False"),
        ({"may_end_early": None}, "may_end_early is None"),
        ({"only_new": "no"}, "only_new is 'no'; it must be True or False"),
        ({"only_new": 0}, "only_new is 0"),
        ({"at_once": "no"}, "at_once is 'no'"),
        ({"prompt_seconds": HUGE}, "The part of the file to use is 1000.* above 0"),
        ({"prompt_seconds": -1}, "The part of the file to use is -1"),
        ({"prompt_seconds": True}, "The part of the file to use is True"),
    ],
)
@pytest.mark.parametrize("source", [None, PROMPT])
def test_settings_that_are_none_are_refused_in_a_sentence(pipeline, setting, words, source):
    """Guards raw errors (int too large, no attribute 'items'), and "no" that counted as true."""
    with pytest.raises(ConfigError, match=words) as caught:
        pipeline.stream(source, **setting)
    assert caught.value.hint
    assert len(caught.value.message) < 200


@pytest.mark.parametrize(
    "given",
    [
        {"seed": np.int64(3), "seconds": np.int64(2), "top_k": np.int32(5)},
        {"seed": np.uint8(3), "seconds": np.float32(2), "top_k": np.uint64(5)},
        {"seed": torch.tensor(3), "seconds": torch.tensor(2.0), "top_k": torch.tensor(5)},
        {"seed": 3, "seconds": np.array(2.0), "top_k": 5, "may_end_early": np.bool_(False)},
    ],
)
def test_numbers_of_every_kind_are_numbers(pipeline, given):
    """Guards `seed=np.int64(3)`, which was refused as no whole number."""
    plain = pipeline.generate(seed=3, seconds=2, top_k=5)
    assert pipeline.generate(**given).midi == plain.midi


def test_the_prompts_length_may_be_numpys_too(pipeline):
    plain = pipeline.continue_(PROMPT, 0.5, True, seconds=1, seed=1)
    other = pipeline.continue_(PROMPT, np.float64(0.5), np.bool_(True), seconds=1, seed=1)
    assert other.midi == plain.midi


def test_nothing_is_no_music_to_go_on_from(pipeline):
    """Guards `continue_(None)`, which made music from nothing."""
    with pytest.raises(TypeError, match="generate"):
        pipeline.continue_(None, seconds=1)


def test_a_number_is_no_file(pipeline, tmp_path):
    """Guards `continue_(5)`, which read the file that happened to be open as 5."""
    path = tmp_path / "piece.mid"
    path.write_bytes(PROMPT)
    number = os.open(path, os.O_RDONLY)
    try:
        for ask in (pipeline.continue_, pipeline.inspect, pipeline.attention):
            with pytest.raises(TypeError, match="not as int"):
                ask(number)
        assert os.read(number, 4) == b"MThd"
    finally:
        os.close(number)


@pytest.mark.parametrize("parts", [(None, None), (small_decoder(), None), (None, TOKENIZER)])
def test_a_pipeline_of_nothing_is_refused_by_name(parts):
    with pytest.raises(TypeError, match=r"but NoneType; MusicPipeline\.load"):
        MusicPipeline(*parts)


@pytest.mark.parametrize(
    ("ids", "error", "words"),
    [
        (torch.zeros(1, 2, 4), ValueError, "torch.float32; expected torch.int64"),
        (torch.zeros(1, 2, 4, dtype=torch.bool), ValueError, "torch.bool"),
        (np.zeros((1, 2, 4), np.int64), TypeError, "not ndarray"),
        ([[1, 2]], TypeError, "not list"),
        (None, TypeError, "not NoneType"),
    ],
)
def test_a_model_says_what_ids_it_takes(ids, error, words):
    """Guards torch's "Expected tensor for argument #1 'indices'"."""
    with pytest.raises(error, match=words):
        small_decoder()(ids)


@pytest.mark.parametrize("music", ["first.mid", b"MThd", None, 5, []])
def test_a_tokenizer_says_what_music_it_takes(music):
    """Guards "'str' object has no attribute 'tempos'"."""
    with pytest.raises(TypeError, match=f"not {type(music).__name__}"):
        TOKENIZER.encode(music)
    with pytest.raises(TypeError, match=f"not {type(music).__name__}"):
        TOKENIZER.encode_notes(music)


@pytest.mark.parametrize("event", [(), (1, 2), (1,) * 5])
def test_an_event_of_another_width_is_none(event):
    """Guards an IndexError, and (1, 2) that was told as a start."""
    with pytest.raises(ValueError, match=f"an event has 4 ids, not {len(event)}"):
        TOKENIZER.describe(event)
