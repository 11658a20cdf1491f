"""The page's logic, without a browser: settings, jobs, uploads, errors as sentences."""

from __future__ import annotations

import io
import re
import time

import mido
import pytest
from streamlit.testing.v1 import AppTest

from musicgen.ui import recipe_strings, resources, strings
from musicgen.ui.pieces import from_upload
from musicgen.ui.shelf import Shelf
from musicgen.ui.state import Desk
from musicgen.ui.views import create, takes
from musicgen.ui.views.settings import lacking
from pages import settle


def button(app: AppTest, label: str):
    return next(b for b in app.button if b.label == label)


def labels(app: AppTest) -> set[str]:
    return {b.label for b in app.button}


def captions(app: AppTest) -> str:
    return "\n".join(caption.value for caption in app.caption)


def upload(app: AppTest, name: str, data: bytes) -> AppTest:
    if not app.file_uploader:
        app.button_group(key="start").set_value(strings.YOUR_MIDI).run()
    return app.file_uploader(key="upload").set_value((name, data, "audio/midi")).run()


def test_an_empty_page_offers_examples_and_one_button(app):
    assert not app.exception
    assert strings.GENERATE in labels(app)
    assert strings.STOP not in labels(app)


def test_generate_makes_a_take_with_its_seed(app):
    app.session_state["length"] = 5
    app.session_state["seed"] = 42
    button(app, strings.GENERATE).click().run()
    assert strings.GENERATE not in labels(app)
    settle(app)
    assert not app.exception
    assert not app.error
    assert "seed 42" in captions(app)
    assert re.search(r"made in \d+\.\d s$", captions(app), re.MULTILINE)
    assert app.session_state["desk"].takes[0].take.seed == 42


def test_a_screen_reader_hears_what_the_dice_do(app):
    """Guards: a button that is announced as "casino icon"."""
    assert app.button(key="dice").label == strings.DICE
    app.button(key="dice").click().run()
    assert app.number_input(key="seed").value is not None


def test_settings_are_kept_and_the_job_goes_on_while_they_are_touched(app):
    app.session_state["length"] = 20
    button(app, strings.GENERATE).click().run()
    app.slider(key="variety").set_value(1.2).run()
    job = app.session_state["desk"].job
    settle(app)
    assert job is None or job.order.temperature == 1.0
    assert app.slider(key="variety").value == 1.2
    assert len(app.session_state["desk"].takes) == 1


def test_stop_keeps_what_is_there(app):
    app.session_state["length"] = 120
    button(app, strings.GENERATE).click().run()
    desk = app.session_state["desk"]
    until = time.monotonic() + 30
    while desk.job.state != "running" and time.monotonic() < until:
        time.sleep(0.02)
    button(app, strings.STOP).click().run()
    settle(app)
    take = desk.takes[0].take
    assert take.finish_reason in ("stopped", "length")
    assert take.notes > 0


def test_an_upload_is_shown_at_once_and_gone_on_from(app, music):
    upload(app, "études.MID", music)
    assert not app.error
    assert "48 notes" in captions(app)
    desk = app.session_state["desk"]
    app.number_input(key="use_exactly").set_value(7.3).run()
    assert desk.prompt.preview.end_s == pytest.approx(7.3)
    assert app.slider(key="use").value == 7
    app.slider(key="use").set_value(4).run()
    assert app.number_input(key="use_exactly").value == 4.0
    assert desk.prompt.preview.end_s == pytest.approx(4.0)
    app.session_state["length"] = 5
    button(app, strings.CONTINUE).click().run()
    settle(app)
    take = desk.takes[0].take
    assert take.prompt_notes == 16
    assert take.prompt_seconds == pytest.approx(4.0)
    assert desk.takes[0].prompt_end_s == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("name", "data"),
    [("bad.mid", b"MThd nonsense"), ("song.exe", b"MZ" + bytes(100)), ("empty.mid", b"")],
)
def test_a_bad_upload_is_a_sentence_and_costs_nothing(app, music, name, data):
    upload(app, "good.mid", music)
    desk = app.session_state["desk"]
    before = desk.prompt
    upload(app, name, data)
    assert not app.exception
    assert len(app.error) == 1
    assert app.error[0].value.strip().endswith(".")
    assert desk.prompt is before
    assert not button(app, strings.CONTINUE).disabled
    assert "48 notes" in captions(app)
    assert "Still used: **good\\.mid**" in app.error[0].value, "two names stand there"
    assert "Used: **good\\.mid** · 48 notes" in captions(app)
    upload(app, "good.mid", music)
    assert "Used:" not in captions(app)


