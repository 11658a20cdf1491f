"""Foreign text for Streamlit's Markdown: shown as it is, never acted upon."""

from __future__ import annotations

import re
import unicodedata

# Everything with which Markdown, Streamlit's :shortcodes: and $mathematics$ begin, or HTML.
_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&=^@/])")
_LONGEST = 200


def one_line(text: str, *, longest: int = _LONGEST) -> str:
    """Return text without control and direction characters, on one line, of bounded length."""
    kept = "".join(
        " " if unicodedata.category(char) in ("Cc", "Zl", "Zp") else char
        for char in text
        if unicodedata.category(char) not in ("Cf", "Cs", "Co")
    )
    kept = " ".join(kept.split())
    return kept if len(kept) <= longest else kept[: longest - 1] + "…"


def plain(text: str, *, longest: int = 1000) -> str:
    """Escape text that may hold a file's or a track's name, for st.markdown and its kin."""
    return _SPECIAL.sub(r"\\\1", one_line(text, longest=longest))
