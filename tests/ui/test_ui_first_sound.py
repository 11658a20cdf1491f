"""In a real Chromium: sound begins long before the music is made, and waits where it must."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from browsers import faults_on, opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

PATIENCE_MS = 120_000
# Listen to what goes to the loudspeaker, and write down what is set when.
EAR = """
  const connect = AudioNode.prototype.connect, start = AudioBufferSourceNode.prototype.start;
  window.loudest = 0;
  window.set = [];
  AudioNode.prototype.connect = function (to, ...rest) {
    if (to instanceof AudioDestinationNode) {
      const ear = new AnalyserNode(this.context, { fftSize: 4096 }), heard = new Float32Array(4096);
      connect.call(this, ear);
      setInterval(() => {
        ear.getFloatTimeDomainData(heard);
        for (const sample of heard) window.loudest = Math.max(window.loudest, Math.abs(sample));
      }, 20);
    }
    return connect.call(this, to, ...rest);
  };
  AudioBufferSourceNode.prototype.start = function (when, offset, ...rest) {
    window.set.push([when - offset, this.buffer.length / this.buffer.sampleRate]);
    return start.call(this, when, offset, ...rest);
  };
"""
ROLL = """[...document.querySelectorAll("*")]
  .map((e) => e.shadowRoot?.querySelector(".mg")).find(Boolean)"""
HEAD_S = f"""() => {{
  const [minutes, seconds] = ({ROLL}).querySelector(".time").textContent.split(" / ")[0].split(":");
  return 60 * minutes + +seconds;
}}"""
WAITING = f"""() => {{
  const find = (name) => ({ROLL}).querySelector(name), status = find(".status");
  return status.textContent.startsWith("Waiting for the model") && {{
    word: find(".play .word").textContent,
    live: status.getAttribute("aria-live"),
    head_s: ({HEAD_S})(),
    made_s: +find(".progress").getAttribute("aria-valuenow"),
  }};
}}"""
HEARD = "() => window.loudest > 0.001"


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    yield from opened(chromium, ["--autoplay-policy=document-user-activation-required"])


class Listener:
    """A page whose sound is listened to."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.faults = faults_on(page)
        page.set_default_timeout(PATIENCE_MS)
        page.add_init_script(EAR)
        page.goto(url)
        page.locator(".mg").wait_for()

    def ask(self, *, key: str | None = None) -> None:
        """Ask for music, after a key was pressed on the slider of its length."""
        if key is not None:
            self.page.get_by_role("slider", name="Length of the new music").focus()
            self.page.keyboard.press(key)
            self.page.wait_for_timeout(1000)
        self.page.locator(".st-key-go button").click()

    def status(self, text: str) -> None:
        """Wait for the line below the roll to say something."""
        self.page.locator(".mg .status", has_text=text).wait_for()

    @property
    def word(self) -> str:
        return self.page.locator(".mg .play .word").inner_text()

    def keeps(self) -> None:
        """Stop, and wait for the take."""
        self.page.locator(".st-key-stop button").click()
        self.page.get_by_text("· model ").wait_for()


def test_a_click_before_the_roll_is_there_is_heard(browser, late_roll_app_url):
    """Guards: a first click on Generate that nobody on the page listened to, and a silent take."""
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.add_init_script(EAR)
    page.goto(late_roll_app_url)
    page.locator(".st-key-go button").click()
    assert not page.locator(".mg").count(), "the roll is not there yet"
    page.wait_for_function(HEARD)
    # What has played by itself once does not when the page is loaded anew.
    page.locator(".st-key-go").wait_for()
    page.reload()
    page.locator(".mg .play", has_text="Play").wait_for()
    page.wait_for_timeout(1500)
    assert page.locator(".mg .play .word").inner_text() == "Play"
    assert page.evaluate("() => window.loudest") == 0
    context.close()


def test_a_browser_that_wants_another_click_gets_its_button(browser, app_url):
    """Guards: "Waiting …" for ever where a click on the page is not enough to open the sound."""
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.add_init_script(
        "AudioContext.prototype.resume = () => new Promise(() => {});"
        "AudioContext = class extends AudioContext {"
        " constructor(...given) { super(...given); this.suspend(); } }"
    )
    page.goto(app_url)
    page.locator(".mg").wait_for()
    page.locator(".st-key-go button").click()
    page.get_by_text("· model ").wait_for()
    page.locator(".mg .play", has_text="Play").wait_for()
    page.close()


def test_sound_begins_early_and_waits_for_a_slow_model(browser, crawling_app_url):
    """Guards: a take that is heard only when it is whole, and a playhead that runs ahead of it."""
    context = browser.new_context(reduced_motion="reduce")
    here = Listener(context.new_page(), crawling_app_url)
    here.ask(key="End")
    here.page.wait_for_function(HEARD)
    assert here.page.locator(".st-key-stop button").is_enabled(), "it is still being made"
    waiting = here.page.wait_for_function(WAITING).json_value()
    assert waiting["word"].startswith("Waiting")
    assert waiting["live"] == "polite"
    assert 0 < waiting["head_s"] <= waiting["made_s"] + 0.1

    here.status("Composing")  # and it goes on by itself
    here.page.wait_for_function(f"() => ({HEAD_S})() > {waiting['head_s'] + 0.2}")
    # A second tab and a reload find the piece, silent until they are asked.
    other = Listener(context.new_page(), crawling_app_url)
    other.status("Composing")
    assert other.word == "Play"
    other.page.locator(".mg .play").click()
    other.page.wait_for_function(HEARD)
    other.page.close()
    here.page.reload()
    here.page.locator(".mg .play", has_text="Play").wait_for()
    here.page.locator(".mg .over").focus()
    here.page.keyboard.press("Space")
    here.page.wait_for_function(HEARD)
    here.keeps()
    here.page.wait_for_timeout(300)
    assert here.faults == []
    assert other.faults == []
    context.close()


def test_the_sound_goes_on_over_the_end_of_making(browser, app_url):
    """Guards: a gap between passages, and playing that breaks off when the page is drawn anew."""
    context = browser.new_context()
    here = Listener(context.new_page(), app_url)
    here.ask()
    here.page.wait_for_function(HEARD)
    here.page.get_by_text("· model ").wait_for()
    # Sound goes over to the level of the kept piece; its pause is the kept piece's.
    here.page.locator(".mg .play", has_text=re.compile("Pause|Waiting")).wait_for()
    here.page.wait_for_timeout(700)
    here.page.locator(".mg .play").click()
    here.page.locator(".mg .play", has_text="Play").wait_for()
    here.page.wait_for_timeout(300)
    paused_s = here.page.evaluate(HEAD_S)
    assert paused_s > 0
    audio = here.page.locator(".mg audio")
    here.page.wait_for_function("(audio) => audio.readyState >= 1", arg=audio.element_handle())
    assert audio.evaluate("(e) => e.currentTime") == pytest.approx(paused_s, abs=0.15)
    here.page.locator(".mg .play").click()
    here.page.wait_for_function(
        "([audio, from]) => audio.currentTime > from + 0.2", arg=[audio.element_handle(), paused_s]
    )
    passages = here.page.evaluate("() => window.set")
    for (begin, length), (following, _) in itertools.pairwise(passages):
        gap_s = following - begin - length
        assert gap_s == pytest.approx(0, abs=1e-6) or gap_s > 0.02, "passages meet, or it waited"
    assert here.faults == []
    context.close()
