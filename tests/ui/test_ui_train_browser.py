"""The page *Train* in a real Chromium: from files to a model that plays, over a reload."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from browsers import opened
from musicgen.assets import asset_dir
from musicgen.ui import strings
from musicgen.ui import training_strings as words

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

PATIENCE_MS = 240_000
LOOK = f'button:not([disabled]):has-text("{words.LOOK}")'
IDLE = ".stApp[data-test-script-state=notRunning]"


@pytest.fixture
def page(chromium: str) -> Iterator[Page]:
    browsers: Iterator[Browser] = opened(chromium, [])
    context = next(browsers).new_context(viewport={"width": 1360, "height": 900})
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    yield page
    next(browsers, None)


def step_of(page: Page) -> int:
    """Return the step on the board; 0 before there is one."""
    told = page.locator(".mg-board dd").all_inner_texts()
    return int(told[0].partition(" / ")[0].replace(",", "")) if told and " / " in told[0] else 0


def clear(page: Page) -> None:
    """Take the files off the page, and wait until it rests: what is given before is cleared too."""
    page.locator(IDLE).wait_for()
    page.get_by_role("button", name=words.CLEAR).click()
    page.locator(".mg-files").wait_for(state="detached")
    page.locator(IDLE).wait_for()


def until_step(page: Page, step: int) -> None:
    until = time.monotonic() + PATIENCE_MS / 1000
    while step_of(page) < step:
        assert time.monotonic() < until, page.locator(".mg-board").inner_text()
        page.wait_for_timeout(200)


def test_from_files_to_a_model_that_plays(training_app_url: str, page: Page) -> None:
    broken: list[str] = []
    page.on("pageerror", lambda error: broken.append(str(error)))
    page.goto(training_app_url)
    page.get_by_test_id("stTopNav").get_by_role("link", name=words.TRAIN).click()
    # Guards a browser that stood still over a list of thousands.
    page.locator(".mg-inlet[data-hears]").wait_for(state="attached")
    inlet = page.locator('[data-testid="stFileUploader"]:visible input[type=file]')
    inlet.set_input_files(
        [{"name": f"{n}.mid", "mimeType": "", "buffer": b"x"} for n in range(101)]
    )
    page.get_by_text("101 files were packed into one zip").wait_for()
    page.get_by_text("101 files.zip").first.wait_for()
    clear(page)
    files = sorted((asset_dir("data") / "starter").glob("*.mid"))
    inlet.set_input_files(files)
    # Guards seven rows of nineteen that looked like all of them.
    more = page.locator(".mg-files .more")
    more.get_by_text(words.TABLE["more"].format(n=len(files))).wait_for()
    page.locator(".mg-files").evaluate("table => table.scrollTo(0, table.scrollHeight)")
    more.wait_for(state="hidden")
    clear(page)
    files = files[:6]
    inlet.set_input_files(files)
    page.get_by_text("6 files: 6 kept").wait_for()
    page.reload()  # Guards files that a reload forgot.
    page.get_by_text("6 files: 6 kept").wait_for()
    page.locator(".mg-files tbody tr").nth(5).wait_for()
    page.get_by_text(words.SIZES["tiny"], exact=True).click()
    slider = page.get_by_role("slider")
    for _ in range(3):
        slider.press("ArrowLeft")
    page.get_by_test_id("stSliderThumbValue").get_by_text(words.minutes(2)).wait_for()
    page.get_by_role("button", name=words.GO, exact=True).click()
    board = page.locator(".mg-board")
    board.get_by_text("6 files · Tiny · 2 min").wait_for()
    until_step(page, 2)

    # A reload finds the same run, at work.
    page.reload()
    until_step(page, 3)
    size = page.locator(".st-key-train_size [aria-checked=true]")
    assert words.SIZES["tiny"] in size.inner_text()
    assert board.locator(".state").inner_text() == words.BOARD["states"]["training"]
    assert board.locator("canvas").bounding_box() is not None

    # A second tab finds it too, and can do nothing that the first could not.
    other = page.context.new_page()
    other.goto(f"{training_app_url}/train")
    other.get_by_role("button", name=words.STOP).wait_for()
    other.close()

    page.get_by_role("button", name=words.STOP).click()
    board.get_by_text(words.BOARD["states"]["stopped"]).wait_for()
    step = step_of(page)
    page.get_by_role("button", name=words.GO_ON).click()
    until_step(page, step + 1)
    page.get_by_role("button", name=words.STOP).click()
    board.get_by_text(words.BOARD["states"]["stopped"]).wait_for()

    page.get_by_role("button", name=words.USE).click()
    page.get_by_role("button", name=strings.GENERATE).wait_for()
    model = page.get_by_role("combobox", name=strings.MODEL)
    assert "6 files · Tiny · 2 min" in (model.input_value(), model.inner_text())
    page.get_by_role("button", name=strings.GENERATE).click()
    page.get_by_text("model 6 files · Tiny · 2 min").wait_for()
    assert broken == []


def test_a_folder_stays_over_a_look_at_create(training_app_url: str, page: Page) -> None:
    """Guards a path that was gone: a browser that comes back says that the field is empty."""
    folder = str(asset_dir("data") / "starter")
    page.goto(f"{training_app_url}/train")
    page.locator(IDLE).wait_for()
    page.get_by_text(words.FOLDER, exact=True).click()
    field = page.get_by_role("textbox", name=words.PATH)
    field.fill(folder)
    field.press("Enter")
    page.locator(LOOK).wait_for()
    page.get_by_test_id("stTopNav").get_by_role("link", name=strings.CREATE).click()
    page.get_by_role("button", name=strings.GENERATE).wait_for()
    page.get_by_test_id("stTopNav").get_by_role("link", name=words.TRAIN).click()
    page.locator(LOOK).wait_for()
    assert field.input_value() == folder
