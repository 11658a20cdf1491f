"""The roll and its attention in a real Chromium: mute, bars, keys, arcs both ways, maps, files.

One server, one page and one file for all: each test leaves the page as the next one can use it.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import mido
import pytest

from browsers import faults_on, opened
from musicgen.ui import roll_strings, strings

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page, Route

pytestmark = pytest.mark.browser

PATIENCE_MS = 30_000
# Playwright's selectors see into the component's shadow; scripts have to walk there.
DEEP = (
    "[...document.querySelectorAll('*')]"
    ".map((e) => e.shadowRoot?.querySelector('{}')).find(Boolean)"
)
AUDIO = DEEP.format(".mg audio")
# How many pixels of a canvas are of the playhead's red, within a little.
REDS = """(canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let found = 0;
  for (let i = 0; i < data.length; i += 4) {
    const away = [196, 49, 75].reduce((sum, c, k) => sum + Math.abs(data[i + k] - c), 0);
    if (data[i + 3] > 200 && away < 24) found++;
  }
  return found;
}"""


@pytest.fixture(scope="module")
def trio() -> bytes:
    """Return a file of 24 bars of 3/4 for three instruments, one with a hostile name."""
    file = mido.MidiFile(ticks_per_beat=480)
    for number, name in enumerate(("<b>Lead</b>", "Bass", "")):
        track = mido.MidiTrack()
        file.tracks.append(track)
        if not number:
            track.append(mido.MetaMessage("time_signature", numerator=3, denominator=4, time=0))
            track.append(mido.MetaMessage("set_tempo", tempo=500_000, time=0))
        if name:
            track.append(mido.MetaMessage("track_name", name=name, time=0))
        track.append(mido.Message("program_change", channel=number, program=32 * number, time=0))
        for beat in range(72):
            key = 72 - 18 * number + (0, 4, 7, 5)[beat % 4]
            track.append(
                mido.Message("note_on", channel=number, note=key, velocity=50 + beat % 60, time=0)
            )
            track.append(mido.Message("note_off", channel=number, note=key, time=480))
    stored = io.BytesIO()
    file.save(file=stored)
    return stored.getvalue()


@pytest.fixture(scope="module")
def page(chromium: str, app_url: str, trio: bytes) -> Iterator[Page]:
    for browser in opened(chromium, []):
        page = browser.new_page(viewport={"width": 1360, "height": 1800}, accept_downloads=True)
        faults = faults_on(page)
        page.set_default_timeout(PATIENCE_MS)
        page.goto(app_url)
        page.locator(".mg").wait_for()
        page.get_by_role("radio", name="Your MIDI").click()
        page.locator("input[type=file]").set_input_files(
            {"name": "trio.mid", "mimeType": "audio/midi", "buffer": trio}
        )
        page.locator(".mg .over[aria-label*='trio.mid']").wait_for()
        page.wait_for_function(f"() => ({AUDIO})?.readyState >= 1")
        yield page
        assert faults == []


def track(page: Page, name: str) -> Locator:
    return page.locator(".mg .legend").get_by_role("button", name=name)


def chosen(page: Page, presses: int = 20, *, is_deep: bool = True) -> Locator:
    """Choose a note by the keyboard, and return the panel that tells of it.

    Args:
        page: The page.
        presses: The note's place, counted from 1.
        is_deep: Whether the large map and the habits are to be open.
    """
    page.locator(".mg .over").focus()
    page.keyboard.press("Escape")
    page.keyboard.press("Home")
    for _ in range(presses):
        page.keyboard.press(".")
    page.locator(f".mg .gaze[data-note='{presses - 1}'] .looks li").first.wait_for()
    more = page.locator(".mg .gaze .more")
    if (more.get_attribute("aria-expanded") == "true") is not is_deep:
        more.click()
    return page.locator(".mg .gaze")


def test_the_whole_piece_is_read_before_a_note_is_chosen(page):
    """Guards: an overview of layers and heads that opens only with a note."""
    strip = page.locator(".mg .gaze .strip")
    strip.locator(".said").get_by_text("over all 180 notes that it heard").wait_for()
    assert page.locator(".mg .gaze .body").is_hidden()
    tiles = strip.locator(".tiles")
    box = tiles.bounding_box()
    tiles.hover(position={"x": box["width"] - 8, "y": box["height"] - 8})
    strip.get_by_text("Layer 2, head 8: ").wait_for()
    tiles.click(position={"x": box["width"] - 8, "y": box["height"] - 8})
    page.locator(".mg .large figcaption").get_by_text("Layer 2, head 8").wait_for()
    assert page.locator(".mg .save-arcs").is_hidden()
    assert page.locator(".mg .habit-table tbody tr").count() == 9  # eight heads, and chance
    page.locator(".mg .heads").get_by_role("button", name="All").click()
    strip.get_by_role("button", name="Less").click()
    page.locator(".mg .gaze .body").wait_for(state="hidden")
    # Guards words on a phone about maps that are folded away there, and that one points at.
    said, size = strip.locator(".said"), page.viewport_size
    page.set_viewport_size({"width": 390, "height": 844})
    said.get_by_text("“Maps and habits” shows a map of each").wait_for()
    assert tiles.is_hidden()
    page.set_viewport_size(size)
    said.get_by_text("Choose one to see it large").wait_for()


def test_a_muted_track_is_neither_heard_nor_strong_on_the_roll(page):
    """Guards a mute that only hides, and a track's name that becomes HTML."""
    lead = track(page, "<b>Lead</b>")
    assert lead.get_attribute("aria-pressed") == "true"
    lead.click()
    page.wait_for_function(f"() => ({AUDIO}).currentSrc.includes('/without/1.wav')")
    assert lead.get_attribute("aria-pressed") == "false"
    page.locator(".mg .status").get_by_text("Muted: <b>Lead</b>").wait_for()
    page.wait_for_function(f"() => ({AUDIO}).readyState >= 1")
    page.wait_for_timeout(500)  # remarks on the sound came over it
    assert page.locator(".mg .status").inner_text() == "Muted: <b>Lead</b>"

    page.locator(".mg .over").focus()
    page.keyboard.press("Shift+Digit2")  # the bass alone
    page.wait_for_function(f"() => ({AUDIO}).currentSrc.includes('/without/5.wav')")
    page.keyboard.press("2")
    assert page.evaluate(f"() => ({AUDIO}).muted")
    page.keyboard.press("u")
    page.wait_for_function(f"() => !({AUDIO}).muted && ({AUDIO}).currentSrc.endsWith('.wav')")
    page.wait_for_function(f"() => !({AUDIO}).currentSrc.includes('without')")
    assert page.locator(".mg .legend [aria-pressed=true]").count() == 3


