"""A file that musicgen made, given to the page: what it says of it, and the take made again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from musicgen.midi import with_text
from musicgen.pipeline import MusicPipeline, recipe_of
from musicgen.studio.models import TrainedModel
from musicgen.ui import recipe_strings, resources, strings
from pages import settle
from small_models import save_small, small_decoder


@pytest.fixture(scope="module")
def pipeline(tiny_model: Path) -> MusicPipeline:
    return MusicPipeline.load(tiny_model, device="cpu", engine="auto")


def upload(app: AppTest, data: bytes) -> AppTest:
    if not app.file_uploader:
        app.button_group(key="start").set_value(strings.YOUR_MIDI).run()
    return app.file_uploader(key="upload").set_value(("file.mid", data, "audio/midi")).run()


def add_prompt(app: AppTest, data: bytes) -> AppTest:
    [uploader] = [each for each in app.file_uploader if each.label == recipe_strings.PROMPT]
    return uploader.set_value(("before.mid", data, "audio/midi")).run()


def said(app: AppTest) -> str:
    return "\n".join(caption.value for caption in app.caption)


def offered(app: AppTest) -> bool:
    return any(button.key == "again_go" for button in app.button)


def test_a_take_is_made_again(app, pipeline):
    take = pipeline.generate(seconds=5, seed=11, top_k=50)
    upload(app, take.midi)
    assert "musicgen made this: seed 11, model tiny." in said(app)
    app.button(key="again_go").click().run()
    settle(app)
    assert not app.exception
    assert app.session_state["desk"].takes[-1].midi == take.midi
    assert "**Take 1** is this file, byte for byte." in said(app)


def test_a_continuation_asks_for_its_file(app, pipeline, music):
    take = pipeline.continue_(music, 4.0, seconds=5, seed=12)
    upload(app, take.midi)
    assert not offered(app)
    add_prompt(app, take.midi)
    assert "is not the file that it goes on from" in app.error[0].value
    add_prompt(app, b"MThd no music")
    assert len(app.error) == 1
    add_prompt(app, music)
    settle(app)
    [made] = app.session_state["desk"].takes
    assert made.midi == take.midi
    assert made.prompt_end_s == pytest.approx(4.0)


def test_a_take_of_the_visitor_s_is_found_as_the_file_it_goes_on_from(app, pipeline):
    first = pipeline.generate(seconds=5, seed=1)
    second = pipeline.continue_(first.midi, seconds=5, seed=2)
    upload(app, first.midi)
    app.button(key="again_go").click().run()
    settle(app)
    upload(app, second.midi)
    assert "It goes on from **Take 1**, which is here." in said(app)
    app.button(key="again_go").click().run()
    settle(app)
    assert app.session_state["desk"].takes[-1].midi == second.midi


def test_a_take_without_its_prompt_is_made_again(app, pipeline, music):
    """Guards: a seam drawn into a file that begins behind it."""
    take = pipeline.continue_(music, 4.0, True, seconds=5, seed=3)
    upload(app, take.midi)
    add_prompt(app, music)
    settle(app)
    [made] = app.session_state["desk"].takes
    assert made.midi == take.midi
    assert made.prompt_end_s == 0.0


def changed(take, **changes: object) -> bytes:
    """Return a take's music under another recipe."""
    recipe = json.dumps({**recipe_of(take.midi).as_dict(), **changes})
    music = take.midi.replace(b"musicgen-recipe:", b"somebody-recipe:")
    return with_text(music, f"musicgen-recipe:{recipe}")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"model_sha256": "0" * 64}, "is not here (its SHA-256 begins with 000000000000)"),
        ({"model_sha256": ""}, recipe_strings.NEVER_SAVED),
        ({"seconds": 3600.0}, "longer than the 120 s"),
        ({"seconds": None}, "longer than the 120 s"),
        ({"temperature": -1}, "cannot be used"),
        ({"version": 99}, "of version 99"),
    ],
)
def test_what_cannot_be_made_again_is_one_sentence(app, pipeline, changes, told):
    """Guards: a file from somebody else that keeps the studio busy for hours."""
    upload(app, changed(pipeline.generate(seconds=1, seed=0), **changes))
    assert not app.exception
    assert not app.error
    assert told in said(app)
    assert not offered(app)
    assert not app.button(key="go").disabled  # it can be gone on from all the same


