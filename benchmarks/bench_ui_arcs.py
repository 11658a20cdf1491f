"""How soon attention is seen: from a click on a note to the frame in which its arcs are drawn.

    python benchmarks/bench_ui_arcs.py
    python benchmarks/bench_ui_arcs.py --smoke                 # one click each

The app is served as `musicgen ui` does, and driven in a real Chromium. The clock runs in the page:
from the browser's own click until the frame after the arcs were drawn. "first" is the first click
on a piece, for which the model reads it; "later" are clicks on other notes; "another layer" is a
press on a layer, for which nothing is asked of the server.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from bench_ui_first_sound import BROWSERS, PATIENCE_S, served
from rounds import Table, interleaved, parser_of

if TYPE_CHECKING:
    from playwright.sync_api import Page

# The time of the last press, and of the frame after the words beside the arcs were written anew:
# the arcs are drawn in the same frame.
WATCH = """() => {
  const find = (name) => [...document.querySelectorAll("*")]
    .map((e) => e.shadowRoot?.querySelector(name)).find(Boolean);
  const words = find(".mg .looks");
  addEventListener("pointerup", (event) => {
    window.clicked = event.timeStamp;
    window.drawn = 0;
  }, true);
  new MutationObserver(() => {
    if (!window.drawn && words.childElementCount) {
      requestAnimationFrame(() => requestAnimationFrame((now) => { window.drawn ||= now; }));
    }
  }).observe(words, { childList: true });
}"""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = parser_of(__doc__ or "", rounds=9)
    parser.add_argument("--model", default="piano")
    options = parser.parse_args(arguments)
    if options.smoke:
        options.rounds = 1
    first, later = measure(options)
    for what, base, measured in (
        ("the first on a piece", "first", first),
        ("when the model has read it", "later", later),
    ):
        title = f"From the click on a note to its arcs, {what}"
        table = Table(title=title, unit="s", base=base, measured=measured)
        table.show()
        table.keep("ui_arcs.jsonl", options, model=options.model, what=what)


def measure(options: argparse.Namespace) -> tuple[dict[str, list], dict[str, list]]:
    """Return seconds by what was pressed: first clicks on pieces, and later ones."""
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        sys.exit(f"no browser: none of {', '.join(BROWSERS)} is on the PATH")
    with served(options.model) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1360, "height": 1400})
        page.set_default_timeout(PATIENCE_S * 1000)
        page.goto(url)
        page.locator(".mg .examples button").first.wait_for()
        page.wait_for_timeout(15_000)  # the model is loaded, the examples' sound made
        page.evaluate(WATCH)
        firsts = []
        examples = page.locator(".mg .examples button")
        for number in range(1, examples.count()):  # each is a piece that the model has not read
            examples.nth(number).click()
            page.wait_for_timeout(1500)
            page.locator(".mg .play").click()
            page.wait_for_timeout(1000)
            firsts.append(arcs_s(page, 0.5))
        places = iter([0.2, 0.8, 0.35, 0.65, 0.5, 0.25, 0.75, 0.4, 0.6, 0.3, 0.7, 0.45] * 9)
        contenders: dict[str, Callable[[], float]] = {
            "later": lambda: arcs_s(page, next(places)),
            "another layer": lambda: layer_s(page),
        }
        found = interleaved(contenders, options.rounds, n_warm=1)
        browser.close()
    return {"first": firsts}, found


def arcs_s(page: Page, place: float) -> float:
    """Click on a note near a place across the roll, and return after how long its arcs are seen."""
    over = page.locator(".mg .over")
    box = over.bounding_box()
    assert box
    for step in range(400):  # to a note: the pointer says so
        x, y = box["width"] * place + step // 40 * 4, 40 + step % 40 * (box["height"] - 60) / 40
        over.hover(position={"x": x, "y": y})
        if over.evaluate("(canvas) => canvas.style.cursor") == "pointer":
            page.mouse.down()
            page.mouse.up()
            page.wait_for_function("() => window.drawn")
            page.wait_for_timeout(700)
            return page.evaluate("() => (window.drawn - window.clicked) / 1000")
    sys.exit("no note was found on the roll")


def layer_s(page: Page) -> float:
    """Press a layer, and return after how long its arcs are seen."""
    page.locator(".mg .layers button[aria-pressed=false]").first.click()
    page.wait_for_function("() => window.drawn")
    page.wait_for_timeout(300)
    return page.evaluate("() => (window.drawn - window.clicked) / 1000")


if __name__ == "__main__":
    main()
