"""What every page does for the keyboard that Streamlit does not; nothing of it is seen."""

from __future__ import annotations

from pathlib import Path

from streamlit.components.v2 import component

from musicgen.ui.components.shared import shared

_HERE = Path(__file__).resolve().parent
_HTML = (_HERE / "manners.html").read_text(encoding="utf-8")
_JS = "\n".join([shared("words.js"), (_HERE / "manners.js").read_text(encoding="utf-8")])


def manners() -> str | None:
    """Teach them to the page that is being drawn.

    Returns:
        What the page showed, where it asks to be drawn since it may have outlived its studio: known
        before anything is drawn, so that nothing else is shown for a moment.
    """
    mount = component("musicgen_manners", html=_HTML, css="", js=_JS)
    outlived = mount(key="manners", on_outlived_change=_nothing).get("outlived")
    return outlived if isinstance(outlived, str) else None


def _nothing() -> None:
    """Nothing to do: the page is drawn anew."""
