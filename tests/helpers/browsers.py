"""A real browser for the tests, and what goes wrong on its pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page


def opened(chromium: str, arguments: Sequence[str]) -> Iterator[Browser]:
    """Open a browser, and close it when the tests are done with it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu", *arguments]
        )
        yield running
        running.close()


def faults_on(page: Page) -> list[str]:
    """Return a list into which the page's errors are written from now on."""
    faults: list[str] = []

    def told(message: ConsoleMessage) -> None:
        if message.type == "error":
            faults.append(f"{message.text} ({message.location.get('url')})")

    page.on("console", told)
    page.on("pageerror", lambda error: faults.append(str(error)))
    return faults
