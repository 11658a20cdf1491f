"""The page *Attention lab*: what to look at on the left, its steps and numbers on the right."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import streamlit as st

from musicgen.errors import MusicgenError
from musicgen.ui import lab_address
from musicgen.ui import lab_strings as strings
from musicgen.ui.components.lab import lab
from musicgen.ui.lab import on_page
from musicgen.ui.markup import plain
from musicgen.ui.pieces import Piece
from musicgen.ui.resources import Studio, studio
from musicgen.ui.routes import VISITOR_COOKIE, is_visitor
from musicgen.ui.views.bar import opened, said_of, write
from musicgen.ui.views.lab_kinds import music, printed, recall, sentence

_NAMED = 12  # of a piece's 32 digits


def page() -> None:
    """Draw the page."""
    with st.container(key="head", gap=None):
        st.title(strings.LAB, anchor=False)
        st.markdown(strings.LEDE)
    shared = studio()
    pieces = _pieces(shared)
    left_out = _take_in(pieces)
    recall("lab_kind")
    left, right = st.columns([1, 3], gap="large")
    with left, st.container(key="lab_settings"):
        st.segmented_control(
            strings.WHAT,
            list(strings.KINDS),
            key="lab_kind",
            required=True,
            format_func=lambda kind: strings.KINDS[kind],
            width="stretch",
        )
        kind = st.session_state["lab_kind"]
        _keep_heads_apart(kind)
        st.caption(strings.ABOUT[kind])
        try:
            view = {
                "sentence": sentence,
                "music": lambda: music(shared, pieces),
                "printed": printed,
            }[kind]()
        except MusicgenError as error:
            view = error
    kept = st.session_state["lab_kept"]
    kept.update({name: st.session_state.get(name, kept[name]) for name in kept})
    write("lab_address", lab_address.NAMES, lab_address.written(kept, _called(kept, pieces)))
    with right:
        if left_out:
            st.info(left_out, icon=":material/info:")
        if isinstance(view, MusicgenError):
            st.info(f"{plain(view.message)} {plain(view.hint)}", icon=":material/info:")
        else:
            go = {"step": kept["lab_step"], "times": st.session_state.get("lab_taken", 0)}
            lab(on_page(view), go=go, on_head=_head_pressed, on_step=_step_gone_to)
    shared.warm_up()


def _take_in(pieces: Mapping[str, Piece]) -> str | None:
    """Show what the address says, where it is another one; return what to say about it."""
    state = st.session_state
    given = opened("lab_address", lab_address.NAMES, is_fresh="lab_kind" not in state)
    if given is None:
        return None
    found, left_out = lab_address.read(
        given, lambda called: pieces[called].id if called in pieces else None
    )
    for name in (*found, "lab_whole", "lab_asked", "lab_heads"):
        state.pop(name, None)  # the widget takes what is kept
    state["lab_kept"] = found
    state["lab_taken"] = state.get("lab_taken", 0) + 1
    return said_of(left_out)


def _called(kept: Mapping[str, Any], pieces: Mapping[str, Piece]) -> str | None:
    """Return what an address calls the piece that is looked at."""
    return next((name for name, each in pieces.items() if each.id == kept["lab_piece"]), None)


def _keep_heads_apart(kind: str) -> None:
    """Let each kind of lesson keep its own head: the book's begins at the printed one."""
    state = st.session_state
    before = state["lab_kept"]["lab_kind"]
    if kind == before:
        return
    heads = state.setdefault("lab_heads", {})
    heads[before] = state.get("lab_head") or state["lab_kept"]["lab_head"]
    state["lab_head"] = heads.get(kind, 1)


def _head_pressed() -> None:
    head = st.session_state["lab"].get("head")
    if isinstance(head, int):
        st.session_state["lab_head"] = head + 1


def _step_gone_to() -> None:
    step = st.session_state["lab"].get("step")
    if step in strings.STEPS:
        st.session_state["lab_kept"]["lab_step"] = step


def _pieces(shared: Studio) -> dict[str, Piece]:
    """Return what can be looked at, by what an address calls it.

    The visitor's takes, newest first, their file, the examples. An address tells too little of a
    name to ask the studio for the piece: others see in it what they have themselves.
    """
    cookie = st.context.cookies.get(VISITOR_COOKIE)
    desk: Any = st.session_state.get("desk")
    if is_visitor(cookie):
        with suppress(MusicgenError):  # no desk is free: there are no takes then
            desk = shared.desks.of(str(cookie))
    own = [] if desk is None else [*reversed(desk.takes), *([desk.prompt] if desk.prompt else [])]
    examples = {f"example-{n}": piece for n, piece in enumerate(shared.examples, start=1)}
    return {**{piece.id[:_NAMED]: piece for piece in own}, **examples}
