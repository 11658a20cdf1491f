"""The drawer: a visitor's takes as pictures, and what can be done with them.

Plain JavaScript files, joined in this order; no build step. It says the triggers `act` (what is to
be done with which take) and `done` (a piece that was being made is there). It hears where music
would go on from on the roll as the event `musicgen:at` on the document.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from streamlit.components.v2 import component

from musicgen.ui import take_strings
from musicgen.ui.components.shared import accent, shared

_HERE = Path(__file__).resolve().parent
_SCRIPTS = ("cards.js", "acts.js", "drawer.js")


def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


_HTML, _CSS = _read("drawer.html"), f"{accent('.mg-drawer')}\n{_read('drawer.css')}"
_JS = "\n".join([shared("words.js"), *map(_read, _SCRIPTS)])


def drawer(told: dict[str, Any], *, on_act: Callable[[], None]) -> None:
    """Show the takes.

    Args:
        told: The takes, newest first, the one on the roll, and what is being made.
        on_act: Called before the page is drawn anew when `st.session_state["drawer"]["act"]` is.
    """
    mount = component("musicgen_drawer", html=_HTML, css=_CSS, js=_JS)
    mount(
        key="drawer",
        data={**told, "say": take_strings.DRAWER},
        on_act_change=on_act,
        on_done_change=_look_again,
    )


def _look_again() -> None:
    """Nothing to do: the page is drawn anew, and finds what is there."""
