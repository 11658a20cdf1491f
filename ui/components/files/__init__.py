"""What becomes of each file, as a real table: sentences are whole, and a phone shows them too.

Plain JavaScript, no build step; names of files come in as text alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from streamlit.components.v2 import component

from musicgen.ui import training_strings
from musicgen.ui.components.shared import shared

_HERE = Path(__file__).resolve().parent
_HTML, _CSS, _OWN = (
    (_HERE / f"files.{kind}").read_text(encoding="utf-8") for kind in ("html", "css", "js")
)
_JS = f"{shared('words.js')}\n{_OWN}"


def files(lines: list[dict[str, Any]]) -> None:
    """Show what becomes of files.

    Args:
        lines: Of each its name, whether it is kept, what becomes of it in a word and in a sentence,
            and its notes.
    """
    mount = component("musicgen_files", html=_HTML, css=_CSS, js=_JS)
    mount(key="files", data={"lines": lines, "say": training_strings.TABLE})
