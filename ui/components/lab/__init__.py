"""The attention lab on the page: steps, real tables, and what made each number.

Plain JavaScript, no build step. It is told what `musicgen.ui.lab.on_page` returns and says the
triggers `head`, which head the visitor wants to see, and `step`, to which step they have gone.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from streamlit.components.v2 import component

from musicgen.ui import lab_strings
from musicgen.ui.components.shared import shared

_HERE = Path(__file__).resolve().parent
_HTML, _CSS = ((_HERE / f"lab.{kind}").read_text(encoding="utf-8") for kind in ("html", "css"))
_JS = "\n".join(
    [
        shared("words.js"),
        *((_HERE / name).read_text(encoding="utf-8") for name in ("table.js", "lab.js")),
    ]
)


def lab(
    lesson: dict[str, Any],
    *,
    go: dict[str, Any],
    on_head: Callable[[], None],
    on_step: Callable[[], None],
) -> None:
    """Show a lesson.

    Args:
        lesson: What `on_page` returned.
        go: The `step` to be shown at the beginning, and again when `times` is another number.
        on_head: Called before the page is drawn anew when `st.session_state["lab"]["head"]` is a
            head that was pressed.
        on_step: The same of `"step"`, the name of a step that was gone to.
    """
    mount = component("musicgen_lab", html=_HTML, css=_CSS, js=_JS)
    mount(
        key="lab",
        data={"lesson": lesson, "go": go, "say": lab_strings.COMPONENT},
        on_head_change=on_head,
        on_step_change=on_step,
    )
