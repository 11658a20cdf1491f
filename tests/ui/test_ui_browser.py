"""The app in a real Chromium: music is made, heard, seen, taken home; nothing leaves the machine.

One server and one browser for all; every test is a visitor of its own.
"""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import mido
import pytest

from browsers import faults_on, opened
from musicgen.ui import lab_strings, training_strings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = pytest.mark.browser

QUIET = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
PATIENCE_MS = 60_000
# Of the bytes that the player plays, decoded by the browser: loudness, seconds and type.
MEASURE = """async (audio) => {
  const answer = await fetch(audio.currentSrc);
  const type = answer.headers.get("content-type");
  const context = new OfflineAudioContext(1, 1, 44100);
  const sound = await context.decodeAudioData(await answer.arrayBuffer());
  const samples = sound.getChannelData(0);
  let sum = 0;
  for (const s of samples) sum += s * s;
  return { loudness: Math.sqrt(sum / samples.length), seconds: sound.duration, type };
}"""


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    yield from opened(chromium, QUIET)


class Visit:
    """A page and what went wrong on it."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.faults = faults_on(page)
        page.set_default_timeout(PATIENCE_MS)
        page.on("request", lambda r: self._watch(r.url, url))
        page.on("websocket", lambda w: self._watch(w.url.replace("ws://", "http://"), url))
        page.goto(url)
        self.roll = page.locator(".mg")
        self.roll.wait_for()

    def _watch(self, asked: str, url: str) -> None:
        if not asked.startswith((url, "blob:", "data:")):
            self.faults.append(f"asked another machine: {asked}")

    def button(self, name: str) -> Locator:
        # Streamlit 1.65, the last for Python 3.10, reads the icon's name out before the label.
        named = re.compile(rf"(^|\s){re.escape(name)}$")
        return self.page.get_by_role("button", name=named)

    @property
    def audio(self) -> Locator:
        return self.page.locator(".mg audio")

    def loaded(self) -> None:
        """Wait until the player knows its sound."""
        self.page.wait_for_function(READY, timeout=PATIENCE_MS)

    def still(self) -> None:
        """Pause the music, which is heard since it was made."""
        pause = self.button("Pause")
        if pause.count():
            pause.click()

    def make(self, name: str, seconds: int = 10) -> None:
        """Press the one button and wait for the music."""
        slider = self.page.get_by_role("slider", name="Length of the new music")
        slider.focus()
        while int(slider.get_attribute("aria-valuenow") or slider.input_value()) > seconds:
            self.page.keyboard.press("ArrowLeft")
            self.page.wait_for_timeout(60)
        self.button(name).click()
        self.page.get_by_text("· model ").wait_for()
        self.button("MIDI").wait_for()

    def upload(self, name: str, data: bytes) -> None:
        """Give the page a file, and wait for it to be on the roll if it is music."""
        if not self.page.locator("input[type=file]").count():
            self.page.get_by_role("radio", name="Your MIDI").click()
        field = self.page.locator("input[type=file]")
        field.set_input_files({"name": name, "mimeType": "audio/midi", "buffer": data})
        if data.startswith(b"MThd\x00\x00\x00\x06\x00\x01"):
            self.page.locator(f".mg .over[aria-label*='{name[-6:]}']").wait_for()

    def download(self, name: str) -> bytes:
        with self.page.expect_download() as waiting:
            self.button(name).click()
        return waiting.value.path().read_bytes()


# Playwright's selectors see into the component's shadow; scripts have to walk there.
PLAYER = (
    "[...document.querySelectorAll('*')]"
    ".map((e) => e.shadowRoot?.querySelector('audio')).find(Boolean)"
)
READY = f"() => ({PLAYER})?.readyState >= 1"


# In how many columns something stands on the ruler behind the seam, which is at two thirds: a time
# has some thirty.
WRITTEN_ON_THE_RULER = """(canvas, rows) => {
  const [from, scale] = [Math.round(canvas.width * 0.7), devicePixelRatio];
  const [top, bottom] = rows.map((row) => row * scale), g = canvas.getContext("2d");
  const { data, width } = g.getImageData(from, top, 90 * scale, bottom - top);
  const inked = new Set();
  for (let i = 3; i < data.length; i += 4) if (data[i] > 99) inked.add((i >> 2) % width);
  return inked.size / scale;
}"""
INKED = """(canvas, rows) => {
  const [top, bottom] = rows.map((row) => row * devicePixelRatio);
  const { data } = canvas.getContext("2d").getImageData(0, top, canvas.width, bottom - top);
  return data.filter((level, i) => i % 4 === 3 && level).length;
}"""
# The class of what has the focus, in whichever component.
FOCUSED = "document.activeElement.shadowRoot?.activeElement?.className"


def eventually(is_so: Callable[[], bool]) -> None:
    """Wait for what is painted in a frame to come."""
    until = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.fixture
def visit(browser: Browser, app_url: str) -> Iterator[Visit]:
    context = browser.new_context(viewport={"width": 1360, "height": 900}, accept_downloads=True)
    visit = Visit(context.new_page(), app_url)
    yield visit
    context.close()
    assert visit.faults == []


def notes_of(midi: bytes) -> list[tuple[int, int]]:
    """Return (tick, pitch) of the notes of a file, all tracks."""
    found = []
    for track in mido.MidiFile(file=io.BytesIO(midi)).tracks:
        tick = 0
        for message in track:
            tick += message.time
            if message.type == "note_on" and message.velocity:
                found.append((tick, message.note))
    return sorted(found)


def clocked(time: str) -> float:
    """Return the seconds of a time such as 1:02.5."""
    minutes, seconds = time.split(":")
    return 60 * int(minutes) + float(seconds)


def test_generate_is_heard_and_taken_home(visit):
    visit.make("Generate")
    # The button that was pressed went, so did the one that stops: the focus is on what was made.
    visit.page.wait_for_function(f"() => ({FOCUSED}) === 'over'")
    visit.loaded()
    sound = visit.audio.evaluate(MEASURE)
    assert sound["type"] == "audio/wav"
    assert sound["loudness"] > 0.001
    assert sound["seconds"] > 8
    visit.still()
    visit.page.locator(".mg .over").focus()
    visit.page.keyboard.press("Home")
    visit.page.keyboard.press("Space")
    visit.page.wait_for_function(f"() => ({PLAYER}).currentTime > 0.3")
    visit.page.keyboard.press("Space")
    visit.button("Play").wait_for()

    midi = visit.download("MIDI")
    said = visit.page.get_by_text("· model ").inner_text()
    assert f"{len(notes_of(midi))} note" in said.replace(",", "")
    assert visit.download("WAV").startswith(b"RIFF")
    assert visit.download("MP3").startswith((b"\xff\xfb", b"ID3"))
    assert visit.download("MIDI") == midi
    assert said == visit.page.get_by_text("· model ").inner_text()


def test_upload_is_seen_heard_gone_on_from_and_safe_from_a_bad_one(visit, music):
    visit.upload("my études.MID", music)
    visit.page.get_by_text("48 notes · 0:12").first.wait_for()
    visit.loaded()
    assert visit.audio.evaluate(MEASURE)["loudness"] > 0.001

    visit.make("Continue")
    midi = visit.download("MIDI")
    assert set(notes_of(music)) <= set(notes_of(midi))
    assert len(notes_of(midi)) > 48
    said = visit.page.get_by_text("· model ").inner_text()

    visit.upload("broken.mid", b"MThd\x00\x00\x00\x06 this is not music")
    alert = visit.page.get_by_role("alert")
    alert.wait_for()
    assert alert.inner_text().strip().endswith(".")
    assert visit.page.get_by_text("· model ").inner_text() == said
    assert visit.download("MIDI") == midi
    visit.page.get_by_text("48 notes · 0:12").first.wait_for()


def test_a_note_shows_what_each_head_looked_at(visit, music):
    visit.upload("a.mid", music)
    visit.page.locator(".mg .over").focus()
    for _ in range(20):
        visit.page.keyboard.press(".")
    panel = visit.page.locator(".mg .gaze")
    panel.locator(".looks li").first.wait_for()
    assert panel.locator(".heads [data-head]").count() == 8
    assert panel.locator(".layers button").count() == 3  # two, and all
    panel.get_by_text("Attention shows").wait_for()
    # Guards a Solo that did nothing before a head was pressed.
    panel.locator("[data-key=solo]").click()
    assert panel.locator(".heads [data-head][aria-pressed=true]").count() == 1
    said = panel.locator(".looks li").inner_text()
    # Guards a link to another row than the one that is told: to the lab it names that very look.
    asked = parse_qs(urlsplit(panel.locator(".to-lab").get_attribute("href")).query)
    assert f"Head {asked['head'][0]} " in said
    # Its event comes after the start event and the notes before it; it was written one earlier.
    assert (asked["row"], asked["reads"]) == ([panel.get_attribute("data-note")], ["0"])
    panel.locator("[data-key=solo]").click()
    assert panel.locator(".looks li").count() == 8
    panel.get_by_role("button", name="None").click()
    panel.locator(".heads [data-head='2']").click()
    assert panel.locator(".looks li").count() == 1
    panel.get_by_role("button", name="Maps and habits").click()
    panel.locator("[data-key='w0']").click()
    assert panel.locator(".heads [data-head='0']").get_attribute("aria-pressed") == "true"
    visit.page.reload()
    panel.locator(".more[aria-expanded=true]").wait_for()  # it is remembered
    panel.locator(".habits li").first.wait_for()
    panel.get_by_role("button", name="Less").click()
    panel.locator(".body").wait_for(state="hidden")
    visit.page.locator(".mg .over").focus()
    visit.page.keyboard.press(".")
    panel.locator(".looks li").first.wait_for()
    assert panel.locator(".habits").is_hidden()
    visit.page.keyboard.press("Escape")
    panel.locator(".body").wait_for(state="hidden")
    assert panel.locator(".tiles").is_visible(), "the whole piece's heads stay in sight"


def test_clicking_a_note_and_the_ground(visit, music):
    visit.upload("a.mid", music)
    visit.page.get_by_text("48 notes · 0:12").first.wait_for()
    visit.loaded()
    over = visit.page.locator(".mg .over")
    box = over.bounding_box()
    over.click(position={"x": box["width"] / 2, "y": 40})
    visit.page.wait_for_function(f"() => ({PLAYER}).currentTime > 3")
    visit.page.keyboard.press("Space")
    visit.page.wait_for_function(f"() => !({PLAYER}).paused")


def test_a_hostile_name_is_only_a_name(visit, music):
    name = "<img src=x onerror=\"document.title='taken'\"> ![a](http://evil.test/a.png).mid"
    visit.upload(name, music)
    visit.page.get_by_text("48 notes · 0:12").first.wait_for()
    visit.page.wait_for_timeout(300)
    assert visit.page.title() != "taken"
    assert visit.page.locator("img[src*=evil], img[src=x]").count() == 0


def test_an_example_whose_sound_is_on_its_way_does_not_pretend_to_play(browser, app_url):
    """Guards: "Pause" and a clock that stands still for seconds after a click on an example."""
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script(
        "window.has = 1;"  # the length is known, but there is no sound yet
        "Object.defineProperty(HTMLMediaElement.prototype, 'readyState', { get: () => window.has })"
    )
    visit = Visit(page, app_url)
    page.locator(".mg .examples button").first.click()
    page.wait_for_function(f"() => ({PLAYER}).duration > 0 && !({PLAYER}).paused")
    page.wait_for_timeout(500)
    assert page.locator(".mg .play .word").inner_text().startswith("Making the sound")
    page.evaluate("() => { window.has = 4; }")
    page.evaluate(f"() => ({PLAYER}).dispatchEvent(new Event('playing'))")
    visit.button("Pause").wait_for()
    assert page.locator(".mg .legend").inner_text().startswith("Made by the model")
    context.close()
    assert visit.faults == []


def test_the_legend_names_the_instruments(visit, band):
    """Guards: "Your music" once a track, and a track's name that becomes HTML."""
    visit.upload("band.mid", band)
    legend = visit.page.locator(".mg .legend")
    legend.get_by_text("2 more").wait_for()
    names = legend.locator("span").all_inner_texts()
    assert len(set(names)) == len(names) == 6
    assert {"<b>Lead</b>", "Celesta", "Bass"} <= set(names)
    assert legend.locator("b").count() == 0


