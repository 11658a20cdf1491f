"""The piano roll with its player and the attention of a note: one component on canvas.

Plain JavaScript files, joined in this order; no build step, no request to another machine.
It is told `Piece.on_roll()`, which says where to ask for sound, attention and progress. It says the
state `pick` (the example chosen) and the triggers `done` (there is something new) and `act` (what
is to be made from which point). Where the studio may have been started anew it says so as the event
`musicgen:seek` on the document, with the name of its piece.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from streamlit.components.v2 import component

from musicgen.figures import THEMES, css
from musicgen.pipeline.looking import KEY_NAMES
from musicgen.ui import roll_strings, strings, take_strings
from musicgen.ui.components.shared import accent, shared

_HERE = Path(__file__).resolve().parent
_SCRIPTS = (
    "music.js",
    "paint.js",
    "notes.js",
    "over.js",
    "gaze_data.js",
    "overview.js",
    "map_fetch.js",
    "map.js",
    "map_cells.js",
    "map_paint.js",
    "habits.js",
    "gaze.js",
    "gaze_answer.js",
    "live.js",
    "watch.js",
    "player.js",
    "legend.js",
    "here.js",
    "hands.js",
    "keys.js",
    "main.js",
)


def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


_HTML = _read("roll.html")
_CSS = "\n".join([accent(".mg"), _read("roll.css"), shared("volume.css")])
_SAYS = {**strings.ROLL, **roll_strings.ROLL, **strings.VOLUME, **take_strings.HERE}
# What the library owns and the page says and shows alike.
_SHARED = {
    "KEY_NAMES": KEY_NAMES,
    "HEADS": {name: [css(colour) for colour in theme.heads] for name, theme in THEMES.items()},
    "TRACKS": {name: [css(colour) for colour in theme.tracks] for name, theme in THEMES.items()},
    "WEIGHTS": {name: theme.weights for name, theme in THEMES.items()},
}
_JS = "\n".join(
    [f"const {name} = {json.dumps(value)};" for name, value in _SHARED.items()]
    + [shared("words.js", "volume.js")]
    + [_read(name) for name in _SCRIPTS]
)


def roll(
    piece: dict[str, Any] | None,
    *,
    examples: Sequence[dict[str, Any]] = (),
    busy: bool = False,
    on_pick: Callable[[], None],
    on_act: Callable[[], None],
) -> None:
    """Show a piece.

    Args:
        piece: What `Piece.on_roll` or `Job.on_roll` returned, or None for an empty roll.
        examples: Pieces to be heard at a click before there is anything else.
        busy: Whether music is being made, so that no more can be asked for.
        on_pick: Called before the page is drawn anew when `st.session_state["roll"]["pick"]` is.
        on_act: The same of "act": what is to be made from which point of the piece.
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
            "busy": busy,
            "say": _SAYS,
        },
        on_pick_change=on_pick,
        on_act_change=on_act,
        on_done_change=_look_again,
    )


def _look_again() -> None:
    """Nothing to do: the page is drawn anew, and finds what is there."""
