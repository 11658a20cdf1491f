"""How soon the app is heard: from the click on Generate to the first audible note.

    python benchmarks/bench_ui_first_sound.py
    python benchmarks/bench_ui_first_sound.py --smoke          # one round, for CI

The app is served as `musicgen ui` does, and driven in a real Chromium. The clock runs in the page:
from the browser's own click until what goes to the loudspeaker is above -60 dB of full scale, seen
every few milliseconds. The server is warm: it has made one piece. The sound card is left out.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rounds import ROOT, Table, interleaved, parser_of

if TYPE_CHECKING:
    from playwright.sync_api import Page

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PATIENCE_S = 300
IDLE = ".stApp[data-test-script-state='notRunning']"
LISTEN = """
  const connect = AudioNode.prototype.connect;
  let source; // what goes to the loudspeaker: it may be the same for every piece
  function listen() {
    const ear = new AnalyserNode(source.context, { fftSize: 4096 }), heard = new Float32Array(4096);
    connect.call(source, ear);
    window.ear = ear; // that of an earlier piece remembers what it heard last
    const listening = setInterval(() => {
      if (window.ear !== ear) return clearInterval(listening);
      ear.getFloatTimeDomainData(heard);
      if (window.clicked && !window.sounded && heard.some((sample) => Math.abs(sample) > 1e-3)) {
        window.sounded = performance.now();
      }
    }, 4);
  }
  AudioNode.prototype.connect = function (to, ...rest) {
    if (to instanceof AudioDestinationNode) {
      source = this;
      listen();
    }
    return connect.call(this, to, ...rest);
  };
  addEventListener("click", (event) => {
    if (!event.target.closest(".st-key-go")) return;
    window.sounded = undefined;
    window.clicked = event.timeStamp;
    if (source) listen();
  }, true);
"""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = parser_of(__doc__ or "", rounds=10)
    parser.add_argument("--lengths", type=int, nargs="+", default=[30, 120], help="seconds")
    parser.add_argument("--model", default="piano")
    options = parser.parse_args(arguments)
    if options.smoke:
        options.lengths, options.rounds = [10], 1
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        sys.exit(f"no browser: none of {', '.join(BROWSERS)} is on the PATH")
    measured = measure(program, options)
    table = Table(
        title="From the click on Generate to the first audible note, warm",
        unit="s",
        base=name_of(options.lengths[0]),
        measured=measured,
    )
    table.show()
    table.keep("ui_first_sound.jsonl", options, model=options.model)


def name_of(length_s: int) -> str:
    """Return what a contender is called."""
    return f"{length_s} s of music"


def measure(program: str, options: argparse.Namespace) -> dict[str, list]:
    """Return seconds by length asked for."""
    from playwright.sync_api import sync_playwright

    with served(options.model) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1360, "height": 900})
        page.set_default_timeout(PATIENCE_S * 1000)
        page.add_init_script(LISTEN)
        page.goto(url)
        page.locator(".mg").wait_for()
        contenders: dict[str, Callable[[], float]] = {
            name_of(length): lambda length=length: first_sound_s(page, length)
            for length in options.lengths
        }
        found = interleaved(contenders, options.rounds, n_warm=1)
        browser.close()
    return found


def first_sound_s(page: Page, length_s: int) -> float:
    """Ask for music, and return after how many seconds it was heard; then end it."""
    slider = page.get_by_role("slider", name="Length of the new music")
    slider.focus()
    now = int(slider.get_attribute("aria-valuenow") or slider.input_value())
    for _ in range(abs(now - length_s) // 5):
        page.keyboard.press("ArrowRight" if now < length_s else "ArrowLeft")
        page.wait_for_timeout(80)
    for _ in range(3):  # the page is drawn anew for every press; nothing is going on any more
        page.wait_for_timeout(500)
        page.locator(IDLE).wait_for()
    page.locator(".st-key-go button").click()
    page.wait_for_function("() => window.sounded")
    seconds = page.evaluate("() => (window.sounded - window.clicked) / 1000")
    be_still(page)
    return seconds


def be_still(page: Page) -> None:
    """Stop what is being made and what is sounding, so that only what comes next is heard."""
    stop = page.locator(".st-key-stop button")
    if stop.count():
        # It may be made by now, and the button gone.
        stop.evaluate_all("(buttons) => buttons.forEach((button) => button.click())")
    page.locator(".st-key-stop").wait_for(state="detached")
    page.locator(".st-key-go button").wait_for()
    play = page.locator(".mg .play")
    while play.inner_text().strip() != "Play":
        play.click()
        page.wait_for_timeout(300)


@contextmanager
def served(model: str, **environment: str) -> Iterator[str]:
    """Serve the app, with some variables of its environment set, and yield its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "musicgen", "ui", "--no-browser", "--port", str(port)]
    server = subprocess.Popen(
        [*command, "--model", model],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
    )
    url = f"http://127.0.0.1:{port}"
    try:
        until = time.monotonic() + PATIENCE_S
        while not answers(url):
            if server.poll() is not None or time.monotonic() > until:
                sys.exit("the app did not start")
            time.sleep(0.02)
        yield url
    finally:
        server.terminate()
        server.wait(timeout=30)


def answers(url: str) -> bool:
    """Say whether the app is up."""
    try:
        with urllib.request.urlopen(f"{url}/_stcore/health", timeout=5):
            return True
    except (urllib.error.URLError, OSError):
        return False


if __name__ == "__main__":
    main()
