"""The piano roll with its player and the attention of a note: one component on canvas.

Plain JavaScript files, joined in this order; no build step, no request to another machine.
It is told `Piece.on_roll()`, which says where to ask for sound, attention and progress. It says the
state `pick` (the example chosen) and the trigger `done` (there is something new).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from streamlit.components.v2 import component

from musicgen.ui import strings

_HERE = Path(__file__).resolve().parent
_SCRIPTS = ("music.js", "paint.js", "gaze.js", "live.js", "player.js", "hands.js", "main.js")


def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


_HTML, _CSS = _read("roll.html"), _read("roll.css")
_JS = "\n".join(_read(name) for name in _SCRIPTS)


def roll(
    piece: dict[str, Any] | None,
    *,
    examples: Sequence[dict[str, Any]] = (),
    on_pick: Callable[[], None],
) -> None:
    """Show a piece.

    Args:
        piece: What `Piece.on_roll` or `Job.on_roll` returned, or None for an empty roll.
        examples: Pieces to be heard at a click before there is anything else.
        on_pick: Called before the page is drawn anew when `st.session_state["roll"]["pick"]` is.
    """
    # Made known at every call: a component belongs to the runtime it was made known to, and every
    # AppTest has one of its own. Streamlit 1.65, the last for Python 3.10, does not hand it on.
    # Measured at 20 µs: the strings are the same objects every time.
    mount = component("musicgen_roll", html=_HTML, css=_CSS, js=_JS)
    mount(
        key="roll",
        data={
            "piece": piece,
            "examples": list(examples),
            "say": strings.ROLL,
        },
        on_pick_change=on_pick,
        on_done_change=_look_again,
    )


def _look_again() -> None:
    """Nothing to do: the page is drawn anew, and finds what is there."""
