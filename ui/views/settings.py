"""The left column: where to start from, how long, how varied; and the one button."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from musicgen.studio.models import TrainedModel
from musicgen.ui import address, strings, take_strings
from musicgen.ui.address import MAX_SEED, rounded
from musicgen.ui.markup import one_line
from musicgen.ui.order import Order
from musicgen.ui.resources import Studio
from musicgen.ui.state import Desk
from musicgen.ui.training_strings import run_label
from musicgen.ui.views import orders as orders_view
from musicgen.ui.views.about import about
from musicgen.ui.views.bar import take_in, write_down
from musicgen.ui.views.upload import upload

_OWN = str(address.DEFAULTS["model"])
_DEFAULTS = {"start": strings.SCRATCH, **address.DEFAULTS}
_KEPT = tuple(name for name in address.DEFAULTS if name != "seed")  # over a reload


def settings(studio: Studio, desk: Desk) -> None:
    """Draw the settings and the button."""
    take_in(studio)
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
        upload(studio, desk)
    is_chosen = _model(studio)
    st.slider(strings.LENGTH, *address.LENGTHS_S, step=5, format="%d s", key="length")
    st.slider(
        strings.VARIETY,
        *address.VARIETIES,
        step=0.05,
        format="%.2f",
        key="variety",
        help=strings.VARIETY_HELP,
    )
    _button(studio, desk)
    with st.expander(strings.ADVANCED):
        _advanced()
    if not is_chosen:
        about(studio, None, key="about_model")
    write_down()


def _model(studio: Studio) -> bool:
    """Let the visitor choose the model, and say whether there is more than the studio's own."""
    trained = studio.training.models()
    names = {_OWN: one_line(studio.model, longest=60)}
    names |= {str(model.folder): one_line(model.title, longest=60) for model in trained}
    if st.session_state.get("model") not in names:
        st.session_state["model"] = _OWN  # another may have been removed
    if trained:
        with st.container(key="model_box", gap=None):
            _model_box(names, trained)
            about(studio, st.session_state["model"] or None, key="about_model")
    return bool(trained)


def _model_box(names: dict[str, str], trained: Sequence[TrainedModel]) -> None:
    """Draw the choice; models of one name are told apart by their time."""
    said = Counter(names.values())
    for model in trained:
        name = names[str(model.folder)]
        if said[name] > 1:
            names[str(model.folder)] = run_label(name, model.begun_s)
    st.selectbox(
        strings.MODEL,
        list(names),
        format_func=lambda name: names[name],
        key="model",
        help=strings.MODEL_HELP,
    )


def from_midi() -> bool:
    """Say whether the visitor starts from a file."""
    return st.session_state.get("start") == strings.YOUR_MIDI


def _start_changed(desk: Desk) -> None:
    if from_midi() and desk.prompt is not None:
        st.session_state["show"] = desk.prompt.id


def _advanced() -> None:
    st.number_input(
        strings.TOP_P,
        min_value=address.TOP_PS[0],
        max_value=address.TOP_PS[1],
        step=0.01,
        key="top_p",
        placeholder=strings.TOP_P_EMPTY,
        help=strings.TOP_P_HELP,
    )
    st.slider(strings.TOP_K, *address.TOP_KS, key="top_k", help=strings.TOP_K_HELP)
    st.slider(strings.MIN_P, *address.MIN_PS, step=0.01, key="min_p", help=strings.MIN_P_HELP)
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
        strings.DICE,
        icon=":material/casino:",
        key="dice",
        help=strings.DICE_HELP,
        width="stretch",
        on_click=_roll_dice,
    )
    st.segmented_control(
        take_strings.COUNT,
        list(range(address.COUNTS[0], address.COUNTS[1] + 1)),
        key="count",
        required=True,
        width="stretch",
        help=take_strings.COUNT_HELP,
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
            on_click=studio.stop,
            args=(desk,),
        )
        return
    reason = lacking(desk) if from_midi() else None
    st.button(
        strings.CONTINUE if from_midi() else strings.GENERATE,
        key="go",
        type="primary",
        icon=":material/auto_awesome:",
        width="stretch",
        disabled=reason is not None,
        help=reason,
        on_click=_go,
        args=(studio, desk),
    )
    if reason is not None and desk.prompt is not None:
        st.caption(strings.remarks([reason]))


def lacking(desk: Desk) -> str | None:
    """Say why music cannot go on from the visitor's file; None where it can."""
    whole, prompt = desk.upload, desk.prompt
    if whole is None or prompt is None:
        return strings.UPLOAD_FIRST
    if not prompt.preview.is_drums_only:
        return None
    return strings.DRUMS_ONLY if whole.preview.is_drums_only else strings.DRUMS_ONLY_YET


def _go(studio: Studio, desk: Desk) -> None:
    given = from_midi()
    if given and lacking(desk) is not None:
        return
    begin(studio, desk, of_file(desk) if given else order())


def of_file(desk: Desk) -> Order:
    """Return an order of music that goes on from the visitor's file, or from what is used of it."""
    return replace(order(), upload=desk.upload, prompt=desk.prompt, prompt_seconds=desk.used_s)


def order() -> Order:
    """Return an order of a new piece, as the settings say."""
    state = st.session_state
    return Order(
        seconds=float(state["length"]),
        temperature=rounded(state["variety"]),
        top_p=None if state["top_p"] is None else rounded(state["top_p"]),
        top_k=int(state["top_k"]),
        min_p=rounded(state["min_p"]),
        seed=None if state["seed"] is None else int(state["seed"]),
        model=state["model"] or None,
    )


def begin(studio: Studio, desk: Desk, order: Order) -> None:
    """Begin to make as many pieces of one kind as the settings say."""
    orders = [
        order if order.seed is None else replace(order, seed=min(order.seed + more, MAX_SEED))
        for more in range(int(st.session_state["count"]))
    ]
    orders_view.begin(studio, desk, *orders)
