"""A training run on the page: how it stands, its curve, pieces that it made on the way.

Plain JavaScript on a canvas, no build step. It asks the studio's own address by itself, since
Streamlit's fragments cross the page's own run (`docs/app.md`), and says the trigger `ended`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from streamlit.components.v2 import component

from musicgen.ui import training_strings
from musicgen.ui.components.shared import shared

_HERE = Path(__file__).resolve().parent
_HTML, _CSS, _OWN = (
    (_HERE / f"board.{kind}").read_text(encoding="utf-8") for kind in ("html", "css", "js")
)
_JS = f"{shared('words.js')}\n{_OWN}"


def board(run: dict[str, Any]) -> None:
    """Show a run.

    Args:
        run: Its name and title, whether it is at work, and where to ask for more.
    """
    mount = component("musicgen_board", html=_HTML, css=_CSS, js=_JS)
    mount(
        key="board", data={"run": run, "say": training_strings.BOARD}, on_ended_change=_look_again
    )


def _look_again() -> None:
    """Nothing to do: the page is drawn anew, and finds what is there."""
