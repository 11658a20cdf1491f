"""The recipe that stands in a file: read strictly, whoever wrote it, and kept by other programs."""

from __future__ import annotations

import io
import json
from dataclasses import asdict, replace

import mido
import numpy as np
import pretty_midi
import pytest

from musicgen.errors import MidiReadError, MusicgenError, RecipeError
from musicgen.midi import NoteTable, notes_to_score, read_midi, score_to_bytes, texts, with_text
from musicgen.pipeline import Recipe, recipe_of
from musicgen.pipeline.recipe import PREFIX

RECIPE = Recipe(
    model="piano",
    model_sha256="ab" * 32,
    engine="numba-int8",
    device="cpu",
    seed=2**53 + 1,
    seconds=30.0,
    temperature=0.1,
    top_p=None,
    per_attribute={"velocity": {"temperature": 0.8, "top_k": 5}},
    prompt_sha256="cd" * 32,
    prompt_seconds=1 / 3,
    stopped_after=17,
)
NOTES = NoteTable.of([0.0, 0.5], [0.4, 1.2], [60, 62], [70, 80])
MUSIC = score_to_bytes(notes_to_score(NOTES))


def file_with(*found: str | bytes) -> bytes:
    """Return a file with such texts, the last one last."""
    data = mido.MidiFile(file=io.BytesIO(MUSIC))
    for text in found:
        text = text.decode("latin1") if isinstance(text, bytes) else text
        data.tracks[0].insert(-1, mido.MetaMessage("text", text=text))
    stored = io.BytesIO()
    data.save(file=stored)
    return stored.getvalue()


def changed(**changes: object) -> str:
    return PREFIX + json.dumps({**asdict(RECIPE), **changes})


def test_it_comes_back_as_it_was():
    assert recipe_of(with_text(MUSIC, RECIPE.to_text())) == RECIPE
    assert recipe_of(MUSIC) is None


def test_the_text_leaves_the_music_as_it_is():
    """Guards: a take whose length in ticks, tracks or type change because a text came in."""
    before = mido.MidiFile(file=io.BytesIO(MUSIC))
    after = mido.MidiFile(file=io.BytesIO(with_text(MUSIC, RECIPE.to_text())))
    assert (after.type, after.ticks_per_beat) == (before.type, before.ticks_per_beat)
    assert [list(track) for track in before.tracks] == [
        [message for message in track if message.type != "text"] for track in after.tracks
    ]
    assert after.tracks[0][0].text == RECIPE.to_text()


@pytest.mark.parametrize("length", [0, 1, 127, 128, 16_383, 16_384])
def test_texts_of_any_length(length):
    document = read_midi(with_text(MUSIC, "x" * length))
    assert document.warnings == ()
    assert texts(document, prefix=b"x" * length)[-1] == b"x" * length


def test_a_text_that_is_not_plain_is_refused():
    with pytest.raises(ValueError, match="ASCII"):
        with_text(MUSIC, "é")
    with pytest.raises(ValueError, match="header"):
        with_text(b"RIFF" + MUSIC, "e")


def test_other_programs_keep_it():
    data = with_text(MUSIC, replace(RECIPE, model="klavier-é").to_text())
    stored = io.BytesIO()
    mido.MidiFile(file=io.BytesIO(data)).save(file=stored)
    assert recipe_of(stored.getvalue()).model == "klavier-é"
    stored = io.BytesIO()
    pretty_midi.PrettyMIDI(io.BytesIO(data)).write(stored)
    assert recipe_of(stored.getvalue()) == replace(RECIPE, model="klavier-é")


def test_of_several_the_last_is_the_file_s_own():
    """Guards: a continuation of a take that is made again as the take it goes on from."""
    older = replace(RECIPE, seed=1)
    assert recipe_of(file_with(older.to_text(), RECIPE.to_text())) == RECIPE


def test_the_last_one_counts_even_if_it_is_damaged():
    """Guards: an older recipe that stands in for the file's own without a word."""
    with pytest.raises(RecipeError):
        recipe_of(file_with(RECIPE.to_text(), PREFIX + "{}"))


