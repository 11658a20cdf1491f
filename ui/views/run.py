"""A training run on the page *Train*: its board, and what can be done with it."""

from __future__ import annotations

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
        if not run.is_active:
            with st.popover(strings.REMOVE, icon=":material/delete:", type="tertiary"):
                st.markdown(strings.REMOVE_SURE)
                if st.button(strings.REMOVE_YES, key="train_remove"):
                    room.runs.remove(run.name)
                    st.rerun()


def _go_on(room: TrainingRoom, name: str) -> None:
    st.session_state["train_notice"] = st.session_state["train_stopping"] = None
    try:
        room.runs.go_on(name)
    except MusicgenError as error:
        st.session_state["train_notice"] = error
