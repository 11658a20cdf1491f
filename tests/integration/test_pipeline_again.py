"""A take made again from its own file: the same bytes, or a sentence why not."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch

from musicgen.errors import ConfigError, MusicgenError, RecipeError
from musicgen.midi import NoteTable, notes_to_score, read_midi, score_to_bytes, with_text
from musicgen.pipeline import MusicPipeline, difference, load_for, recipe_of
from musicgen.tokens import get_tokenizer
from small_models import save_small, small_decoder

PROMPT = score_to_bytes(
    notes_to_score(
        NoteTable.of(
            [i / 4 for i in range(24)],
            [i / 4 + 0.2 for i in range(24)],
            [50 + i % 20 for i in range(24)],
            [70] * 24,
        )
    )
)
DRAWS = {
    "temperature": 1,
    "top_p": 0.9,
    "top_k": 60,
    "min_p": 0.01,
    "per_attribute": {"velocity": {"temperature": 1, "top_k": 5}},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_small(tmp_path_factory.mktemp("checkpoints") / "small", small_decoder())


@pytest.fixture(scope="module")
def pipeline(folder):
    return MusicPipeline.load(folder, device="cpu")


def test_a_take_from_nothing(pipeline, folder):
    take = pipeline.generate(seconds=6, seed=5, **DRAWS)
    recipe = recipe_of(take.midi)
    assert (recipe.model, recipe.model_sha256) == ("small", pipeline.sha256)
    assert (recipe.engine, recipe.device, recipe.seed) == ("numba-int8", "cpu", 5)
    assert (recipe.top_p, recipe.top_k, recipe.min_p) == (0.9, 60, 0.01)
    again = MusicPipeline.load(folder, device="cpu").again(take.midi)
    assert again.midi == take.midi
    assert difference(recipe, again.midi, take.midi) is None


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"prompt_seconds": 1.7},
        {"prompt_seconds": 3, "only_new": True},
        {"may_end_early": True},
    ],
)
def test_a_continuation(pipeline, how):
    take = pipeline.continue_(PROMPT, seconds=5, seed=1, **how)
    assert recipe_of(take.midi).prompt_sha256 == read_midi(PROMPT).source_sha256
    assert pipeline.again(take.midi, PROMPT).midi == take.midi


def test_a_continuation_of_a_take_is_not_taken_for_that_take(pipeline):
    """Guards: the prompt's recipe, which stays in its track, read as the whole file's."""
    first = pipeline.generate(seconds=4, seed=5)
    second = pipeline.continue_(first.midi, 2.0, seconds=4, seed=6)
    third = pipeline.continue_(second.midi, seconds=4, seed=7)
    assert [recipe_of(take.midi).seed for take in (first, second, third)] == [5, 6, 7]
    assert pipeline.again(second.midi, first.midi).midi == second.midi
    assert pipeline.again(third.midi, second.midi).midi == third.midi


def test_a_take_that_was_stopped(pipeline):
    """Guards: "the same take" that goes on where its maker had stopped it."""
    for stop_after in (2, 5, 7):
        stream = pipeline.stream(PROMPT, seconds=30, seed=4)
        for _ in range(stop_after):
            next(stream)
        take = stream.finish()
        again = pipeline.again(take.midi, PROMPT)
        assert take.finish_reason == again.finish_reason == "stopped"
        assert again.midi == take.midi


def test_a_stop_that_never_comes_is_no_stop(pipeline):
    recipe = replace(recipe_of(pipeline.generate(seconds=1, seed=0).midi), stopped_after=10**6)
    assert recipe_of(pipeline.again(recipe).midi).stopped_after is None


@pytest.mark.parametrize("engine", ["torch", "numba-float32"])
def test_the_engine_that_made_it_makes_it_again(pipeline, folder, engine):
    other = MusicPipeline.load(folder, device="cpu", engine=engine)
    take = other.generate(seconds=3, seed=2)
    assert pipeline.again(take.midi).midi == take.midi
    assert pipeline.generate(seconds=3, seed=2).engine == "numba-int8"
    assert load_for(recipe_of(take.midi), folder).again(take.midi).midi == take.midi


def test_what_decides_nothing_is_not_in_the_file(pipeline, folder, tmp_path):
    """Guards: dates, paths and times of the work, by which the same music has other bytes."""
    path = tmp_path / "prompt.mid"
    path.write_bytes(PROMPT)
    seconds_as_int = pipeline.continue_(path, 2, seconds=3, temperature=1, seed=1)
    assert seconds_as_int.midi == pipeline.continue_(PROMPT, 2.0, seconds=3.0, seed=1).midi
    assert str(tmp_path).encode() not in seconds_as_int.midi
    assert b"prompt.mid" not in seconds_as_int.midi


def test_another_model_is_refused(pipeline, tmp_path):
    take = pipeline.generate(seconds=2, seed=0)
    other = save_small(tmp_path / "other", small_decoder(n_layers=1))
    with pytest.raises(RecipeError, match="'small'") as caught:
        load_for(recipe_of(take.midi), other)
    assert caught.value.code == "recipe-model"
    with pytest.raises(RecipeError, match="none of the models that ship"):
        load_for(recipe_of(take.midi))


def test_a_model_that_was_never_saved_is_refused():
    torch.manual_seed(0)
    pipeline = MusicPipeline(small_decoder(), get_tokenizer())
    take = pipeline.generate(seconds=2, seed=0)
    with pytest.raises(RecipeError, match="never been saved"):
        pipeline.again(take.midi)


def test_a_missing_another_and_a_needless_prompt_are_refused(pipeline):
    take = pipeline.continue_(PROMPT, seconds=2, seed=0)
    alone = pipeline.generate(seconds=2, seed=0)
    for source, prompt, said in (
        (take.midi, None, "was not given"),
        (take.midi, alone.midi, "is not the file"),
        (alone.midi, PROMPT, "from nothing"),
    ):
        with pytest.raises(RecipeError, match=said) as caught:
            pipeline.again(source, prompt)
        assert caught.value.code == "recipe-prompt"
        assert caught.value.hint


def test_a_prompt_that_had_to_be_repaired_is_known_both_ways(pipeline):
    damaged = PROMPT[:-4]  # the end of the track is missing
    repaired = read_midi(damaged)
    assert repaired.data != damaged
    take = pipeline.continue_(damaged, seconds=2, seed=0)
    assert pipeline.again(take.midi, damaged).midi == take.midi
    assert pipeline.again(pipeline.continue_(repaired.data, seconds=2, seed=0).midi, damaged)


def test_a_file_without_a_recipe_is_refused(pipeline):
    with pytest.raises(RecipeError, match="holds no recipe") as caught:
        pipeline.again(PROMPT)
    assert caught.value.code == "recipe-missing"


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"engine": "auto-1"}, RecipeError),
        ({"engine": "numba-int4"}, RecipeError),
        ({"engine": "lanes-bf16-graph"}, RecipeError),
        ({"device": "cuda"}, RecipeError),
        ({"model_sha256": "0" * 64}, RecipeError),
        ({"per_attribute": {"loudness": {"top_k": 1}}}, ConfigError),
    ],
)
def test_a_forged_recipe_is_refused_with_a_sentence(pipeline, changes, kind):
    take = pipeline.generate(seconds=1, seed=0)
    forged = {**recipe_of(take.midi).as_dict(), **changes}
    data = with_text(PROMPT, "musicgen-recipe:" + json.dumps(forged))
    with pytest.raises(kind) as caught:
        pipeline.again(data)
    assert isinstance(caught.value, MusicgenError)
    assert caught.value.hint


def test_what_was_changed_since_is_said(pipeline):
    take = pipeline.generate(seconds=2, seed=0)
    recipe = recipe_of(take.midi)
    edited = with_text(take.midi, "edited")
    assert "byte for byte" in difference(recipe, take.midi, edited)
    older = replace(recipe, musicgen="0.0.1")
    assert "musicgen 0.0.1" in difference(older, take.midi, edited)