def test_bars_and_beats_or_seconds(page):
    time = page.locator(".mg .time")
    page.locator(".mg .over").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")  # two seconds: four beats of 3/4
    time.get_by_text("2.2 · 0:02.0").wait_for()
    page.keyboard.press("b")
    time.get_by_text("0:02.0 / 0:30.0", exact=True).wait_for()
    page.keyboard.press("b")
    time.get_by_text("2.2 ·").wait_for()
    page.keyboard.press("Home")


def test_how_loud_it_sounds_stays_as_it_was_left(page):
    """Guards: a player that knows all or nothing; a knob that a reload forgets."""
    slider, audio = page.get_by_role("slider", name="Volume"), f"({AUDIO}).volume"
    page.locator(".mg .over").focus()
    page.keyboard.press("Shift+ArrowDown")
    slider.focus()
    page.keyboard.press("ArrowDown")
    assert slider.get_attribute("aria-valuetext") == "90 %"
    assert 0.8 < page.evaluate(audio) < 0.82
    mute = page.get_by_role("button", name="Mute")
    mute.click()
    assert mute.get_attribute("aria-pressed") == "true"
    assert page.evaluate(audio) == 0
    kept = page.evaluate("JSON.parse(localStorage['musicgen:volume'])")
    assert kept == {"level": 90, "muted": True}
    mute.click()
    assert 0.8 < page.evaluate(audio) < 0.82


def test_all_keys_are_listed_and_the_list_can_be_left(page):
    page.locator(".mg .over").focus()
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys of the piano roll")
    dialog.wait_for()
    assert dialog.locator("dt").count() == dialog.locator("dd").count() >= 15
    page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")


def test_a_note_s_looks_both_ways_alone_and_as_one(page):
    panel = chosen(page)
    looks = panel.locator(".looks li")
    assert looks.count() == 8
    assert looks.first.inner_text().startswith("Head 1 look")
    page.keyboard.press("w")
    assert "looks at it" in looks.first.inner_text()
    panel.get_by_role("button", name="what it looked at").click()
    panel.get_by_role("button", name="their mean").click()
    assert looks.count() == 1
    assert looks.inner_text().startswith("All heads (their mean) look")
    panel.locator(".layers").get_by_role("button", name="All").click()
    assert panel.get_by_role("button", name="each head").is_disabled()
    panel.locator(".layers").get_by_role("button", name="1").click()
    panel.get_by_role("button", name="each head").click()
    panel.get_by_role("button", name="Solo").click()
    panel.locator(".heads [data-head='4']").click()
    assert panel.locator(".heads [data-head][aria-pressed=true]").count() == 1
    assert looks.count() == 1
    panel.get_by_role("button", name="Solo").click()
    assert looks.count() == 8, "without Solo all that were shown are back"


def test_more_looks_are_more_arcs(page):
    panel = chosen(page, 40)
    panel.get_by_role("button", name="None").click()
    panel.locator(".heads [data-head='4']").click()
    with page.expect_download() as waiting:
        panel.locator(".save-arcs [data-form=csv]").click()
    few = list(csv.DictReader(io.StringIO(waiting.value.path().read_text("utf-8"))))
    panel.locator(".count").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    with page.expect_download() as waiting:
        panel.locator(".save-arcs [data-form=csv]").click()
    more = list(csv.DictReader(io.StringIO(waiting.value.path().read_text("utf-8"))))
    assert (len(few), len(more)) == (3, 6)
    assert more[:3] == few
    assert waiting.value.suggested_filename == "musicgen-trio-mid-arcs.csv"


