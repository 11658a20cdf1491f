"""A training run on the page *Train*: its board, and what can be done with it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import streamlit as st

from musicgen.errors import MusicgenError
from musicgen.ui import training_strings as strings
from musicgen.ui.components.board import board
from musicgen.ui.markup import one_line
from musicgen.ui.training import TrainingRoom

if TYPE_CHECKING:
    from musicgen.studio.runs import RunView

_CREATE = "create"


def run_stage(room: TrainingRoom, runs: tuple[RunView, ...], busy: RunView | None) -> None:
    """Draw the run that is looked at, and let another one be chosen.

    Args:
        room: Whose runs they are.
        runs: At least one, newest first.
        busy: The one at work, if there is one.
    """
    names = {run.name: _label(run) for run in runs}
    following = st.session_state.pop("train_run_next", None)  # a drawn widget's own cannot be set
    if following is not None:
        st.session_state["train_run"] = following
    if st.session_state.get("train_run") not in names:
        st.session_state["train_run"] = busy.name if busy is not None else runs[0].name
    if len(runs) > 1:
        st.selectbox(
            strings.RUNS, list(names), format_func=lambda name: names[name], key="train_run"
        )
    shown = next(run for run in runs if run.name == st.session_state["train_run"])
    board(
        {
            "name": shown.name,
            "title": one_line(shown.order.title, longest=120),
            "active": shown.is_active,
            "ask": f"training/{shown.name}",
        }
    )
    _after(room, shown, busy)


def _label(run: RunView) -> str:
    """Return what tells a run from others of the same title."""
    return strings.run_label(one_line(run.order.title, longest=80), run.order.begun_s)


def _after(room: TrainingRoom, run: RunView, busy: RunView | None) -> None:
    """Offer what can be done with a run."""
    with st.container(horizontal=True, key="train_after", gap="small"):
        if run.model is not None:
            in_use = st.session_state.get("model") == str(run.model)
            if st.button(
                strings.IN_USE if in_use else strings.USE,
                key="train_use",
                icon=":material/piano:",
            ):
                st.session_state["model"] = str(run.model)
                st.switch_page(st.session_state["pages"][_CREATE])
        has_more = not run.is_active and run.status.state != "finished"
        if has_more and st.button(
            strings.GO_ON, key="train_on", icon=":material/play_arrow:", disabled=busy is not None
        ):
            _go_on(room, run.name)
            st.rerun()
        if run.model is not None and run.status.state == "finished":
            _offer_more(room, run, is_busy=busy is not None)
        if not run.is_active:
            with st.popover(strings.REMOVE, icon=":material/delete:", type="tertiary"):
                st.markdown(strings.REMOVE_SURE)
                if st.button(strings.REMOVE_YES, key="train_remove"):
                    room.runs.remove(run.name)
                    st.rerun()


def _offer_more(room: TrainingRoom, run: RunView, *, is_busy: bool) -> None:
    """Offer a run that goes on with the model of one that has come to its end."""
    with st.popover(strings.GO_ON, icon=":material/play_arrow:", disabled=is_busy):
        st.markdown(strings.MORE_HELP)
        st.session_state.setdefault("train_more", 20)
        minutes = st.select_slider(
            strings.TIME, strings.MINUTES, key="train_more", format_func=strings.minutes
        )
        if st.button(strings.more(minutes), key="train_more_go", type="primary"):
            _train_on(room, run, minutes)
            st.rerun()


def _train_on(room: TrainingRoom, run: RunView, minutes: int) -> None:
    state = st.session_state
    state["train_notice"] = state["train_stopping"] = None
    title = strings.child_title(run.order.title, minutes)
    try:
        begun = room.train_on(run.name, minutes=minutes, title=title, begun_s=time.time())
    except MusicgenError as error:
        state["train_notice"] = error
        return
    state["train_run_next"] = begun.name


def _go_on(room: TrainingRoom, name: str) -> None:
    st.session_state["train_notice"] = st.session_state["train_stopping"] = None
    try:
        room.go_on(name)
    except MusicgenError as error:
        st.session_state["train_notice"] = error
