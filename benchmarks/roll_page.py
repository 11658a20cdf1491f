"""The roll by itself in a real Chromium, with a piece and attention of any size, and what it costs.

The component's own files are shown on a bare page; what the studio's server would answer comes from
here. Times are those of the browser's own trace: of the processor, which other programs on a shared
machine hardly change.
"""

from __future__ import annotations

import io
import json
import shutil
import sys
import wave
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bench_ui_first_sound import BROWSERS

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

Answer = Callable[[str], bytes]
HOME = "http://roll.test/"
HTML = """<!doctype html><style>
  body { margin: 20px; background: #fbfaf7; }
  .mg { --st-text-color: #1d1b17; --st-background-color: #fbfaf7; --st-font: sans-serif;
        --st-primary-color: #0f6f69; --st-secondary-background-color: #f1eee8; }
</style><div id="here"></div>"""
START = """async (piece) => {
  const { default: show } = await import("/roll.js");
  const { html, say } = await (await fetch("/said.json")).json();
  const here = document.querySelector("#here");
  here.innerHTML = html;
  const style = document.createElement("link");
  Object.assign(style, { rel: "stylesheet", href: "/roll.css" });
  here.prepend(style);
  await new Promise((done) => { style.onload = done; });
  show({ parentElement: here, data: { piece, examples: [], say },
         setStateValue() {}, setTriggerValue() {} });
}"""


def silence(seconds: float) -> bytes:
    """Return a WAV file in which nothing is heard."""
    stored = io.BytesIO()
    with wave.open(stored, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(1)
        file.setframerate(8000)
        file.writeframes(b"\x80" * round(8000 * seconds))
    return stored.getvalue()


@contextmanager
def opened_roll(piece: dict[str, Any], answers: Mapping[str, Answer]) -> Iterator[Page]:
    """Show a piece, and yield the page.

    Args:
        piece: As `Piece.on_roll` tells it.
        answers: By the beginning of an address, what its answer is made by; the longest counts.
    """
    from playwright.sync_api import sync_playwright

    from musicgen.ui.components import roll

    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        sys.exit(f"no browser: none of {', '.join(BROWSERS)} is on the PATH")
    said = json.dumps({"html": roll._HTML, "say": roll._SAYS})
    files = {
        "": (HTML, "text/html"),
        "roll.js": (roll._JS, "text/javascript"),
        "roll.css": (roll._CSS, "text/css"),
        "said.json": (said, "application/json"),
    }

    def serve(route: Route) -> None:
        path = route.request.url.removeprefix(HOME)
        if path in files:
            body, kind = files[path]
            route.fulfill(body=body, content_type=kind)
            return
        known = sorted((name for name in answers if path.startswith(name)), key=len)
        if not known:
            route.fulfill(status=404)
            return
        kind = "audio/wav" if known[-1].startswith("listen") else "application/octet-stream"
        route.fulfill(body=answers[known[-1]](path), content_type=kind)

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1360, "height": 1400})
        page.on("pageerror", lambda error: sys.exit(f"the roll broke: {error}"))
        page.route(f"{HOME}**", serve)
        page.goto(HOME)
        page.evaluate(START, piece)
        page.wait_for_timeout(500)
        yield page
        browser.close()


def traced(page: Page, act: Callable[[], object]) -> dict[str, list[float]]:
    """Return how long the page's script took while something was done, in milliseconds.

    "frames": each frame's own script; "tasks": whatever kept the page from doing anything else.
    """
    browser = page.context.browser
    assert browser is not None
    browser.start_tracing(page=page, categories=["devtools.timeline", "toplevel"])
    act()
    events = json.loads(browser.stop_tracing())["traceEvents"]
    main = {
        (event["pid"], event["tid"]) for event in events if event["name"] == "FireAnimationFrame"
    }
    mine = [event for event in events if (event["pid"], event["tid"]) in main and "dur" in event]
    frames = [spent_ms(event) for event in mine if event["name"] == "FireAnimationFrame"]
    tasks = [spent_ms(event) for event in mine if event["name"].endswith("RunTask")]
    return {"frames": frames, "tasks": tasks or frames}


def spent_ms(event: Mapping[str, Any]) -> float:
    """Return how long the processor was at it; by the clock where the browser does not tell."""
    return event.get("tdur", event["dur"]) / 1000


def share(figures: list[float], part: float) -> float:
    """Return what a part of the figures does not go above, such as 0.99 of them."""
    return sorted(figures)[min(len(figures) - 1, int(part * len(figures)))]