def test_a_reload_finds_the_takes_again(visit):
    visit.make("Generate", seconds=5)
    said = visit.page.get_by_text("· model ").inner_text()
    visit.page.reload()
    visit.page.get_by_text("· model ").wait_for()
    assert visit.page.get_by_text("· model ").inner_text() == said


def test_stop_and_keep(browser, slow_app_url):
    """On a slow machine: elsewhere two minutes are made before anybody could stop them.

    Guards: Space right after Enter on Generate that stops the music, or makes more of it.
    """
    visit = Visit(browser.new_page(), slow_app_url)
    slider = visit.page.get_by_role("slider", name="Length of the new music")
    slider.focus()
    visit.page.keyboard.press("End")
    visit.button("Generate").focus()
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_function(f"() => ({FOCUSED}) === 'over'")
    assert "Space plays" in visit.page.locator(".mg .over").get_attribute("aria-label")
    visit.page.locator(".mg .play", has_text=re.compile("Pause|Waiting")).wait_for()
    visit.page.keyboard.press("Space")
    visit.button("Play").wait_for()
    visit.page.get_by_text("Composing:").wait_for()
    visit.page.get_by_text(re.compile(r"[1-9]\d* notes?")).first.wait_for()
    visit.button("Stop and keep").click()
    visit.page.get_by_text("· model ").wait_for()
    notes = notes_of(visit.download("MIDI"))
    visit.loaded()
    visit.still()
    over = visit.page.locator(".mg .over")
    # On the ruler: a click on a note, and one may lie anywhere below it, chooses the note instead.
    over.click(position={"x": over.bounding_box()["width"] / 2, "y": 12})
    visit.page.wait_for_timeout(200)
    at, end = (clocked(each) for each in visit.page.locator(".mg .time").inner_text().split(" / "))
    visit.page.close()
    assert 0 < len(notes) < 60
    assert 0.3 * end < at < 0.7 * end, "the roll shows what is there, not two minutes"
    assert visit.faults == []


