"""The left column: where to start from, how long, how varied; and the one button."""

from __future__ import annotations

import secrets

import streamlit as st

from musicgen.errors import MusicgenError
from musicgen.ui import strings
from musicgen.ui.jobs import Job, Order
from musicgen.ui.markup import plain
from musicgen.ui.pieces import from_upload
from musicgen.ui.resources import Studio
from musicgen.ui.state import Desk

MAX_SEED = 2**32 - 1
_PROMPT_S = 30.0  # of a longer file this much is used unless the visitor says otherwise
_DEFAULTS = {
    "start": strings.SCRATCH,
    "length": 30,
    "variety": 1.0,
    "top_p": 0.95,
    "top_k": 0,
    "min_p": 0.0,
    "seed": None,
}


def settings(studio: Studio, desk: Desk) -> None:
    """Draw the settings and the button."""
    for name, value in _DEFAULTS.items():
        st.session_state.setdefault(name, value)
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
        _upload(desk)
    st.slider(strings.LENGTH, 5, 120, step=5, format="%d s", key="length")
    st.slider(
        strings.VARIETY, 0.5, 1.5, step=0.05, format="%.2f", key="variety", help=strings.VARIETY_HELP
    )
    with st.expander(strings.ADVANCED):
        _advanced()
    _button(studio, desk)


def from_midi() -> bool:
    """Say whether the visitor starts from a file."""
    return st.session_state.get("start") == strings.YOUR_MIDI


def _start_changed(desk: Desk) -> None:
    if from_midi() and desk.prompt is not None:
        st.session_state["show"] = desk.prompt.id


def _upload(desk: Desk) -> None:
    st.file_uploader(
        strings.UPLOAD,
        key="upload",
        help=strings.UPLOAD_HELP,
        on_change=_uploaded,
        args=(desk,),
        max_upload_size=8,
    )
    error = st.session_state.get("upload_error")
    if error is not None:
        st.error(f"{plain(error.message)} {plain(error.hint)}", icon=":material/error:")
    upload, prompt = desk.upload, desk.prompt
    if upload is None or prompt is None:
        return
    whole_s = upload.preview.end_s
    facts = strings.file_facts(notes=len(upload.preview.notes), seconds=whole_s)
    with st.container(horizontal=True, vertical_alignment="center", key="file"):
        st.caption(f"**{plain(upload.title, longest=40)}** · {facts}", width="stretch")
        st.button(
            "",
            icon=":material/close:",
            type="tertiary",
            key="remove",
            help=strings.REMOVE_HELP,
            on_click=_remove,
            args=(desk,),
        )
    for warning in upload.preview.warnings:
        st.caption(f":material/info: {plain(warning)}")
    longest = max(1, int(-(-whole_s // 1)))
    if longest > 2:
        # The widget's own memory is lost while "Scratch" is chosen; the desk's is not.
        st.session_state.setdefault("use", min(longest, round(prompt.preview.end_s) or 1))
        st.slider(
            strings.USE_FIRST,
            1,
            longest,
            key="use",
            format="%d s",
            help=strings.USE_FIRST_HELP,
            on_change=_cut,
            args=(desk,),
        )


def _uploaded(desk: Desk) -> None:
    """Read a new file; one that cannot be read leaves everything as it was.

    The file on the desk is named below the uploader and stays until it is removed there: the
    uploader is emptied by Streamlit too, before another file comes in and when it is not shown.
    """
    st.session_state["upload_error"] = None
    given = st.session_state["upload"]
    if given is None:
        return
    data = given.getvalue()
    try:
        upload = from_upload(data, name=given.name)
        seconds = min(upload.preview.end_s, _PROMPT_S)
        prompt = _prompt_of(data, given.name, seconds, upload.preview.end_s)
    except MusicgenError as error:
        st.session_state["upload_error"] = error
        return
    desk.lay(upload, prompt)
    longest = max(1, int(-(-upload.preview.end_s // 1)))
    st.session_state["use"] = min(longest, max(1, int(-(-seconds // 1))))
    st.session_state["show"] = desk.prompt.id if desk.prompt else None


def _remove(desk: Desk) -> None:
    desk.lay(None)
    st.session_state["upload_error"] = None
    st.session_state.pop("use", None)


def _cut(desk: Desk) -> None:
    """Use another part of the same file."""
    upload = desk.upload
    if upload is None:
        return
    seconds = float(st.session_state["use"])
    try:
        prompt = _prompt_of(upload.midi, upload.title, seconds, upload.preview.end_s)
    except MusicgenError as error:
        st.session_state["upload_error"] = error
        return
    st.session_state["upload_error"] = None
    desk.lay(upload, prompt)
    st.session_state["show"] = desk.prompt.id if desk.prompt else None


def _prompt_of(data: bytes, name: str, seconds: float, whole_s: float):
    return None if seconds >= whole_s else from_upload(data, name=name, seconds=seconds)


def _advanced() -> None:
    st.slider(strings.TOP_P, 0.5, 1.0, step=0.01, key="top_p", help=strings.TOP_P_HELP)
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
    """Begin, unless something is already being made (a double click)."""
    if desk.job is not None and desk.job.active:
        return
    state = st.session_state
    given = from_midi()
    upload, prompt = (desk.upload, desk.prompt) if given else (None, None)
    if given and prompt is None:
        return
    state["notice"] = None
    order = Order(
        seconds=float(state["length"]),
        temperature=float(state["variety"]),
        top_p=float(state["top_p"]),
        top_k=int(state["top_k"]),
        min_p=float(state["min_p"]),
        seed=None if state["seed"] is None else int(state["seed"]),
        upload=upload,
        prompt=prompt,
        prompt_seconds=None if prompt is upload or prompt is None else float(state["use"]),
    )
    desk.job = studio.workshop.submit(Job(order, keep=desk.keep))


def _stop(studio: Studio, desk: Desk) -> None:
    job = desk.job
    if job is None:
        return
    job.stop()
    if studio.workshop.withdraw(job):
        job.finish(None)
