"""A page of the app as Streamlit's own test harness runs it."""

from __future__ import annotations

import time

import pytest
from streamlit.testing.v1 import AppTest

from musicgen.ui import strings


def settle(app: AppTest) -> AppTest:
    """Look at the page until nothing is being made any more."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        app.run()
        if not any(button.label in (strings.STOP, strings.STOPPING) for button in app.button):
            return app.run()  # it may have ended while that page was drawn
        time.sleep(0.1)
    pytest.fail("the music was not made within 60 seconds")
