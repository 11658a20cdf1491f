"""The left column: where to start from, how long, how varied; and the one button."""

from __future__ import annotations

import secrets

import streamlit as st

from musicgen.ui import strings
from musicgen.ui.jobs import Order
from musicgen.ui.resources import Studio
from musicgen.ui.state import Desk
from musicgen.ui.views.upload import upload

MAX_SEED = 2**32 - 1
_DEFAULTS = {
    "start": strings.SCRATCH,
    "length": 30,
    "variety": 1.0,
    "top_p": None,
    "top_k": 0,
    "min_p": 0.0,
    "seed": None,
}
_KEPT = ("length", "variety", "top_p", "top_k", "min_p")  # over a reload


def settings(studio: Studio, desk: Desk) -> None:
    """Draw the settings and the button."""
    for name, value in _DEFAULTS.items():
        st.session_state.setdefault(name, desk.settings.get(name, value))
    desk.settings = {name: st.session_state[name] for name in _KEPT}
    st.segmented_control(
        strings.START,
        [strings.SCRATCH, strings.YOUR_MIDI],
        key="start",
        required=True,
        width="stretch",
        on_change=_start_changed,
        args=(desk,),
    )
    if from_midi():
        upload(desk)
    st.slider(strings.LENGTH, 5, 120, step=5, format="%d s", key="length")
    st.slider(
        strings.VARIETY,
        0.5,
        1.5,
        step=0.05,
        format="%.2f",
        key="variety",
        help=strings.VARIETY_HELP,
    )
    _button(studio, desk)
    with st.expander(strings.ADVANCED):
        _advanced()


def from_midi() -> bool:
    """Say whether the visitor starts from a file."""
    return st.session_state.get("start") == strings.YOUR_MIDI


def _start_changed(desk: Desk) -> None:
    if from_midi() and desk.prompt is not None:
        st.session_state["show"] = desk.prompt.id


def _advanced() -> None:
    st.number_input(
        strings.TOP_P,
        min_value=0.0,
        max_value=1.0,
        step=0.01,
        key="top_p",
        placeholder=strings.TOP_P_EMPTY,
        help=strings.TOP_P_HELP,
    )
    st.slider(strings.TOP_K, 0, 128, key="top_k", help=strings.TOP_K_HELP)
    st.slider(strings.MIN_P, 0.0, 0.3, step=0.01, key="min_p", help=strings.MIN_P_HELP)
    number, dice = st.columns([3, 1], vertical_alignment="bottom")
    number.number_input(
        strings.SEED,
        min_value=0,
        max_value=MAX_SEED,
        step=1,
        key="seed",
        placeholder=strings.SEED_EMPTY,
        help=strings.SEED_HELP,
    )
    dice.button(
        "",
        icon=":material/casino:",
        key="dice",
        help=strings.DICE,
        width="stretch",
        on_click=_roll_dice,
    )


def _roll_dice() -> None:
    st.session_state["seed"] = secrets.randbelow(100_000)


def _button(studio: Studio, desk: Desk) -> None:
    job = desk.job
    if job is not None and job.active:
        st.button(
            strings.STOPPING if job.stopping else strings.STOP,
            key="stop",
            type="primary",
            icon=":material/stop_circle:",
            width="stretch",
            disabled=job.stopping,
            on_click=_stop,
            args=(studio, desk),
        )
        return
    lacking = from_midi() and desk.prompt is None
    st.button(
        strings.CONTINUE if from_midi() else strings.GENERATE,
        key="go",
        type="primary",
        icon=":material/auto_awesome:",
        width="stretch",
        disabled=lacking,
        help=strings.UPLOAD_FIRST if lacking else None,
        on_click=_go,
        args=(studio, desk),
    )


def _go(studio: Studio, desk: Desk) -> None:
    """Begin, unless something is already being made: a double click, or another tab."""
    state = st.session_state
    if desk.job is not None and desk.job.active:
        state["met"] = desk.job.id
        return
    given = from_midi()
    whole, prompt = (desk.upload, desk.prompt) if given else (None, None)
    if given and prompt is None:
        return
    state["notice"] = None
    order = Order(
        seconds=float(state["length"]),
        temperature=float(state["variety"]),
        top_p=None if state["top_p"] is None else float(state["top_p"]),
        top_k=int(state["top_k"]),
        min_p=float(state["min_p"]),
        seed=None if state["seed"] is None else int(state["seed"]),
        upload=whole,
        prompt=prompt,
        prompt_seconds=None if prompt is whole or prompt is None else float(state["use"]),
    )
    state["asked"] = studio.submit(desk, order).id


def _stop(studio: Studio, desk: Desk) -> None:
    job = desk.job
    if job is None:
        return
    job.stop()
    if studio.workshop.withdraw(job):
        job.finish(None)
