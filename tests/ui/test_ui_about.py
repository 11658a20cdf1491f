"""About a model: licence, music and card are told where the page names the model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from musicgen.assets import asset_dir
from musicgen.studio.desk import TrainingDesk
from musicgen.studio.model_facts import model_facts
from musicgen.studio.orders import training_order
from musicgen.studio.places import runs_folder
from musicgen.ui import about_strings as strings
from musicgen.ui import resources
from pages import settle

NAME = "20260101-120000-" + "a" * 32


def told(app: AppTest) -> str:
    return "\n".join(each.value for each in app.markdown)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MUSICGEN_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def page(root: Path, monkeypatch: pytest.MonkeyPatch, model: str) -> AppTest:
    monkeypatch.setenv(resources.MODEL_VARIABLE, model)
    resources.studio.cache_clear()
    return AppTest.from_file(str(root / "ui" / "app.py"), default_timeout=60).run()


def test_the_shipped_model_tells_its_licence_its_music_and_its_card(home, root, monkeypatch):
    """Guards: a card and a licence that no page of the app leads to."""
    app = page(root, monkeypatch, "piano")
    assert strings.CARD not in [each.label for each in app.expander]
    app.button(key="about_model").click().run()
    assert not app.exception
    said = told(app)
    assert strings.LICENCES["CC-BY-NC-SA-4.0"] in said
    assert strings.CORPORA["maestro"] in said
    assert "967 pieces" in said
    assert "11.49 on music that was kept from it" in said
    assert strings.CARD in [each.label for each in app.expander]
    card = (asset_dir("checkpoints") / "piano" / "README.md").read_text(encoding="utf-8")
    assert card.rpartition("**What it does not do.**")[2].strip() in said
    assert "![" not in said  # the picture has no address on the page


def test_a_model_that_was_trained_here_tells_what_its_run_knows(
    home, root, tiny_model, monkeypatch
):
    desk = TrainingDesk(folder=runs_folder() / NAME)
    (desk.run / "best").mkdir(parents=True)
    desk.write_order(
        training_order("music", title="<b>Own</b>", preset="tiny", minutes=2, begun_s=0.0)
    )
    for file in tiny_model.iterdir():
        (desk.run / "best" / file.name).write_bytes(file.read_bytes())
    manifest = json.loads((desk.run / "best" / "manifest.json").read_text())
    manifest |= {"step": 1200, "licence": "CC-BY-NC-SA-4.0"}
    manifest["training"] = {
        "pieces": 7,
        "notes": 4321,
        "parent_name": "piano",
        "validation_bits_per_note": 9.876,
        "gain": {"before_bits_per_note": 10.5},
    }
    (desk.run / "best" / "manifest.json").write_text(json.dumps(manifest))
    (desk.run / "best" / "README.md").write_text("# Foreign\n\n[a link](http://elsewhere)")
    app = page(root, monkeypatch, str(tiny_model))
    app.selectbox(key="model").set_value(str(desk.run / "best")).run()
    app.button(key="about_model").click().run()
    assert not app.exception
    said = told(app)
    assert r"\<b\>Own\<\/b\>" in said  # a title is text
    assert "7 pieces, 4,321 notes" in said
    assert "1,200 steps, begun with the model piano" in said
    assert "9.88" in said
    assert "10.50" in said
    assert strings.MORE_MUSIC in said
    assert "elsewhere" not in said  # the card of a run is foreign text


def test_a_take_tells_of_the_model_that_made_it(app):
    app.session_state["length"] = 5
    app.button(key="go").click().run()
    settle(app)
    app.button(key="about_take").click().run()
    assert not app.exception
    assert strings.NO_LICENCE in told(app)
    assert strings.ELSEWHERE in told(app)


def test_a_model_that_tells_little_tells_that_much(tiny_model):
    facts = model_facts(tiny_model)
    assert (facts.n_pieces, facts.bits_per_note, facts.card, facts.curve) == (0, None, "", None)