def test_a_note_leaves_the_page_short_until_more_is_asked_for(page):
    """Guards: one click on a note that pushes downloads and takes a page and a half down."""
    panel = chosen(page, is_deep=False)
    deep = panel.locator(".seen, .habits, .name-habits, .scroll, .habits-help")
    assert deep.count() == 5
    assert not any(part.is_visible() for part in deep.all())
    for name in (".tiles", ".looks li", ".heads", ".to-lab"):
        assert panel.locator(name).first.is_visible()
    short = panel.bounding_box()["height"]
    assert short < 700
    panel.get_by_role("button", name=roll_strings.ROLL["moreMaps"]).click()
    panel.locator(".habits li").first.wait_for()
    assert panel.locator(".map").is_visible()
    assert panel.bounding_box()["height"] > short + 300
    assert page.evaluate("sessionStorage['musicgen:maps']") == "1"
    panel.get_by_role("button", name=roll_strings.ROLL["fewerMaps"]).click()
    assert page.evaluate("sessionStorage['musicgen:maps']") == "0"
    assert panel.locator(".looks li").first.is_visible()


def test_habits_are_told_and_shade_the_overview(page):
    panel = chosen(page)
    assert panel.locator(".habits li").count() == 8
    kinds = panel.locator(".shade option").all_inner_texts()
    assert "notes one bar back" in kinds
    before = panel.locator(".tiles").screenshot()
    panel.locator(".shade").select_option("bar")
    assert panel.locator(".tiles").screenshot() != before
    panel.locator(".shade").select_option("maps")


def test_the_large_map_and_the_roll_point_at_each_other(page):
    panel = chosen(page)
    large, caption = panel.locator(".map"), panel.locator(".large figcaption")
    page.wait_for_timeout(300)
    over = page.locator(".mg .over")
    quiet = over.evaluate(REDS)
    box = large.bounding_box()
    large.hover(position={"x": 120, "y": box["width"] * 0.6})
    assert "looks at" in caption.inner_text()
    assert "bar " in caption.inner_text()
    page.wait_for_timeout(100)
    assert over.evaluate(REDS) > quiet
    large.focus()
    said = caption.inner_text()
    page.keyboard.press("ArrowUp")
    assert caption.inner_text() != said
    name = page.locator(".mg .status").inner_text()
    page.keyboard.press("Enter")
    page.wait_for_function(
        f"(name) => ({DEEP.format('.mg .status')}).textContent !== name", arg=name
    )
    panel.get_by_role("button", name="averages by bar").click()
    large.hover(position={"x": 120, "y": box["width"] * 0.6})
    caption.get_by_text(re.compile(r"bar \d+ gives \d+% of its attention to bar \d+")).wait_for()
    panel.get_by_role("button", name="events").click()
    large.hover(position={"x": 120, "y": box["width"] - 69})  # the last row, which is no note
    caption.get_by_text("the end of the piece looks at").wait_for()


@pytest.mark.parametrize("view", ["arcs", "map", "overview"])
def test_every_view_is_taken_home(page, view):
    panel = chosen(page)
    for form, head in (("png", b"\x89PNG"), ("svg", b"<?xml")):
        with page.expect_download() as waiting:
            panel.locator(f".save-{view} [data-form={form}]").click()
        assert waiting.value.path().read_bytes().startswith(head)


INK = """(canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return data.filter((_, i) => i % 4 === 3 && data[i]).length / (canvas.width * canvas.height);
}"""


def test_a_piece_that_is_gone_takes_nothing_from_the_next(page, app_url, trio):
    """Guards: "the studio does not answer" of a piece that is gone, and heads blank for good."""
    other = page.context.browser.new_page()
    other.set_default_timeout(PATIENCE_MS)
    held: list[Route] = []
    other.route(re.compile(r"/attention/[0-9a-f]+/0$"), lambda route: held.append(route))
    other.route("**/attention/*/note/*", lambda route: route.fulfill(status=404))
    other.goto(app_url)
    other.locator(".mg").wait_for()
    other.get_by_role("radio", name="Your MIDI").click()
    for name in ("one.mid", "two.mid"):
        before = len(held)
        other.locator("input[type=file]").set_input_files(
            {"name": name, "mimeType": "audio/midi", "buffer": trio}
        )
        other.locator(f".mg .over[aria-label*='{name}']").wait_for()
        while len(held) == before:
            other.wait_for_timeout(50)
    held[-2].abort()
    other.wait_for_timeout(100)
    held[-1].continue_()
    tiles = other.locator(".mg .gaze .tiles")
    for _ in range(100):
        if tiles.evaluate(INK) > 0.5:
            break
        other.wait_for_timeout(50)
    assert tiles.evaluate(INK) > 0.5
    other.locator(".mg .over").focus()
    other.keyboard.press(".")
    other.locator(".mg").get_by_text(strings.ROLL["gone"]).wait_for()
    other.close()
