"""In a real Chromium: the address, and a take that is made again from its own file.

One server and one page for all: the steps are those of one visit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browsers import faults_on, opened
from musicgen.pipeline import MusicPipeline

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    yield from opened(chromium, [])


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=re.compile(rf"(^|\s){re.escape(name)}$"))


def length(page: Page) -> Locator:
    return page.get_by_role("slider", name="Length of the new music")


def midi_of(page: Page) -> bytes:
    with page.expect_download() as waiting:
        button(page, "MIDI").click()
    return waiting.value.path().read_bytes()


def give(page: Page, number: int, name: str, data: bytes) -> None:
    file = {"name": name, "mimeType": "audio/midi", "buffer": data}
    page.locator("input[type=file]").nth(number).set_input_files(file)


def test_one_address_one_piece_and_the_same_again_from_its_file(
    browser: Browser, app_url: str, tiny_model: Path, music: bytes
):
    context = browser.new_context(viewport={"width": 1360, "height": 900}, accept_downloads=True)
    page = context.new_page()
    page.set_default_timeout(60_000)
    faults = faults_on(page)

    # An address sets the settings; a changed setting changes the address, without loading anew.
    page.goto(f"{app_url}/?seconds=10&seed=7&temperature=hot")
    page.get_by_text("this was left out: temperature=hot").wait_for()
    page.wait_for_url(re.compile(r"\?seconds=10&seed=7$"))
    page.evaluate("window.still = true")
    length(page).focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_url(re.compile(r"\?seconds=5&seed=7$"))
    assert page.evaluate("window.still")

    # The same settings and seed make the same piece as anywhere else.
    pipeline = MusicPipeline.load(tiny_model, device="cpu", engine="auto")
    button(page, "Generate").click()
    page.get_by_text("· seed 7 · model tiny").wait_for()
    take = pipeline.generate(seconds=5, seed=7)
    assert midi_of(page) == take.midi

    # A continuation asks for the file that it goes on from, and has the same bytes then.
    longer = pipeline.continue_(music, 4.0, seconds=5, seed=9)
    page.get_by_role("radio", name="Your MIDI").click()
    give(page, 0, "longer.mid", longer.midi)
    page.get_by_text("musicgen made this: seed 9, model tiny.").wait_for()
    give(page, 1, "other.mid", take.midi)
    page.get_by_text("is not the file that it goes on from").wait_for()
    give(page, 1, "before.mid", music)
    page.get_by_text("Take 2 is this file, byte for byte.").wait_for()
    assert midi_of(page) == longer.midi
    assert page.url.endswith("?seconds=5&seed=7")
    assert page.evaluate("window.still")
    context.close()
    assert faults == []
