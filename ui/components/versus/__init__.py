"""Two takes on one playhead: heard in turn at the same place, and judged by ear alone.

Plain JavaScript on a canvas, no build step. It says the triggers `vote` and `close`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from streamlit.components.v2 import component

from musicgen.ui import strings, take_strings
from musicgen.ui.components.shared import accent, shared

_HERE = Path(__file__).resolve().parent
_HTML, _CSS, _JS = (
    (_HERE / f"versus.{kind}").read_text(encoding="utf-8") for kind in ("html", "css", "js")
)
_CSS = f"{accent('.mg-versus')}\n{_CSS}\n{shared('volume.css')}"
_JS = f"{shared('words.js', 'sight.js', 'volume.js')}\n{_JS}"
_SAYS = {**strings.VOLUME, **take_strings.VERSUS}


def versus(
    one: dict[str, Any],
    other: dict[str, Any],
    *,
    parting_s: float | None,
    on_vote: Callable[[], None],
    on_close: Callable[[], None],
) -> None:
    """Show two takes.

    Args:
        one: What `Piece.on_roll` returned.
        other: The same of the other one; which of the two is A, the browser draws by lot.
        parting_s: From when on they sound different; None where they never do.
        on_vote: Called before the page is drawn anew when `st.session_state["versus"]["vote"]` is:
            `one`, `other`, and `better`, their names.
        on_close: Called when there is enough of it.
    """
    mount = component("musicgen_versus", html=_HTML, css=_CSS, js=_JS)
    mount(
        key="versus",
        data={"one": one, "other": other, "parting": parting_s, "say": _SAYS},
        on_vote_change=on_vote,
        on_close_change=on_close,
    )
