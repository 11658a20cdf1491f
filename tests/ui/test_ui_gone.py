"""In a real Chromium: the server ends under an open page, and comes back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from browsers import opened
from musicgen.ui import strings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

PATIENCE_MS = 120_000
IDLE = ".stApp[data-test-script-state=notRunning]"
SAID = '(dialog) => getComputedStyle(dialog.querySelector("h2 + div"), "::after").content'


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    yield from opened(chromium, [])


def make(page, count):
    """Make another take, and wait until it is there and the page rests."""
    page.locator(".st-key-go button").click()
    page.locator(".mg-drawer li.take").nth(count - 1).wait_for()
    page.locator(".st-key-go button").wait_for()
    page.locator(IDLE).wait_for()


def test_a_take_that_is_kept_is_not_gone_with_the_server(
    browser, quick_server, free_port, tmp_path, monkeypatch
):
    """Guards: "That piece is gone" of a take that plays as soon as the page is loaded again."""
    monkeypatch.setenv("MUSICGEN_HOME", str(tmp_path / "home"))
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    roll, status = page.locator(".mg"), page.locator(".mg .status")
    with quick_server(free_port) as url:
        page.goto(f"{url}?seconds=5")
        page.locator(IDLE).wait_for()
        make(page, 1)
        make(page, 2)
        older = page.locator(".mg-drawer li.take").nth(1)
        name = older.get_attribute("data-id")
        older.locator(".card").click()
        page.locator(f".mg[data-piece='{name}']").wait_for()
        page.locator(IDLE).wait_for()
    page.locator(".stDialog[data-gone]").wait_for()
    with quick_server(free_port):
        page.locator(".stDialog[data-gone]").wait_for(state="detached")
        page.locator(f".mg[data-piece='{name}']").wait_for()
        page.locator(".mg .over").focus()
        page.keyboard.press(".")
        page.locator(".mg .looks li").first.wait_for()
        assert strings.ROLL["gone"] not in status.inner_text()
        assert roll.get_attribute("data-piece") == name  # and not the newest one
        assert page.locator(".mg .play").is_enabled()
    page.close()


def test_what_is_not_known_at_once_is_asked_for_again(browser, quick_server, free_port):
    """Guards: a piece called gone that needed the room of others, and is kept on the disk."""
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    asked: list[str] = []

    def answer(route):
        asked.append(route.request.url)
        route.fulfill(status=404) if len(asked) == 1 else route.continue_()

    page.route("**/attention/*/note/*", answer)
    with quick_server(free_port) as url:
        page.goto(url)
        page.locator(".mg .mini").wait_for()
        page.locator(IDLE).wait_for()
        page.locator(".mg .over").focus()
        page.keyboard.press(".")
        page.locator(".mg .status", has_text=strings.ROLL["seeks"]).wait_for()
        page.locator(".mg .status", has_text="velocity").wait_for()
        assert len(asked) == 2
    page.close()


def test_a_server_that_is_gone_is_told_in_our_words_and_asked_no_more(browser, server, free_port):
    """Guards: "streamlit run yourscript.py", and a dead address that is asked over and over."""
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    asked: list[str] = []
    page.on("response", lambda answer: asked.append(answer.url) if answer.status == 404 else None)
    with server(free_port) as url:
        page.goto(url)
        page.locator(".mg").wait_for()
        page.locator(".st-key-go button").click()
        page.locator(".st-key-stop").wait_for()
        page.locator(".mg .status", has_text="Composing").wait_for()
    dialog = page.locator(".stDialog[data-gone]")
    dialog.wait_for()
    assert dialog.evaluate(SAID).strip('"') == strings.ROLL["lost"]
    assert "streamlit run" not in dialog.inner_text()
    page.locator(".mg .status", has_text=strings.ROLL["lost"]).wait_for()

    asked.clear()
    with server(free_port):
        page.locator(".mg .status", has_text=strings.ROLL["gone"]).wait_for()
        dialog.wait_for(state="detached")
        page.locator(".st-key-go button").wait_for()  # the page shows what there is
        page.wait_for_timeout(1000)
        assert len(asked) <= 4  # the roll for notes and sound, the drawer once
        assert page.locator(".mg .status").inner_text() == strings.ROLL["gone"]
        assert page.locator(".mg .play").is_enabled()
    page.close()
