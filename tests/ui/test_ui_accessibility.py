"""Every page by axe-core in a real Chromium, light and dark: nothing serious or critical.

axe-core is run by the browser's own debugger, so that the page's content security policy stays as
it is for visitors.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browsers import faults_on, opened
from musicgen.ui import lab_strings, strings, training_strings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

PATIENCE_MS = 60_000
AXE = Path(__file__).parent / "axe" / "axe.min.js"
RUN = """async () => {
  const found = await axe.run(document, { resultTypes: ["violations"] });
  return found.violations
    .filter((v) => ["serious", "critical"].includes(v.impact))
    .flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.flat().join(" ")}: ` +
      `${n.html.slice(0, 120)} ${[...n.any, ...n.all].map((a) => a.message).join(" ")}`));
}"""


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    yield from opened(chromium, [])


def serious_on(page: Page) -> list[str]:
    """Return what axe finds serious or critical on a page, its shadow trees too.

    What Streamlit draws anew is faded until it is done, and may be drawn anew at any moment: what
    is found is looked at once more, and a fault is still there then.
    """
    found: list[str] = []
    for _ in range(2):
        page.locator(".stApp[data-test-script-state=notRunning]").wait_for()
        page.wait_for_function("() => !document.querySelector('[data-stale=true]')")
        if not page.evaluate("() => 'axe' in window"):
            page.evaluate(AXE.read_text(encoding="utf-8"))
        found = page.evaluate(RUN)
        if not found:
            break
        page.wait_for_timeout(1000)
    return found


def shown_focus(page: Page, name: str) -> bool:
    """Say whether the keyboard's focus is drawn around a page's link: Streamlit draws none."""
    page.get_by_role("link", name=name).focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    return page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle") == "solid"


def go(page: Page, name: str) -> None:
    page.get_by_role("link", name=name).click()
    page.get_by_role("heading", name=name, level=1).wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_has_a_serious_fault(browser, app_url, scheme):
    context = browser.new_context(
        viewport={"width": 1360, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    faults = faults_on(page)
    page.goto(app_url)
    page.locator(".mg .examples button").first.wait_for()
    found = {"create, empty": serious_on(page)}
    assert shown_focus(page, training_strings.TRAIN)

    slider = page.get_by_role("slider", name=strings.LENGTH)
    slider.focus()
    page.keyboard.press("Home")
    page.get_by_role("button", name=strings.GENERATE).click()
    page.get_by_text("· seed").first.wait_for()
    page.get_by_role("button", name=strings.DOWNLOAD_MIDI).wait_for()
    page.locator(".mg .over").focus()
    page.keyboard.press(".")
    page.locator(".mg .gaze .heads [data-head]").first.wait_for()
    found["create, a take and its attention"] = serious_on(page)

    page.get_by_role("radio", name=strings.YOUR_MIDI).click()
    page.locator("input[type=file]").wait_for(state="attached")
    found["create, from a file"] = serious_on(page)

    go(page, training_strings.TRAIN)
    page.locator("input[type=file]").wait_for(state="attached")
    found["train"] = serious_on(page)

    go(page, lab_strings.LAB)
    page.locator(".mg-lab h2").wait_for()
    found["lab, first step"] = serious_on(page)
    page.get_by_text(lab_strings.MASK, exact=True).click()
    page.get_by_role("button", name=lab_strings.STEPS["weights"][0]).click()
    page.locator(".mg-lab td[data-above=future]").first.focus()
    found["lab, a number without a mask"] = serious_on(page)
    page.set_viewport_size({"width": 390, "height": 844})
    found["lab on a phone"] = serious_on(page)
    context.close()
    told = [f"{name}: {fault}" for name, serious in found.items() for fault in serious]
    assert not told, "\n".join(told)
    assert faults == []
