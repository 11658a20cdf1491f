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
SAID = '(dialog) => getComputedStyle(dialog.querySelector("h2 + div"), "::after").content'


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    yield from opened(chromium, [])


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
