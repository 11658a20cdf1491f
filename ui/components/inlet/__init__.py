"""What stands between a choice of files and Streamlit's uploader.

The uploader draws a line for each file, and a browser stands still over thousands. So many files
are packed into one zip before it sees them; what is too large is said where it stays; and what the
uploader says of a file that did not arrive is put into words.

Plain JavaScript, no build step: it hears of a choice before the uploader does.
"""

from __future__ import annotations

from pathlib import Path

from streamlit.components.v2 import component

from musicgen.ui import inlet_strings
from musicgen.ui.components.shared import shared

_HERE = Path(__file__).resolve().parent
_HTML, _CSS, _OWN = (
    (_HERE / f"inlet.{kind}").read_text(encoding="utf-8") for kind in ("html", "css", "js")
)
_JS = f"{shared('words.js')}\n{_OWN}"


def inlet(*, most_files: int, most_mb: int, is_empty: bool) -> None:
    """Watch over the uploader in the same container.

    Args:
        most_files: So many are let through as they are.
        most_mb: Of one file, and of what is packed, in MiB.
        is_empty: Whether nothing was taken in, or it was taken off the page.
    """
    mount = component("musicgen_inlet", html=_HTML, css=_CSS, js=_JS)
    data = {"mostFiles": most_files, "mostMb": most_mb, "isEmpty": is_empty}
    mount(key="inlet", data={**data, "say": inlet_strings.INLET})