@pytest.mark.parametrize(
    "text",
    [
        "musicgen",
        " " + PREFIX + "{}",
        PREFIX[:-1] + " {}",
        '{"version": 1}',
    ],
)
def test_what_does_not_begin_like_one_is_none(text):
    assert recipe_of(file_with(text)) is None


HOSTILE = {
    "nothing": PREFIX,
    "no JSON": PREFIX + "seed=7",
    "not ASCII": (PREFIX + '{"model": "é"}').encode("latin1"),
    "NaN": changed(temperature=float("nan")),
    "infinity": changed(seconds=float("inf")),
    "a number past all": changed().replace("30.0", "1e999"),
    "a list": PREFIX + "[]",
    "no version": PREFIX + "{}",
    "a version that is true": changed(version=True),
    "a key twice": changed().replace("{", '{"seed": 1, ', 1),
    "a key too many": changed(path="/etc/passwd"),
    "a key too few": PREFIX + json.dumps({"version": 1, "seed": 1}),
    "nested deeply": PREFIX + "[" * 8000,
    "too long": changed(model="x" * 9000),
    "a long name": changed(model="x" * 200),
    "a name of two lines": changed(model="a\nb"),
    "a name that is a path of escapes": changed(model="\x1b[31m"),
    "a word seed": changed(seed="7"),
    "a broken seed": changed(seed=7.5),
    "a negative seed": changed(seed=-1),
    "a seed of 100 digits": changed(seed=10**100),
    "a true seed": changed(seed=True),
    "hot": changed(temperature=101),
    "top_p": changed(top_p=1.5),
    "top_k": changed(top_k=-1),
    "top_k broken": changed(top_k=0.5),
    "min_p": changed(min_p="0"),
    "overrides": changed(per_attribute={"velocity": {"heat": 1}}),
    "overrides of overrides": changed(per_attribute={"velocity": {"top_p": {}}}),
    "too long music": changed(seconds=1e9),
    "no length": changed(seconds=0),
    "a short hash": changed(model_sha256="ab"),
    "a hash in capitals": changed(model_sha256="AB" * 32),
    "a hash that is a path": changed(model_sha256="../" * 21 + "a"),
    "an empty prompt's hash": changed(prompt_sha256=""),
    "a prompt's length alone": changed(prompt_sha256=None),
    "a prompt left out alone": changed(prompt_sha256=None, prompt_seconds=None, only_new=True),
    "a prompt of no length": changed(prompt_seconds=0),
    "an engine of spaces": changed(engine="numba int8"),
    "stopped before it began": changed(stopped_after=0),
    "stopped after ages": changed(stopped_after=10**12),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_recipe_is_a_sentence(what):
    with pytest.raises(RecipeError) as caught:
        recipe_of(file_with(HOSTILE[what]))
    assert caught.value.code == "recipe-damaged"
    assert caught.value.message.endswith(".")
    assert caught.value.hint
    assert len(caught.value.message) < 420
    assert caught.value.message.isprintable()


@pytest.mark.parametrize("version", [0, 2, 10**30, pytest.param(10**4000, id="no page")])
def test_an_unknown_version_is_said(version):
    with pytest.raises(RecipeError, match="version") as caught:
        recipe_of(file_with(PREFIX + json.dumps({"version": version, "all": "else"})))
    assert caught.value.code == "recipe-version"
    assert len(caught.value.message) < 200


def test_no_music_is_no_recipe():
    with pytest.raises(MidiReadError):
        recipe_of(PREFIX.encode() + b"{}")


def test_bytes_at_random_in_a_recipe_never_break_it():
    """Guards: a damaged file that ends the program by an error that nobody wrote."""
    generator = np.random.default_rng(0)
    text = RECIPE.to_text().encode()
    for _ in range(150):
        damaged = bytearray(text)
        for place in generator.integers(len(PREFIX), len(text), 3):
            damaged[place] = generator.integers(0, 256)
        try:
            found = recipe_of(file_with(bytes(damaged)))
        except MusicgenError as error:
            assert isinstance(error, RecipeError)  # noqa: PT017  both ways out are right
        else:
            assert isinstance(found, Recipe)