def test_only_the_part_that_is_used_is_remarked_upon(app, band):
    """Guards: "600 drum notes" of a file of which half a minute without any is used."""
    upload(app, "band.mid", band)
    assert "drum notes" in captions(app)
    app.slider(key="use").set_value(4).run()
    assert "drum notes" not in captions(app)


def keys_file(*pitches: int, channel: int = 0) -> bytes:
    """Return a MIDI file of keys one after the other."""
    track = mido.MidiTrack()
    for pitch in pitches:
        track.append(mido.Message("note_on", note=pitch, channel=channel, time=0))
        track.append(mido.Message("note_off", note=pitch, channel=channel, time=240))
    stored = io.BytesIO()
    mido.MidiFile(tracks=[track]).save(file=stored)
    return stored.getvalue()


@pytest.mark.parametrize(
    ("pitches", "channel", "outside"),
    [((10, 20, 60, 120, 127), 0, 4), ((21, 60, 108), 0, 0), ((10, 60), 9, 0), ((109,), 0, 1)],
)
def test_keys_that_no_piano_has_are_told(app, pitches, channel, outside):
    """Guards: a file of which a piano could play nothing, taken without a word."""
    upload(app, "wide.mid", keys_file(*pitches, channel=channel))
    assert not app.exception
    told = [each for each in captions(app).splitlines() if "outside a piano" in each]
    assert len(told) == (1 if outside else 0)
    if outside:
        assert recipe_strings.outside_keys(outside) in told[0]


def notes_file(*times_s: tuple[float, float], channel: int = 0) -> bytes:
    """Return a MIDI file of notes from … to …, at 120 quarters a minute."""
    track = mido.MidiTrack()
    now = 0
    for begin, end in times_s:
        for at, kind in ((begin, "note_on"), (end, "note_off")):
            at = round(at * 960)
            track.append(mido.Message(kind, note=42, channel=channel, time=at - now))
            now = at
    file = mido.MidiFile(ticks_per_beat=480)
    file.tracks.append(track)
    stored = io.BytesIO()
    file.save(file=stored)
    return stored.getvalue()


def test_from_drums_alone_nothing_goes_on_and_it_is_said_why(app, band):
    """Guards: Continue, and only then "use more of the file", where that could not help."""
    upload(app, "beat.mid", notes_file((0.0, 0.2), (1.0, 1.2), channel=9))
    assert button(app, strings.CONTINUE).disabled
    assert strings.DRUMS_ONLY in captions(app)
    assert not app.exception
    desk = app.session_state["desk"]
    takes.act(resources.studio(), desk, {"do": "on", "id": desk.prompt.id, "at": 0.5})
    assert desk.job is None
    upload(app, "band.mid", band)
    assert not button(app, strings.CONTINUE).disabled
    assert strings.DRUMS_ONLY not in captions(app)


def test_drums_that_music_comes_after_are_told_from_drums_alone(tmp_path, band):
    drums = from_upload(notes_file((0.0, 0.2), channel=9), name="beat.mid")
    desk = Desk(Shelf(tmp_path))
    assert lacking(desk) == strings.UPLOAD_FIRST
    desk.lay(from_upload(band, name="band.mid"), drums, 1.0)
    assert lacking(desk) == strings.DRUMS_ONLY_YET


@pytest.mark.parametrize(("end_s", "used_s"), [(30.7, None), (32.9, None), (33.2, 30.0)])
def test_of_a_file_that_is_hardly_longer_than_half_a_minute_all_is_used(app, end_s, used_s):
    """Guards: a take of half a minute that is gone on from without its last chord."""
    upload(app, "take.mid", notes_file((0.0, 0.4), (end_s - 0.5, end_s)))
    desk = app.session_state["desk"]
    assert desk.used_s == used_s
    assert desk.prompt.preview.end_s == pytest.approx(used_s or end_s, abs=0.01)


