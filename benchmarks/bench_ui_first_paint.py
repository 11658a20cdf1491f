"""How soon the page is there: first paint, the roll with its notes, and a page drawn anew.

    python benchmarks/bench_ui_first_paint.py
    python benchmarks/bench_ui_first_paint.py --smoke          # one round

The app is served as `musicgen ui` does, and opened in a real Chromium, its cache empty each time.
The server is warm. "first paint" is the browser's own figure; "roll" is when the first example is
drawn; "control" is from a press on a slider until the page is done with it.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bench_ui_first_sound import BROWSERS, IDLE, PATIENCE_S, served
from rounds import Table, parser_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PAINTED = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = parser_of(__doc__ or "", rounds=9)
    parser.add_argument("--model", default="piano")
    options = parser.parse_args(arguments)
    if options.smoke:
        options.rounds = 1
    table = Table(
        title="From the address to the page, warm, with an empty cache",
        unit="s",
        base="first paint",
        measured=measure(options),
    )
    table.show()
    table.keep("ui_first_paint.jsonl", options, model=options.model)


def measure(options: argparse.Namespace) -> dict[str, list[float]]:
    """Return seconds by what was waited for."""
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        sys.exit(f"no browser: none of {', '.join(BROWSERS)} is on the PATH")
    found: dict[str, list[float]] = {"first paint": [], "roll": [], "control": []}
    with served(options.model) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-gpu"]
        )
        for i in range(1 + options.rounds):
            seconds = visit(browser, url)
            if i:  # the first wakes the server
                for name, figure in seconds.items():
                    found[name].append(figure)
        browser.close()
    return found


def visit(browser: Browser, url: str) -> dict[str, float]:
    """Open the page as somebody who was never there, and move a slider."""
    page = browser.new_page(viewport={"width": 1360, "height": 900})
    page.set_default_timeout(PATIENCE_S * 1000)
    began = time.perf_counter()
    page.goto(url)
    page.locator(".mg .mini").wait_for()
    roll = time.perf_counter() - began
    page.locator(IDLE).wait_for()
    painted = page.evaluate(PAINTED) / 1000
    slider = page.get_by_role("slider", name="Length of the new music")
    slider.focus()
    page.wait_for_timeout(300)
    began = time.perf_counter()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**seconds=**")
    page.locator(IDLE).wait_for()
    control = time.perf_counter() - began
    page.close()
    return {"first paint": painted, "roll": roll, "control": control}


if __name__ == "__main__":
    main()