def test_on_a_phone_the_music_comes_into_view(browser, app_url, music):
    """Guards: music that is made below the screen's edge, and a lone × beside the file's name.

    And: words or buttons that lie over the notes.
    """
    context = browser.new_context(viewport={"width": 390, "height": 844})
    visit = Visit(context.new_page(), app_url)
    visit.upload("a.mid", music)
    assert "Remove" in visit.button("Remove").inner_text()
    visit.make("Continue", seconds=5)
    visit.page.wait_for_function(
        """() => [...document.querySelectorAll('*')]
          .map((e) => e.shadowRoot?.querySelector('.mg .foot')).filter(Boolean)
          .some((e) => e.getBoundingClientRect().bottom <= innerHeight + 1)"""
    )
    box = visit.roll.bounding_box()
    stop = visit.button("Continue").bounding_box()
    knob = visit.page.locator(".mg .volume input").bounding_box()
    assert knob is not None, "how loud it is can be set on a phone too"
    assert knob["width"] >= 60
    assert knob["x"] + knob["width"] <= 390
    over, offered = visit.page.locator(".mg .over"), visit.page.locator(".mg .here")
    visit.still()
    over.focus()
    base = visit.page.locator(".mg .base")
    visit.page.keyboard.press("Home")
    eventually(lambda: base.evaluate(WRITTEN_ON_THE_RULER, [2, 18]) > 40)
    # Guards: words in the place of a time, and a playhead that runs through them.
    eventually(lambda: base.evaluate(WRITTEN_ON_THE_RULER, [20, 40]) > 0)
    visit.page.keyboard.press("End")
    eventually(lambda: over.evaluate(INKED, [20, 40]) > 0)
    assert over.evaluate(INKED, [0, 18]) == 0
    visit.page.keyboard.press("Home")
    visit.page.keyboard.press("ArrowRight")
    offered.wait_for()
    notes = over.bounding_box()
    assert offered.bounding_box()["y"] >= notes["y"] + notes["height"]
    context.close()
    assert box["y"] >= 0
    assert stop["y"] >= 0, "the button that stops is still at hand"
    assert visit.faults == []


