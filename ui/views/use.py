"""How much of the visitor's file the music goes on from: a slider, and a box for an exact time."""

from __future__ import annotations

import math

import streamlit as st

from musicgen.errors import MusicgenError
from musicgen.ui import strings
from musicgen.ui.pieces import Piece, from_upload
from musicgen.ui.state import Desk

_LEAST_S = 0.1


def use(desk: Desk) -> None:
    """Draw both; they follow each other."""
    whole = desk.upload
    if whole is None or whole.preview.end_s <= 2:
        return
    state = st.session_state
    # The widgets' own memory is lost while "Scratch" is chosen; the desk's is not.
    if "use" not in state or "use_exactly" not in state:
        _set(desk.used_s or whole.preview.end_s, whole)
    slider, box = st.columns([5, 2], vertical_alignment="bottom", gap="small")
    slider.slider(
        strings.USE_FIRST,
        1,
        _longest(whole),
        key="use",
        format="%d s",
        help=strings.USE_FIRST_HELP,
        on_change=_changed,
        args=(desk, "use"),
    )
    box.number_input(
        strings.USE_EXACTLY,
        min_value=_LEAST_S,
        max_value=float(_longest(whole)),
        step=0.1,
        format="%.1f",
        key="use_exactly",
        label_visibility="collapsed",
        on_change=_changed,
        args=(desk, "use_exactly"),
    )


def lay(desk: Desk, whole: Piece, seconds: float) -> None:
    """Put a file on the desk, and use its first seconds.

    Raises:
        MusicgenError: No note begins in them.
    """
    is_all = seconds >= whole.preview.end_s
    part = None if is_all else from_upload(whole.midi, name=whole.title, seconds=seconds)
    desk.lay(whole, part, None if is_all else seconds)
    _set(seconds, whole)
    if desk.prompt is not None:
        st.session_state["show"] = desk.prompt.id


def cut(desk: Desk, seconds: float) -> bool:
    """Use another part of the file that is there, and say whether that was possible."""
    whole = desk.upload
    if whole is None:
        return False
    st.session_state["upload_error"] = None
    try:
        lay(desk, whole, seconds)
    except MusicgenError as error:
        st.session_state["upload_error"] = error
        return False
    return True


def _changed(desk: Desk, name: str) -> None:
    cut(desk, float(st.session_state[name]))


def forget() -> None:
    """Forget how much was used: the file is gone."""
    for name in ("use", "use_exactly"):
        st.session_state.pop(name, None)


def _set(seconds: float, whole: Piece) -> None:
    end_s = whole.preview.end_s
    st.session_state["use"] = _longest(whole) if seconds >= end_s else max(1, round(seconds))
    st.session_state["use_exactly"] = max(_LEAST_S, round(min(seconds, end_s), 3))


def _longest(whole: Piece) -> int:
    return max(1, math.ceil(whole.preview.end_s))
