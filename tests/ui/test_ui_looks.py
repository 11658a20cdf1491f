"""The pages look as they did: screenshots, compared so loosely that fonts and hints do not count.

What it guards is what no other test sees: a page without its colours, a roll that is not drawn, two
columns that became one. Where a page was changed on purpose, `MUSICGEN_KEEP_LOOKS=1 pytest
tests/ui/test_ui_looks.py` makes the pictures anew; look at them before they are committed.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image

from browsers import opened
from musicgen.ui import lab_strings, strings, training_strings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

LOOKS = Path(__file__).parent / "looks"
SHRUNK = 16  # pixels of the screen a pixel of the picture
FAR = 0.3  # of what an empty page of the same ground would differ


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    yield from opened(chromium, [])


@pytest.mark.parametrize(
    ("width", "scheme"), [(1360, "light"), pytest.param(390, "dark", marks=pytest.mark.long)]
)
def test_the_pages_look_as_they_did(browser, app_url, width, scheme):
    page = browser.new_page(
        viewport={"width": width, "height": 848}, color_scheme=scheme, reduced_motion="reduce"
    )
    page.goto(app_url)
    pages = {strings.CREATE: "create", training_strings.TRAIN: "train", lab_strings.LAB: "lab"}
    for name, path in pages.items():
        if name != strings.CREATE and width < 640:
            page.goto(f"{app_url}/{path}")  # the links are folded away
        elif name != strings.CREATE:
            page.get_by_role("link", name=name).click()
        page.get_by_role("heading", name=name, level=1).wait_for()
        if name == strings.CREATE:
            page.locator(".mg .mini").wait_for()
        page.locator(".stApp[data-test-script-state=notRunning]").wait_for()
        page.wait_for_timeout(700)
        check(page.screenshot(), f"{path}-{width}-{scheme}.png")
    page.close()


def check(screen: bytes, name: str) -> None:
    image = Image.open(io.BytesIO(screen)).convert("RGB")
    size = (image.width // SHRUNK, image.height // SHRUNK)
    seen = image.resize(size, Image.Resampling.BOX)
    path = LOOKS / name
    if os.environ.get("MUSICGEN_KEEP_LOOKS"):
        path.parent.mkdir(exist_ok=True)
        seen.save(path)
    kept = Image.open(path).convert("RGB")
    assert kept.size == seen.size
    now, before = (np.asarray(each, dtype=float) for each in (seen, kept))
    empty = np.median(before, axis=(0, 1))
    ratio = np.abs(now - before).mean() / np.abs(empty - before).mean()
    assert ratio < FAR, name


def test_what_is_loosely_compared_is_compared(monkeypatch):
    """Guards a tolerance in which everything looks alike."""
    monkeypatch.delenv("MUSICGEN_KEEP_LOOKS", raising=False)
    light = Image.open(LOOKS / "create-1360-light.png").convert("RGB")
    no_roll = light.copy()
    no_roll.paste(light.getpixel((2, 40)), (28, 10, 84, 46))
    for image, name in (
        (Image.eval(light, lambda level: 255 - level), "create-1360-light.png"),
        (no_roll, "create-1360-light.png"),
        (light, "lab-1360-light.png"),
    ):
        with pytest.raises(AssertionError):
            check(grown(image), name)
    check(grown(light), "create-1360-light.png")


def grown(image: Image.Image) -> bytes:
    size = (image.width * SHRUNK, image.height * SHRUNK)
    out = io.BytesIO()
    image.resize(size, Image.Resampling.NEAREST).save(out, "png")
    return out.getvalue()