def test_leaving_while_the_heads_are_read_breaks_nothing(browser, app_url, music):
    """Guards an error on the page Train, of a roll that was gone when its answer came."""
    context = browser.new_context(viewport={"width": 1360, "height": 1400})
    visit = Visit(context.new_page(), app_url)
    asked = []

    def answer_late(route):
        asked.append(route)  # answered below, when the roll is gone

    visit.page.route("**/attention/*/0/facts", answer_late)
    visit.upload("a.mid", music)
    until = time.monotonic() + 20
    while not asked and time.monotonic() < until:
        visit.page.wait_for_timeout(100)
    visit.page.get_by_role("link", name="Train").click()
    visit.page.locator(".mg").wait_for(state="detached")
    facts = {"habits": {"telling": 0}, "layers": 1, "heads": 1}
    for route in asked:
        route.fulfill(json=facts)
    visit.page.wait_for_timeout(500)
    context.close()
    assert asked
    assert visit.faults == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_everything_in_its_width(browser, app_url, scheme):
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    visit = Visit(context.new_page(), app_url)
    wide = visit.page.evaluate("document.documentElement.scrollWidth")
    inner = visit.page.locator(".stMain").evaluate("e => e.scrollWidth - e.clientWidth")
    dark = visit.roll.evaluate("e => e.hasAttribute('data-dark')")
    # On a phone the pages' names stand in the page itself, not folded away; the sidebar, which has
    # them too, is not yet gone on a slow machine.
    names = visit.page.get_by_test_id("stMainBlockContainer")
    for name in (training_strings.TRAIN, lab_strings.LAB):
        names.get_by_role("link", name=name).click(trial=True)
    context.close()
    assert wide <= 390
    assert inner <= 0
    assert dark == (scheme == "dark")
    assert visit.faults == []
