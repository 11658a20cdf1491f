"""The very first click: from `musicgen ui` to the page, and from Generate to the first note.

    python benchmarks/bench_ui_first_click.py
    python benchmarks/bench_ui_first_click.py --smoke          # one round, compiled before

Every round starts the app anew, opens it in a real Chromium with an empty cache, and presses
Generate as soon as it can be pressed. "Nothing compiled" gives numba an empty folder, as on a
machine where the engine never ran. Files are in the system's cache.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bench_ui_first_sound import BROWSERS, LISTEN, PATIENCE_S, served
from rounds import Table, parser_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser

COMPILED, NOTHING = "compiled before", "nothing compiled"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = parser_of(__doc__ or "", rounds=5)
    parser.add_argument("--model", default="piano")
    options = parser.parse_args(arguments)
    if options.smoke:
        options.rounds = 1
    table = Table(
        title="The first click on a server that was just started",
        unit="s",
        base=f"{COMPILED}: from Generate to the first note",
        measured=measure(options, (COMPILED,) if options.smoke else (COMPILED, NOTHING)),
    )
    table.show()
    table.keep("ui_first_click.jsonl", options, model=options.model)


def measure(options: argparse.Namespace, states: Sequence[str]) -> dict[str, list[float]]:
    """Return seconds by state and by what was waited for."""
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        sys.exit(f"no browser: none of {', '.join(BROWSERS)} is on the PATH")
    found: dict[str, list[float]] = {}
    with sync_playwright() as playwright:
        for _ in range(options.rounds):
            for state in states:
                browser = playwright.chromium.launch(
                    executable_path=program, args=["--no-sandbox", "--disable-gpu"]
                )
                for what, seconds in first_click(browser, options.model, state).items():
                    found.setdefault(f"{state}: {what}", []).append(seconds)
                browser.close()
    return found


def first_click(browser: Browser, model: str, state: str) -> dict[str, float]:
    """Start the app, open it, press Generate, and listen."""
    page = browser.new_page(viewport={"width": 1360, "height": 900})
    page.set_default_timeout(PATIENCE_S * 1000)
    page.add_init_script(LISTEN)
    with tempfile.TemporaryDirectory() as empty:
        environment = {"NUMBA_CACHE_DIR": empty} if state == NOTHING else {}
        began = time.perf_counter()
        with served(model, **environment) as url:
            page.goto(url)
            page.locator(".st-key-go button").wait_for()
            ready_s = time.perf_counter() - began
            page.locator(".st-key-go button").click()
            page.wait_for_function("() => window.sounded")
            heard_s = page.evaluate("() => (window.sounded - window.clicked) / 1000")
    return {
        "from the command to Generate": ready_s,
        "from Generate to the first note": heard_s,
    }


if __name__ == "__main__":
    main()