def test_a_reload_finds_the_length_again(app):
    """Guards: a length that goes back to half a minute when the page is loaded anew."""
    app.slider(key="length").set_value(60).run()
    app.slider(key="variety").set_value(1.2).run()
    desk = app.session_state["desk"]
    again = AppTest.from_file(app._script_path, default_timeout=60)
    again.session_state["desk"] = desk
    again.run()
    assert again.slider(key="length").value == 60
    assert again.slider(key="variety").value == 1.2


def test_a_page_that_is_opened_anew_shows_what_was_open(app, monkeypatch):
    """Guards: the newest take in place of the one that was looked at, after a visit elsewhere."""
    app.session_state["length"] = 5
    for _ in range(2):
        button(app, strings.GENERATE).click().run()
        settle(app)
    desk = app.session_state["desk"]
    first, _ = desk.takes
    app.session_state["show"] = first.id
    app.run()
    again = AppTest.from_file(app._script_path, default_timeout=60)
    again.session_state["desk"] = desk
    shown = []
    monkeypatch.setattr(create, "roll", lambda piece, **_: shown.append(piece["id"]))
    again.run()
    assert shown == [first.id]


def test_a_newcomer_who_finds_every_desk_busy_is_told_so(app, monkeypatch):
    from musicgen.errors import MusicgenError

    def full():
        raise MusicgenError(strings.ALL_DESKS_BUSY, hint=strings.ALL_DESKS_BUSY_HELP)

    monkeypatch.setattr(create, "_desk", full)
    app.run()
    assert not app.exception
    assert strings.ALL_DESKS_BUSY in app.warning[0].value
    assert strings.GENERATE not in labels(app)


def test_a_second_page_is_told_that_a_piece_is_being_made(app, monkeypatch):
    """Guards: a click in a second tab that is swallowed without a word, and plays there too."""
    desk, shared = app.session_state["desk"], resources.studio()
    monkeypatch.setattr(shared.workshop, "submit", lambda job: job)  # it waits for ever
    other = AppTest.from_file(app._script_path, default_timeout=60)
    other.session_state["desk"] = desk
    other.run()
    shown = []
    monkeypatch.setattr(create, "roll", lambda piece, **_: shown.append(piece))
    for page, is_mine in ((app, True), (other, False), (app, True)):
        go = next((b for b in page.button if b.key == "go"), None)
        if go is not None:
            go.click()
        page.run()
        assert shown[-1]["id"] == desk.job.id
        assert shown[-1]["mine"] is is_mine
        assert (strings.BEING_MADE in [info.value for info in page.info]) is not is_mine
    desk.job.finish(None)


def test_without_a_file_there_is_nothing_to_continue(app):
    app.button_group(key="start").set_value(strings.YOUR_MIDI).run()
    assert button(app, strings.CONTINUE).disabled


def test_the_file_survives_scratch_and_can_be_removed(app, music):
    upload(app, "good.mid", music)
    app.button_group(key="start").set_value(strings.SCRATCH).run()
    app.button_group(key="start").set_value(strings.YOUR_MIDI).run()
    assert "48 notes" in captions(app)
    app.button(key="remove").click().run()
    assert app.session_state["desk"].prompt is None


def test_a_missing_model_is_a_sentence(monkeypatch, root, tmp_path):
    monkeypatch.setenv(resources.MODEL_VARIABLE, str(tmp_path / "nowhere"))
    resources.studio.cache_clear()
    app = AppTest.from_file(str(root / "ui" / "app.py"), default_timeout=60).run()
    button(app, strings.GENERATE).click().run()
    settle(app)
    assert not app.exception
    assert len(app.error) == 1
    assert "nowhere" in app.error[0].value
    assert strings.GENERATE in labels(app)


def test_a_failing_synthesizer_leaves_notes_and_midi(app, monkeypatch):
    from musicgen.errors import AudioError

    def broken(midi, kind):
        raise AudioError("The synthesizer is broken.", hint="Use the MIDI file elsewhere.")

    monkeypatch.setattr(resources.studio().shelf, "_play", broken)
    app.session_state["length"] = 5
    button(app, strings.GENERATE).click().run()
    settle(app)
    piece = app.session_state["desk"].takes[0]
    with pytest.raises(AudioError):
        resources.studio().shelf.sound(piece.id, "wav")
    app.run()
    assert not app.exception
    assert "synthesizer" in app.warning[0].value
    assert not next(d for d in app.get("download_button") if d.label == "MIDI").disabled
