"""The page *Train*, without a browser: what is chosen, begun, shown, refused."""

from __future__ import annotations

import json
import os
import shutil
import time
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import mido
import pytest
from streamlit.testing.v1 import AppTest

from musicgen.assets import asset_dir
from musicgen.checkpoint import read_manifest, resolve_checkpoint
from musicgen.studio.desk import TrainingDesk
from musicgen.studio.estimates import Estimate, Trying
from musicgen.studio.orders import further_order, training_order
from musicgen.studio.places import HOME_VARIABLE, runs_folder
from musicgen.studio.runs import Runs
from musicgen.studio.status import State, TrainingStatus, without_options
from musicgen.training import TrainingRecipe
from musicgen.training.length import few_steps_notice
from musicgen.ui import resources, strings
from musicgen.ui import training_strings as words
from musicgen.ui.markup import plain
from musicgen.ui.views import corpus as corpus_view
from musicgen.ui.views import music as music_view
from pages import settle

NAME = "20260101-000000-" + 32 * "a"
LATER = "20260102-000000-" + 32 * "b"


@pytest.fixture
def home(tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(resources.MODEL_VARIABLE, str(tiny_model))
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    resources.studio.cache_clear()
    return tmp_path


def draw() -> None:
    import streamlit as st

    from musicgen.ui.views import train

    st.session_state["pages"] = {}
    train.page()


@pytest.fixture
def page() -> AppTest:
    return AppTest.from_function(draw, default_timeout=60)


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list:
    """Return a list of the orders that were given, none of which is begun."""
    orders: list = []

    def note(self: Runs, desk: TrainingDesk):
        orders.append(desk.order())
        desk.write_status(TrainingStatus(state="finished"))
        return self.view(desk.folder.name)

    monkeypatch.setattr(Runs, "_spawn", note)
    return orders


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> list[list[dict]]:
    """Return what the tables of files were given, one after the other."""
    given: list[list[dict]] = []
    monkeypatch.setattr(corpus_view, "files", given.append)
    return given


def lay_run(name: str, model: Path | None = None, **status) -> TrainingDesk:
    """Write down a run as its process would have."""
    desk = TrainingDesk(folder=runs_folder() / name)
    (desk.run / "best").mkdir(parents=True)
    desk.write_order(
        training_order("music", title=f"<b>{name[:8]}</b>", preset="tiny", minutes=2, begun_s=0.0)
    )
    desk.write_status(TrainingStatus(**status))
    steps = [{"step": step, "loss": 9.0 - step / 100} for step in range(1, 801)]
    validations = [
        {"step": 400, "validation_loss": 7.2, "validation_bits_per_note": 12.1},
        {"step": 800, "validation_loss": 7.5, "validation_bits_per_note": 12.5},
    ]
    lines = [json.dumps(line) for line in (*steps, *validations)]
    (desk.run / "metrics.jsonl").write_text("\n".join(lines) + '\n{"step": 801, "lo')
    if model is not None:
        for file in model.iterdir():
            (desk.run / "best" / file.name).write_bytes(file.read_bytes())
    return desk


def test_a_run_stands_as_its_files_say(home: Path, tiny_model: Path) -> None:
    lay_run(NAME, tiny_model, state="finished", step=800, steps=800, bits_per_note=12.5)
    lay_run(LATER, state="training", step=800, steps=900)
    room = resources.studio().training
    done, gone = room.standing(NAME), room.standing(LATER)
    assert done is not None
    assert gone is not None
    assert (done["state"], done["active"]) == ("finished", False)
    assert len(done["curve"]["steps"]) <= 300
    assert done["curve"]["steps"][-1] == 800
    # Guards a chart of bits an event beside a figure of bits a note.
    assert done["curve"]["held_out"] == (12.1, 12.5)
    assert done["curve"]["bits"][-1] == pytest.approx(1.0 * 12.1 / 7.2, abs=0.1)
    assert "bits a note" in words.BOARD["axes"]
    # Guards a figure of the last model beside a button that uses the best one.
    assert done["bits_per_note"] == 12.1
    # Guards a figure without anything to hold it against.
    beside = done["beside"]
    assert (round(beside["blind"], 1), beside["first"]) == (28.3, 12.1)
    assert 11 < beside["piano"] < 12
    # Nobody holds its lock: a page must not wait for a process that was killed.
    assert (gone["state"], gone["active"]) == ("lost", False)
    assert [model.folder.parent.parent.name for model in room.models()] == [NAME]
    assert room.standing("..") is None


@pytest.mark.parametrize(
    ("model", "name"), [("piano", "untouched"), ("some/folder", "before")], ids=["piano", "own"]
)
def test_fine_tuning_is_held_against_its_parent(home: Path, model: str, name: str) -> None:
    """Guards a yardstick of other music, the piano model's own, beside a fine-tuned model."""
    desk = lay_run(NAME, state="stopped", step=800, steps=900)
    desk.write_order(replace(desk.order(), start_from=model))
    with (desk.run / "metrics.jsonl").open("a") as file:  # also after a line that broke off
        file.write('\n{"step": 0, "parent_bits_per_note": 12.84, "corpus": "x"}\n')
    told = resources.studio().training.standing(NAME)
    assert told is not None
    assert {key: n for key, n in told["beside"].items() if n is not None} == {name: 12.84}
    assert len(told["curve"]["held_out"]) == 2, "it is no look of the run"


def test_what_is_shown_is_what_a_page_may_know(home: Path) -> None:
    """Guards NaN, infinities and paths in what is sent to a browser."""
    lay_run(NAME, state="failed", error="It broke.", hint="Mend it.")
    told = resources.studio().training.standing(NAME)
    assert str(home) not in json.dumps(told, allow_nan=False)


PLAN = TrainingRecipe(preset="small", minutes=2.0)
"""Of a run that is too short, told as the training tells it."""


@pytest.mark.parametrize("state", ["finished", "stopped", "failed", "training"])
@pytest.mark.parametrize(
    ("told", "step", "past"),
    [
        (
            few_steps_notice(PLAN, 40, 3.0),
            40,
            "Only 40 steps were done; below 300 a model learns little. "
            "Next time take 17 minutes or more, or the tiny size, which is faster.",
        ),
        (
            few_steps_notice(PLAN, 1, 0.1, goes_on=True),
            1,
            "Only 1 step was done; below 20 a model learns little. "
            "Next time take 3 minutes or more.",
        ),
        (few_steps_notice(PLAN, 40, 3.0), 0, ""),
    ],
    ids=["new", "on", "no-step"],
)
def test_a_run_that_is_over_speaks_of_its_few_steps_as_past(
    home: Path, state: State, told: str, step: int, past: str
) -> None:
    """Guards "Only 40 steps fit into the time" of a run that had ended, as of one to come."""
    before, after = "It begins with nothing.", "The music was read once."
    notice = without_options(f"{before} {told} {after}")
    assert "Only" in notice
    status = TrainingStatus(state=state, step=step, steps=40, notice=notice)
    said = resources.studio().training.standing(lay_run(NAME, **asdict(status)).folder.name)
    assert said is not None
    if state == "training":  # nobody holds its lock: the page finds it lost, and that is over too
        assert status.standing_notice == notice
    assert said["notice"] == " ".join(filter(None, (before, past, after)))


def test_a_run_stopped_before_its_first_step_learned_nothing(home: Path) -> None:
    """Guards "what it learned is kept" of a run that was stopped at its beginning."""
    lay_run(NAME, state="stopped")
    lay_run(LATER, state="stopped", step=3, steps=9)
    room = resources.studio().training
    told = [room.standing(name) or {} for name in (NAME, LATER)]
    assert [each["state"] for each in told] == ["empty", "stopped"]
    assert {"empty", "stopped"} <= set(words.BOARD["states"])


def test_an_empty_page_says_what_to_do(home: Path, page: AppTest) -> None:
    page.run()
    assert not page.exception
    assert words.EMPTY in [info.value for info in page.info]
    assert go(page).disabled


def test_files_become_an_order(
    home: Path, page: AppTest, begun: list, tables: list[list[dict]]
) -> None:
    page.run()
    files = sorted((asset_dir("data") / "starter").glob("*.mid"))[:3]
    given = [(file.name, file.read_bytes(), "audio/midi") for file in files]
    page.file_uploader[0].set_value(given).run()
    assert not page.exception
    assert page.file_uploader[0].value == [], "what was taken in is let go"
    assert [line["kept"] for line in tables[-1]] == [True] * 3
    page.button_group(key="train_size").set_value("tiny").run()
    n_tables = len(tables)
    go(page).click().run()
    assert not page.exception
    (order,) = begun
    assert (order.recipe.preset, order.recipe.minutes, order.start_from) == ("tiny", 20.0, None)
    assert order.recipe.sample_minutes is not None
    laid = sorted(Path(order.music).iterdir())
    assert [file.read_bytes() for file in laid] == [file.read_bytes() for file in files]
    assert Path(order.music).parent.parent == runs_folder()
    # The files are still on the page, so another run can be made of them, which has its own.
    assert len(tables) == n_tables, "the run is looked at now"
    assert "**3 files**" in "".join(caption.value for caption in page.caption)
    go(page).click().run()
    assert not page.exception
    assert len({order.music for order in begun}) == 2
    assert len(list(Path(begun[1].music).iterdir())) == 3
    next(b for b in page.button if b.label == words.CLEAR).click().run()
    assert go(page).disabled
    assert len(list(Path(begun[1].music).iterdir())) == 3


def test_a_run_is_called_after_the_files_that_are_used(
    home: Path, page: AppTest, begun: list, tables: list[list[dict]]
) -> None:
    """Guards "10 files" as the name of a run that used six."""
    files = sorted((asset_dir("data") / "starter").glob("*.mid"))[:3]
    given = [(file.name, file.read_bytes(), "audio/midi") for file in files]
    page.run()
    page.file_uploader[0].set_value([*given, ("page.mid", b"not music", "audio/midi")]).run()
    assert len(tables[-1]) == 4
    assert "**4 files**" in "".join(caption.value for caption in page.caption)
    go(page).click().run()
    assert begun[-1].title.startswith("3 files · ")
    # Before it is looked over nobody knows.
    page.session_state["train_seen"] = None
    go(page).click().run()
    assert begun[-1].title.startswith("4 files given · ")


def test_a_reload_finds_what_was_laid(
    home: Path, page: AppTest, monkeypatch: pytest.MonkeyPatch, tables: list[list[dict]]
) -> None:
    """Guards: a reload before the press on Train forgot the files."""
    visitor = 32 * "c"
    monkeypatch.setattr(music_view, "visitor", lambda: visitor)
    file = sorted((asset_dir("data") / "starter").glob("*.mid"))[0]
    page.run()
    page.file_uploader[0].set_value([(file.name, file.read_bytes(), "audio/midi")]).run()
    after = AppTest.from_function(draw, default_timeout=60).run()
    assert not go(after).disabled
    assert len(tables[-1]) == 1
    # More files are looked over, too: the folder has the same name then.
    second = sorted((asset_dir("data") / "starter").glob("*.mid"))[1]
    given = [(second.name, second.read_bytes(), "audio/midi")]
    after.file_uploader[0].set_value(given).run()
    assert len(tables[-1]) == 2


def test_the_form_shows_the_run_at_work(
    home: Path, page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards: a reload showed Small and 20 minutes while a tiny run of two trained."""
    desk = lay_run(NAME, state="starting")
    page.run()
    assert not page.exception
    size, time_ = page.button_group(key="train_size"), page.select_slider(key="train_minutes")
    assert (size.value, time_.value) == ("tiny", 2)
    assert (size.disabled, time_.disabled) == (True, True)
    assert page.text_input(key="train_path").value == "music"
    desk.write_status(TrainingStatus(state="finished"))
    page.run()
    size, time_ = page.button_group(key="train_size"), page.select_slider(key="train_minutes")
    assert (size.value, time_.value) == ("tiny", 2), "so another run can be made alike"
    assert (size.disabled, time_.disabled) == (False, False)


def test_the_shipped_model_can_be_begun_with(home: Path, page: AppTest, begun: list) -> None:
    page.session_state["train_music"] = words.FOLDER
    page.session_state["train_path"] = str(asset_dir("data") / "starter")
    page.session_state["train_begin"] = words.A_MODEL
    page.run()
    assert not any(group.key == "train_size" for group in page.button_group)
    go(page).click().run()
    assert begun[0].start_from == "piano"
    assert begun[0].music == str(asset_dir("data") / "starter")


def test_what_is_left_out_comes_first_and_names_are_text(
    home: Path, page: AppTest, tmp_path: Path, tables: list[list[dict]]
) -> None:
    """Guards codes in place of words, too: "duplicate 1", "drums-left-out"."""
    folder = tmp_path / "music"
    folder.mkdir()
    first = next((asset_dir("data") / "starter").glob("*.mid")).read_bytes()
    (folder / "a.mid").write_bytes(first)
    (folder / "b.mid").write_bytes(first)
    (folder / "c <script>.mid").write_bytes(b"<!DOCTYPE html><html></html>")
    page.session_state["train_music"] = words.FOLDER
    page.session_state["train_path"] = str(folder)
    page.run()
    assert not tables
    next(b for b in page.button if b.label == words.LOOK).click().run()
    table = tables[-1]
    assert [line["what"] for line in table] == ["the same file again", "a web page", "kept"]
    assert all(line["why"] for line in table)
    # Guards advice that came when the run was under way already.
    assert "little to learn music from" in page.info[0].value
    assert "--" not in page.info[0].value
    # Guards "its licence" without a word which.
    licence = read_manifest(resolve_checkpoint("piano")).licence
    assert licence
    assert plain(f"Its licence, {licence}, would then hold for the new one.") in page.info[0].value
    page.button_group(key="train_begin").set_value(words.A_MODEL).run()
    assert not page.info
    told = "".join(caption.value for caption in page.caption)
    assert plain("2 left out: the same file again (1), a web page (1).") in told


def test_a_warning_is_said_once(home: Path, page: AppTest, tmp_path: Path) -> None:
    """Guards warnings that stood twice above the table."""
    source = sorted((asset_dir("data") / "starter").glob("*.mid"))[0]
    score = mido.MidiFile(str(source))
    for track in score.tracks:
        for message in track:
            if message.type in ("note_on", "note_off"):
                message.note += 2
    for side in ("train", "dev"):
        (tmp_path / "music" / side).mkdir(parents=True)
    shutil.copy(source, tmp_path / "music" / "train" / "a.mid")
    score.save(str(tmp_path / "music" / "dev" / "b.mid"))
    page.session_state["train_music"] = words.FOLDER
    page.session_state["train_path"] = page.session_state["train_looked"] = str(tmp_path / "music")
    page.run()
    assert "".join(caption.value for caption in page.caption).count("on both sides") == 1


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nowhere", "There is no folder {path}. Check the path."),
        ("notes.txt", "{path} is a file, not a folder. Give the folder it lies in, or a zip"),
        ("~nobody-of-that-name/x", "There is no folder {path}."),
    ],
)
def test_a_folder_that_is_none_is_said_at_once(
    home: Path, page: AppTest, begun: list, name: str, told: str
) -> None:
    """Guards a button that took any text for a folder, and a traceback for ~ and no user."""
    (home / "notes.txt").write_text("x")
    path = name if name.startswith("~") else str(home / name)
    page.session_state["train_music"] = words.FOLDER
    page.run()
    page.text_input(key="train_path").set_value(path).run()
    assert not page.exception
    assert [each.value.startswith(plain(told.format(path=path))) for each in page.error] == [True]
    assert go(page).disabled
    assert next(b for b in page.button if b.label == words.LOOK).disabled
    page.text_input(key="train_path").set_value(str(asset_dir("data") / "starter")).run()
    assert not page.error
    assert not go(page).disabled
    assert begun == []


def test_a_zip_archive_is_music_like_a_folder(home: Path, page: AppTest, begun: list) -> None:
    """Guards an archive that was looked over, and then was no folder for Train."""
    file = next((asset_dir("data") / "starter").glob("*.mid"))
    with zipfile.ZipFile(home / "music.zip", "w") as archive:
        archive.write(file, file.name)
    page.session_state["train_music"] = words.FOLDER
    page.run()
    page.text_input(key="train_path").set_value(str(home / "music.zip")).run()
    go(page).click().run()
    assert not page.error
    assert [order.music for order in begun] == [str(home / "music.zip")]


def test_a_run_can_be_used_gone_on_with_and_removed(
    home: Path, page: AppTest, tiny_model: Path
) -> None:
    desk = lay_run(NAME, tiny_model, state="stopped", step=5, steps=10)
    lay_run(LATER, state="finished", step=9, steps=9)
    page.session_state["train_run"] = NAME
    page.run()
    assert not page.exception
    assert {words.USE, words.GO_ON, words.REMOVE_YES} <= {b.label for b in page.button}
    assert "<b>" not in "".join(m.value for m in page.markdown)
    next(b for b in page.button if b.label == words.REMOVE_YES).click().run()
    assert not desk.folder.exists()
    assert not page.exception


@pytest.mark.parametrize("label", [words.STOP, words.GO_ON])
def test_the_first_press_in_a_page_from_before_a_restart(
    home: Path, page: AppTest, monkeypatch: pytest.MonkeyPatch, label: str
) -> None:
    """Guards presses that a studio started anew did not hear: it knows no page's callbacks yet."""
    pressed: list[str] = []
    monkeypatch.setattr(Runs, "stop", lambda self, name: pressed.append(name))
    monkeypatch.setattr(Runs, "go_on", lambda self, name: pressed.append(name))
    desk = lay_run(NAME, state="starting" if label == words.STOP else "stopped")
    desk.ask_to_stop(False)
    page.run()
    button = next(b for b in page.button if b.label == label)
    after = AppTest.from_function(draw, default_timeout=60)
    after._run(button.click().root.get_widget_states())  # as the browser says it to a new session
    assert not after.exception
    assert pressed == [NAME]


def test_what_others_reach_does_not_train(
    home: Path, page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards a server's folders from whoever can open the page."""
    monkeypatch.setattr("musicgen.ui.launch.is_local", lambda host: False)
    page.run()
    assert [info.value for info in page.info] == [words.ELSEWHERE]
    assert not page.button


def test_a_trained_model_is_offered_in_create(home: Path, root: Path, tiny_model: Path) -> None:
    app = AppTest.from_file(str(root / "ui" / "app.py"), default_timeout=60).run()
    assert not any(box.label == strings.MODEL for box in app.selectbox)
    desk = lay_run(NAME, tiny_model, state="finished")
    app.run()
    app.selectbox(key="model").set_value(str(desk.run / "best")).run()
    app.session_state["length"] = 5
    next(b for b in app.button if b.label == strings.GENERATE).click().run()
    settle(app)
    assert not app.exception
    assert not app.error
    (piece,) = app.session_state["desk"].takes
    assert piece.model == str(desk.run / "best")
    # Its attention is asked of the model that made it; and a removed model is not offered any more.
    assert resources.studio().looking.gaze(piece) is not None
    resources.studio().training.runs.remove(NAME)
    app.run()
    assert not app.exception
    assert app.session_state["model"] == ""


@pytest.mark.parametrize("asked", [{}, {"seconds": "45"}])
def test_a_visit_begins_with_the_studio_s_model_and_models_of_one_name_are_told_apart(
    home: Path, root: Path, tiny_model: Path, asked: dict[str, str]
) -> None:
    """Guards: "Choose an option" where the shipped model is meant; one name twice in the list."""
    for name in (NAME, LATER):
        desk = lay_run(name, tiny_model, state="finished")
        order = json.loads((desk.folder / "order.json").read_text())
        order |= {"title": "mine", "begun_s": 0.0 if name == NAME else 60.0}
        (desk.folder / "order.json").write_text(json.dumps(order))
    app = AppTest.from_file(str(root / "ui" / "app.py"), default_timeout=60)
    app.query_params.update(asked)
    app.run()
    box = app.selectbox(key="model")
    assert box.index == 0
    assert box.options[0] == resources.studio().model
    assert box.options[1:] == [words.run_label("mine", begun_s) for begun_s in (60.0, 0.0)]
    assert len(set(box.options)) == 3


def go(page: AppTest):
    return next(button for button in page.button if button.label == words.GO)


def test_sizes_are_tried_out_at_a_press(
    home: Path, page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = (estimated("tiny", 900), estimated("medium", None))
    asked: list[str | None] = []
    stands = {"is_over": True, "is_reading": False, "seconds": 31.0}

    def try_sizes(folder: str, minutes: float, *, start_from: str | None) -> Iterator[Trying]:
        asked.append(start_from)
        yield Trying(files=7)
        yield Trying(found=tried if start_from is None else (estimated("piano", 40),), **stands)

    monkeypatch.setattr("musicgen.studio.estimates.try_sizes", try_sizes)
    page.session_state["train_music"] = words.FOLDER
    page.session_state["train_path"] = str(asset_dir("data") / "starter")
    page.run()
    next(b for b in page.button if b.label == words.LOOK).click().run()
    next(b for b in page.button if b.label == words.TRY).click().run()
    assert not page.exception
    table = page.dataframe[0].value
    assert list(table[words.SIZE]) == ["Tiny", "Medium"]
    assert list(table[words.COLUMN_STEPS]) == ["900", "–"]
    # Another time is another question.
    page.select_slider(key="train_minutes").set_value(60).run()
    assert not page.dataframe
    # Going on with a model can be tried, too.
    page.button_group(key="train_begin").set_value(words.A_MODEL).run()
    next(b for b in page.button if b.label == words.TRY).click().run()
    assert list(page.dataframe[0].value[words.SIZE]) == [words.A_MODEL]
    assert asked == [None, "piano"]
    # What was found until its time was up is told, and that it is not all.
    stands.update(is_over=False, is_late=True)
    next(b for b in page.button if b.label == words.TRY).click().run()
    assert len(page.dataframe) == 1
    assert "ended after 31 s" in page.info[0].value


def test_a_size_that_a_trial_did_not_reach_is_named(
    home: Path, page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards "a size that is missing here" said of the very size that was asked about."""
    found: list[Estimate] = [estimated("tiny", 900)]
    stands = {"is_reading": False, "seconds": 45.2, "is_late": True}

    def try_sizes(folder: str, minutes: float, *, start_from: str | None) -> Iterator[Trying]:
        yield Trying(found=tuple(found), **stands)

    monkeypatch.setattr("musicgen.studio.estimates.try_sizes", try_sizes)
    page.session_state["train_music"] = words.FOLDER
    page.session_state["train_path"] = str(asset_dir("data") / "starter")
    page.session_state["train_looked"] = page.session_state["train_path"]
    page.run()
    press = lambda: next(b for b in page.button if b.label == words.TRY).click().run()  # noqa: E731
    press()
    assert told_by(page, "Small was not reached in 45 s: it is slower than what is listed.")
    page.button_group(key="train_size").set_value("tiny").run()
    assert told_by(page, "A size that is missing here is slower")
    assert not told_by(page, "Tiny was not")
    found.clear()
    press()
    assert told_by(page, "Tiny was not reached in 45 s: a few steps take longer")
    stands["is_late"] = False
    press()
    assert told_by(page, "Tiny was not reached: the trial was ended before.")
    page.button_group(key="train_begin").set_value(words.A_MODEL).run()
    press()
    assert told_by(page, f"{words.A_MODEL} was not reached")


def told_by(page: AppTest, text: str) -> bool:
    return any(text in info.value for info in page.info)


def test_few_minutes_are_told_to_be_a_first_try(
    home: Path, page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards a warning that came once training was under way: the slider took 1 min silently."""

    def is_said() -> bool:
        return words.FIRST_TRY in [caption.value for caption in page.caption]

    page.session_state["train_music"] = words.FOLDER
    page.session_state["train_path"] = str(asset_dir("data") / "starter")
    page.session_state["train_looked"] = page.session_state["train_path"]
    page.run()
    assert not is_said()
    page.select_slider(key="train_minutes").set_value(5).run()
    assert is_said()
    page.button_group(key="train_begin").set_value(words.A_MODEL).run()
    assert not is_said()
    page.button_group(key="train_begin").set_value(words.NOTHING).run()
    # A trial knows better: of that size, in that time.
    verdict = Trying(found=(estimated("small", 900),), is_over=True, is_reading=False)
    page.session_state["train_sizes"] = ((page.session_state["train_path"], 5, False), verdict)
    page.run()
    assert not is_said()
    page.button_group(key="train_size").set_value("tiny").run()
    assert is_said()
    page.button_group(key="train_size").set_value("small").run()
    page.select_slider(key="train_minutes").set_value(2).run()
    assert is_said()
    page.select_slider(key="train_minutes").set_value(10).run()
    assert not is_said()
    # Nobody can choose while a run is at work.
    lay_run(NAME, state="starting")
    page.run()
    assert page.select_slider(key="train_minutes").value == 2
    assert not is_said()


def test_a_trial_ends_when_a_run_begins(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Guards a trial that computed on beside the run, and slowed it down."""
    ended: list[bool] = []

    def try_sizes(folder: str, minutes: float, *, start_from: str | None) -> Iterator[Trying]:
        try:
            while True:
                yield Trying()
        finally:
            ended.append(True)

    monkeypatch.setattr("musicgen.studio.estimates.try_sizes", try_sizes)
    monkeypatch.setattr(Runs, "start", lambda self, order: None)
    room = resources.studio().training
    trial = room.try_sizes("music", 20.0)
    assert next(trial)
    assert not ended
    room.start("music", title="a", size="tiny", minutes=1.0, begun_s=0.0)
    assert list(trial) == []
    assert ended


def draw_unless_elsewhere() -> None:
    import streamlit as st

    from musicgen.ui.views import train

    st.session_state["pages"] = {}
    if not st.session_state.get("elsewhere"):
        train.page()


def test_the_form_keeps_what_was_chosen_over_another_page(home: Path) -> None:
    """Guards Small and 20 minutes after a look at Create: Streamlit forgets what is not drawn."""
    page = AppTest.from_function(draw_unless_elsewhere, default_timeout=60).run()
    page.button_group(key="train_size").set_value("tiny").run()
    page.select_slider(key="train_minutes").set_value(60).run()
    page.toggle(key="train_until").set_value(True).run()
    assert words.at_most(60) in [each.value for each in page.caption]
    page.session_state["elsewhere"] = True
    page.run()
    assert "train_size" not in page.session_state
    page.session_state["elsewhere"] = False
    page.run()
    assert page.button_group(key="train_size").value == "tiny"
    assert page.select_slider(key="train_minutes").value == 60
    assert page.toggle(key="train_until").value is True


def test_a_folder_is_kept_over_another_page(home: Path) -> None:
    """Guards a path that was gone after a look at Create: the browser that comes back tells ""."""
    page = AppTest.from_function(draw_unless_elsewhere, default_timeout=60).run()
    page.button_group(key="train_music").set_value(words.FOLDER).run()
    page.text_input(key="train_path").set_value(str(asset_dir("data") / "starter")).run()
    page.session_state["elsewhere"] = True
    page.run()
    page.session_state["elsewhere"] = False
    page.session_state["train_path"] = ""
    page.run()
    assert page.text_input(key="train_path").value == str(asset_dir("data") / "starter")
    assert not go(page).disabled
    # On the page itself it can be emptied.
    page.text_input(key="train_path").set_value("").run()
    assert page.text_input(key="train_path").value == ""
    assert go(page).disabled


def test_a_run_may_end_where_it_does_not_improve(home: Path, page: AppTest, begun: list) -> None:
    page.session_state["train_music"] = words.FOLDER
    page.session_state["train_path"] = str(asset_dir("data") / "starter")
    page.session_state["train_until"] = True
    page.run()
    go(page).click().run()
    assert not page.exception
    assert begun[0].recipe.patience == 5
    assert begun[0].title.endswith("20 min at most")


def test_a_finished_run_can_be_gone_on_with(
    home: Path, page: AppTest, begun: list, tiny_model: Path
) -> None:
    """Guards a model of one step, of a minute on a busy machine, that was a dead end."""
    desk = lay_run(NAME, tiny_model, state="finished", step=1, steps=1)
    page.run()
    assert not page.exception
    page.select_slider(key="train_more").set_value(60).run()
    next(b for b in page.button if b.label == words.more(60)).click().run()
    assert not page.exception
    (order,) = begun
    assert order.start_from == str(desk.run / "best")
    assert (order.recipe.preset, order.recipe.minutes) == ("tiny", 60.0)
    assert order.recipe.learning_rate == desk.order().recipe.learning_rate
    assert (order.music, order.after) == ("music", desk.order().title)
    assert order.title == words.child_title(desk.order().title, 60)
    assert page.session_state["train_run"] != NAME, "the new run is looked at"
    # One that has learned something does not need the whole rate again.
    later = further_order(desk.order(), "m", steps=800, title="", minutes=5.0, begun_s=0.0)
    assert later.recipe.learning_rate == desk.order().recipe.learning_rate / 2
    assert later.recipe.early_seq_len is None


def test_measuring_says_how_long_it_has_taken(home: Path) -> None:
    desk = lay_run(NAME, state="measuring")
    os.utime(desk.folder / "status.json", (time.time() - 12, time.time() - 12))
    told = resources.studio().training.standing(NAME)
    assert told is not None
    assert 12 <= told["told_s"] <= 14
    assert "{told_s}" in words.BOARD["states"]["measuring"]


def estimated(size: str, steps: int | None) -> Estimate:
    return Estimate(
        size=size,
        parameters=1_000_000,
        verdict="fits",
        seconds_per_step=None if steps is None else 0.5,
        steps=steps,
        epochs=None if steps is None else 1.5,
        memory_bytes=None if steps is None else 10**9,
    )
