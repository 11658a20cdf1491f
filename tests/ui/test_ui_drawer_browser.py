"""The drawer by itself in a real Chromium: how many cards it counts, and how long news stay."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from browsers import opened
from musicgen.ui import take_strings
from musicgen.ui.components import drawer
from musicgen.ui.components.shared import shared

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

TOLD: dict[str, Any] = {
    "takes": [],
    "yours": None,
    "shown": None,
    "comparing": False,
    "making": [],
    "removed": [],
    "least": 1.0,
    "say": take_strings.DRAWER,
}
SAID = "document.querySelector('.said').textContent"


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    yield from opened(chromium, [])


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    folder = Path(drawer.__file__).parent
    files = ("cards.js", "acts.js", "drawer.js")
    script = shared("words.js") + "".join((folder / name).read_text("utf-8") for name in files)
    page = browser.new_page()
    page.set_content((folder / "drawer.html").read_text("utf-8"))
    page.add_script_tag(content=script.replace("export default", "window.Drawer = Drawer;"))
    page.evaluate("window.drawer = new Drawer(document.querySelector('.mg-drawer'))")
    yield page
    page.close()


def card(number: int) -> dict[str, Any]:
    facts = {"star": False, "made": 0, "seconds": 10, "split": 0, "thumb": "", "facts": ""}
    return {"id": f"t{number}", "title": f"Take {number}", "from": "", "votes": "", **facts}


def tell(page: Page, **told: Any) -> None:
    page.evaluate("told => drawer.update(told, { setTriggerValue() {} })", {**TOLD, **told})


def test_all_that_are_shown_are_counted(page):
    """Guards: "Show all (4)" above five cards."""
    takes = [card(number) for number in range(4)]
    yours = {"id": "y", "title": "song.mid", "thumb": "", "split": 1, "facts": ""}
    tell(page, takes=takes, yours=yours)
    assert page.locator(".takes li").count() == 5
    assert page.locator("[data-do=all]").inner_text() == f"{take_strings.DRAWER['all']} (5)"


def test_news_go_when_something_else_is_begun(page):
    """Guards: "Take 4 is ready." above a file that was just put there."""
    ready = take_strings.DRAWER["arrived"].format(title="Take 1")
    yours = {"id": "y", "title": "song.mid", "thumb": "", "split": 1, "facts": ""}
    job = {"id": "j", "ask": "making/j", "wanted": 10}
    for begun in ({"yours": yours}, {"making": [job]}):
        tell(page)
        tell(page, takes=[card(1)])
        assert page.evaluate(SAID) == ready
        tell(page, takes=[card(1)], shown="t1")  # another drawing of the page changes nothing
        assert page.evaluate(SAID) == ready
        tell(page, takes=[card(1)], **begun)
        assert page.evaluate(SAID) == ""
