"""The drawer in a real Chromium: takes outlive the server, two are compared by ear, by keyboard."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browsers import faults_on, opened
from musicgen.ui import strings, take_strings
from musicgen.ui.components import versus
from musicgen.ui.components.shared import shared

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

PATIENCE_MS = 60_000
IDLE = ".stApp[data-test-script-state='notRunning']"
# The class of what has the focus, in whichever component.
FOCUSED = "document.activeElement.shadowRoot?.activeElement?.className"
READY = """() => [...document.querySelectorAll('*')]
  .map((e) => e.shadowRoot?.querySelector('.mg audio')).find(Boolean)?.readyState >= 1"""
IN_VIEW = """() => [...document.querySelectorAll('*')]
  .map((e) => e.shadowRoot?.querySelector('.mg-versus')?.getBoundingClientRect()).filter(Boolean)
  .some(({ top, bottom }) => top >= 56 && bottom <= innerHeight)"""
NAME = '=1+1 <img src=x onerror="document.title=1">'


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    yield from opened(chromium, ["--autoplay-policy=no-user-gesture-required"])


def make(page: Page, seconds: int) -> None:
    """Press the one button; the music is not waited for."""
    slider = page.get_by_role("slider", name="Length of the new music")
    slider.focus()
    while int(slider.get_attribute("aria-valuenow") or slider.input_value()) > seconds:
        page.keyboard.press("ArrowLeft")
        page.wait_for_timeout(60)
    page.locator(".st-key-go button").click()


BESIDE = """([say, parting]) => {
  const versus = new Versus(document.querySelector(".mg-versus"));
  const notes = { on: [], len: [], pitch: [], vel: [], track: [] };
  const piece = { seconds: 30, newTrack: null, notes };
  const player = { readyState: 4, duration: 30, paused: false, load() {}, pause() {} };
  versus.players = [{ ...player }, { ...player }];
  versus.redraw = () => {};
  const given = { one: { id: "a", ...piece }, other: { id: "b", ...piece }, parting, say };
  versus.update(given, { setTriggerValue() {} });
  versus.wanted = true;
  let now = 0;
  const hear = (side, from, seconds) => {
    versus.side = side;
    for (let heard = 0; heard <= seconds + 0.05; heard += 0.1) {
      for (const player of versus.players) player.currentTime = from + heard;
      versus.tick((now += 100));
    }
    return [...document.querySelectorAll("[data-vote]")].some((button) => !button.disabled);
  };
  return {
    begin: versus.cursor, said: document.querySelector(".status").textContent,
    open: [[0, 2, 3], [1, 2, 3], [0, 12, 1.6], [1, 12, 1.6]].map((given) => hear(...given)),
  };
}"""


@pytest.mark.parametrize(
    ("parting", "begin", "is_open"),
    [(12.0, 10.0, [False, False, False, True]), (None, 0.0, [False, True, True, True])],
)
def test_the_vote_waits_for_what_differs(browser, parting, begin, is_open):
    """Guards: a vote on two takes of which only what they have in common was heard."""
    folder = Path(versus.__file__).parent
    script = shared("words.js", "sight.js", "volume.js") + (folder / "versus.js").read_text("utf-8")
    page = browser.new_page()
    page.set_content((folder / "versus.html").read_text("utf-8"))
    page.add_script_tag(content=script.replace("export default", "window.Versus = Versus;"))
    seen = page.evaluate(BESIDE, [{**strings.VOLUME, **take_strings.VERSUS}, parting])
    page.close()
    assert seen["begin"] == begin
    assert seen["open"] == is_open
    assert ("0:12.0" in seen["said"]) is (parting is not None)


def test_takes_outlive_the_server_and_are_compared_by_ear(
    browser, quick_server, free_port, tmp_path, monkeypatch
):
    """Guards: takes lost with the server; names as HTML; a vote that shows whose it is before.

    And: a focus that falls back to the page's beginning, a comparison half out of sight.
    """
    monkeypatch.setenv("MUSICGEN_HOME", str(tmp_path / "home"))
    page = browser.new_page()
    faults = faults_on(page)
    page.set_default_timeout(PATIENCE_MS)
    drawer, cards = page.locator(".mg-drawer"), page.locator(".mg-drawer li.take")
    with quick_server(free_port) as url:
        page.goto(url)
        page.locator(".mg").wait_for()
        make(page, 10)
        cards.nth(0).wait_for()
        name = drawer.get_by_role("textbox", name="Name of this take")
        drawer.locator(".naming svg").wait_for()  # it looks like something to write into
        assert name.get_attribute("title") == take_strings.DRAWER["nameHelp"]
        name.fill(NAME)
        name.press("Tab")  # leaving it keeps it, as that says
        drawer.locator("li b", has_text="=1+1").wait_for()
        cards.nth(0).locator(".star").click()
        drawer.get_by_role("button", name="Starred (1)").wait_for()
        play = page.locator(".mg .play")
        while play.inner_text() != "Play":  # it sounds, or its sound is being made
            play.click()
            page.wait_for_timeout(100)
        page.locator(".mg .over").focus()
        page.keyboard.press("Home")
        drawer.get_by_role("button", name="Go on from here").wait_for()
        tools = drawer.locator(".tools").bounding_box()
        assert tools["height"] < 60, "all on one line"
        page.keyboard.press("ArrowRight")
        page.locator(".mg [data-go=anew]:enabled").click()  # beside the playhead, on the roll
        cards.nth(1).wait_for()
        assert page.evaluate(FOCUSED) == "over", "the button that was pressed is gone"
        drawer.get_by_text("from =1+1").first.wait_for()
        page.locator(".st-key-go button").wait_for()

    with quick_server(free_port) as url:
        page.goto(url)
        faults.clear()  # before, the open page had no server, as it should, or one that was new
        cards.nth(1).wait_for()
        assert cards.nth(1).locator("b").inner_text() == NAME
        assert page.title() != "1"
        assert cards.nth(1).locator(".star").get_attribute("aria-pressed") == "true"

        page.wait_for_function(READY)  # else its sound is asked for when it is removed
        cards.nth(0).locator(".card").focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Delete")
        drawer.get_by_text("is removed").wait_for()
        assert cards.count() == 1
        cards.nth(0).locator(".card").focus()
        page.keyboard.press("Delete")
        drawer.get_by_text("Undo (2)").click()
        cards.nth(0).wait_for()
        page.keyboard.press("Control+z")
        cards.nth(1).wait_for()
        drawer.get_by_text(f"{NAME} is back").wait_for()
        assert page.evaluate(FOCUSED) == "card", "undo is gone: the focus is on what came back"

        # What a button hands out is made anew with the page: it is let come to rest.
        page.locator(IDLE).wait_for()
        with page.expect_download() as waiting:
            page.get_by_role("button", name="All takes as one zip").click()
        with zipfile.ZipFile(io.BytesIO(waiting.value.path().read_bytes())) as archive:
            listed = json.loads(archive.read("takes.json"))["takes"]
            assert listed[0]["title"] == NAME
            assert listed[1]["goes_on_from"]["title"] == NAME
            assert 2 <= listed[1]["goes_on_from"]["at_s"] < 4.5

        drawer.get_by_role("button", name="Compare A/B").first.click()
        versus = page.locator(".mg-versus")
        versus.wait_for()
        page.wait_for_function(IN_VIEW)
        assert NAME not in versus.inner_text()
        versus.get_by_role("button", name="Mute").click()
        assert (
            versus.get_by_role("slider", name="Volume").get_attribute("aria-valuetext") == "muted"
        )
        assert versus.get_by_role("button", name="A is better").is_disabled()
        versus.get_by_role("button", name="Play").click()
        page.keyboard.press("ArrowRight")  # up to there they are the same
        page.wait_for_timeout(2100)  # both are to be heard for a while before a vote
        page.keyboard.press("x")
        versus.get_by_role("radio", name="B", checked=True).wait_for()
        times = versus.locator("audio").evaluate_all("all => all.map((each) => each.currentTime)")
        assert min(times) > 1
        assert abs(times[0] - times[1]) < 0.15, "one playhead"
        versus.locator("[data-vote='1']:enabled").click()
        versus.get_by_text("You preferred B").wait_for()
        drawer.get_by_text("1 of 1 votes").wait_for()
        page.keyboard.press("Escape")
        page.locator(".mg .volume[data-muted]").wait_for()  # one knob for all that sounds
        assert page.locator(".mg audio").evaluate("audio => audio.volume") == 0
        page.wait_for_function(f"() => ({FOCUSED}) === 'versus'")
        page.close()  # before its server
    assert faults == []