def test_a_name_in_a_recipe_is_text(app, pipeline):
    data = changed(pipeline.generate(seconds=1, seed=0), model="[x](http://a.b) <b> $x$")
    upload(app, data)
    assert "[x](" not in said(app)
    assert "<b>" not in said(app)
    assert offered(app)


def test_an_engine_that_is_not_here_is_one_sentence(app, pipeline):
    upload(app, changed(pipeline.generate(seconds=1, seed=0), engine="numba-int4"))
    app.button(key="again_go").click().run()
    settle(app)
    assert "numba\\-int4" in app.error[0].value
    assert app.session_state["desk"].takes == ()


def test_what_is_made_from_a_changed_file_says_so(app, pipeline):
    take = pipeline.generate(seconds=5, seed=4)
    upload(app, with_text(take.midi, "a remark of somebody's"))
    app.button(key="again_go").click().run()
    settle(app)
    assert app.session_state["desk"].takes[-1].midi == take.midi
    assert "the file was changed since" in said(app)


def test_an_ordinary_file_says_nothing_of_recipes(app, music):
    upload(app, music)
    assert "musicgen made this" not in said(app)
    assert not offered(app)


def test_one_line_says_what_is_not_used(app, band, music):
    """Guards: a file of twenty repairs that pushes the settings off the page."""
    upload(app, band)
    [line] = [c.value for c in app.caption if "drum notes" in c.value]
    assert "heard as piano" in line
    app.slider(key="use").set_value(4).run()
    [line] = [c.value for c in app.caption if "are used" in c.value]
    assert "Of its 0:12 the first 0:04 are used." in line


def test_the_address_sets_the_settings_and_follows_them(app):
    app.query_params.update(seconds="45", temperature="0.85", seed="7", top_k="-1")
    app.session_state["address_s"] = 0.0
    app.run()
    assert not app.exception
    state = app.session_state
    assert (state["length"], state["variety"], state["seed"]) == (45, 0.85, 7)
    assert "left out: top" in app.info[0].value
    assert "top_k" not in app.query_params
    app.slider(key="length").set_value(30).run()
    assert dict(app.query_params) == {"temperature": "0.85", "seed": "7"}


def test_an_old_address_that_crossed_a_setting_changes_nothing(app):
    """Guards: a slider that jumps back, because the page told its address a moment too late."""
    app.slider(key="length").set_value(60).run()
    app.query_params.clear()
    app.run()
    assert app.session_state["length"] == 60
    assert dict(app.query_params) == {"seconds": "60"}


def test_a_model_that_was_trained_here_is_named_by_its_hash(app, tmp_path, monkeypatch):
    """Guards: a folder of this computer in an address that is sent to somebody."""
    folder = save_small(tmp_path / "mine", small_decoder())
    mine = TrainedModel(folder=folder, title="Mine", begun_s=0.0, written_s=1.0)
    monkeypatch.setattr(resources.studio().training, "models", lambda: (mine,))
    other = MusicPipeline.load(folder, device="cpu", engine="auto")
    app.query_params.update(model=other.sha256[:12])
    app.session_state["address_s"] = 0.0
    app.run()
    assert app.session_state["model"] == str(folder)
    assert dict(app.query_params) == {"model": other.sha256[:12]}

    take = other.generate(seconds=5, seed=8)
    upload(app, take.midi)
    app.button(key="again_go").click().run()
    settle(app)
    made = app.session_state["desk"].takes[-1]
    assert (made.midi, made.model) == (take.midi, str(folder))
