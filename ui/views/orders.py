"""Beginning to make music, at most once at a time for a visitor."""

from __future__ import annotations

import streamlit as st

from musicgen.ui.order import Order
from musicgen.ui.resources import Studio
from musicgen.ui.state import Desk


def begin(studio: Studio, desk: Desk, *orders: Order) -> str | None:
    """Begin, unless something is already being made: a double click, or another tab.

    Returns:
        The first job's name; None if nothing was begun.
    """
    state = st.session_state
    busy = desk.job
    if busy is not None and busy.active:
        state["met"] = state["show"] = busy.id
        return None
    state["notice"] = state["against"] = None
    state["asked"] = state["show"] = studio.submit(desk, *orders).id
    return state["asked"]
