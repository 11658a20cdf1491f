"""The page *Train*: music, size and time on the left; the run and what it learns on the right."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

from musicgen.errors import MusicgenError
from musicgen.ui import launch
from musicgen.ui import training_strings as strings
from musicgen.ui.markup import plain
from musicgen.ui.resources import studio
from musicgen.ui.training import TrainingRoom
from musicgen.ui.views.corpus import corpus_table
from musicgen.ui.views.music import Chosen, chosen, music
from musicgen.ui.views.run import run_stage
from musicgen.ui.views.sizes import has_verdict, sizes_table

if TYPE_CHECKING:
    from musicgen.studio.runs import RunView

_DEFAULTS = {
    "train_music": strings.FILES,
    "train_begin": strings.NOTHING,
    "train_size": "small",
    "train_minutes": 20,
    "train_until": False,
    "train_path": "",
}


def page() -> None:
    """Draw the page."""
    with st.container(key="head", gap=None):
        st.title(strings.TRAIN, anchor=False)
        st.markdown(strings.LEDE)
    if not launch.is_for_this_computer():
        st.info(strings.ELSEWHERE, icon=":material/info:")
        return
    room = studio().training
    runs = room.runs.all()
    busy = next((run for run in runs if run.is_active), None)
    left, right = st.columns([1, 3], gap="large")
    with left, st.container(key="training"):
        _settings(room, busy)
    with right:
        trial = _stage(room, runs, busy)
    if trial is not None:
        trial()


def _settings(room: TrainingRoom, busy: RunView | None) -> None:
    state = st.session_state
    is_fresh = "train_music" not in state  # not drawn before, or not since another page was
    is_new = is_fresh and "train_kept" not in state
    # Streamlit forgets what is not drawn for once: on another page, or another kind of beginning.
    # A browser that comes back says of the text field that it is empty.
    kept = state.setdefault("train_kept", dict(_DEFAULTS))
    for name, value in kept.items():
        if is_fresh or name not in state:
            state[name] = value
    if busy is not None:
        _as_ordered(busy, folder=is_new and not room.runs.is_laid(busy.order.music))
    music(room)
    is_busy = busy is not None
    st.segmented_control(
        strings.BEGIN,
        [strings.NOTHING, strings.A_MODEL],
        key="train_begin",
        required=True,
        width="stretch",
        help=strings.BEGIN_HELP,
        disabled=is_busy,
    )
    if st.session_state["train_begin"] == strings.NOTHING:
        st.segmented_control(
            strings.SIZE,
            list(strings.SIZES),
            key="train_size",
            required=True,
            format_func=lambda name: strings.SIZES[name],
            width="stretch",
            disabled=is_busy,
        )
    st.select_slider(
        strings.TIME,
        strings.MINUTES,
        key="train_minutes",
        format_func=strings.minutes,
        help=strings.TIME_HELP,
        disabled=is_busy,
    )
    if not is_busy and _is_first_try(room):
        st.caption(strings.FIRST_TRY)
    st.toggle(strings.UNTIL, key="train_until", help=strings.UNTIL_HELP, disabled=is_busy)
    if state["train_until"]:
        st.caption(strings.at_most(state["train_minutes"]))
    kept.update({name: state[name] for name in kept if name in state})
    _button(room, busy)


def _is_first_try(room: TrainingRoom) -> bool:
    """Return whether what is chosen is a new model in few minutes, of which nobody knows better."""
    state = st.session_state
    minutes = state["train_minutes"]
    if state["train_begin"] != strings.NOTHING or minutes >= strings.FEW_MINUTES:
        return False
    wanted = chosen(room)
    return wanted is None or not has_verdict(wanted.folder, minutes, state["train_size"])


def _as_ordered(run: RunView, *, folder: bool) -> None:
    """Show the settings of the run at work; they stay when it has ended.

    Args:
        run: It.
        folder: Whether its music is a folder of somebody's own, to be shown on a new page.
    """
    state, recipe = st.session_state, run.order.recipe
    if folder:
        state["train_music"], state["train_path"] = strings.FOLDER, run.order.music
    from musicgen.studio.orders import PIANO

    is_piano = run.order.start_from == PIANO
    state["train_begin"] = strings.A_MODEL if is_piano else strings.NOTHING
    if recipe.preset in strings.SIZES:
        state["train_size"] = recipe.preset
    minutes = recipe.minutes or _DEFAULTS["train_minutes"]
    state["train_until"] = recipe.patience is not None
    state["train_minutes"] = min(strings.MINUTES, key=lambda each: abs(each - minutes))


def _button(room: TrainingRoom, busy: RunView | None) -> None:
    """Offer to begin, or to stop what is at work.

    What is pressed is asked of the buttons, not told by them: a studio that was started anew does
    not know the callbacks of a page that is still open, and would lose its first press.
    """
    if busy is not None:
        stopping = st.session_state.get("train_stopping") == busy.name
        if st.button(
            strings.STOPPING if stopping else strings.STOP,
            key="train_stop",
            type="primary",
            icon=":material/stop_circle:",
            width="stretch",
            disabled=stopping,
        ):
            _stop(room, busy.name)
            st.rerun()
        return
    wanted = chosen(room)
    if st.button(
        strings.GO,
        key="train_go",
        type="primary",
        icon=":material/model_training:",
        width="stretch",
        disabled=wanted is None,
        help=None if wanted is not None else strings.GO_FIRST,
    ):
        if wanted is not None:
            _go(room, wanted)
        st.rerun()


def _go(room: TrainingRoom, wanted: Chosen) -> None:
    state = st.session_state
    state["train_notice"] = None
    from_model = state["train_begin"] == strings.A_MODEL
    size = None if from_model else state["train_size"]
    begin = strings.A_MODEL if size is None else strings.SIZES[size]
    minutes, ends_early = state["train_minutes"], bool(state["train_until"])
    length = strings.at_most(minutes) if ends_early else strings.minutes(minutes)
    try:
        run = room.start(
            wanted.folder,
            title=strings.run_title(wanted.title, begin, length),
            size=size,
            minutes=minutes,
            begun_s=time.time(),
            ends_early=ends_early,
        )
    except MusicgenError as error:
        state["train_notice"] = error
        return
    state["train_run"] = run.name
    state["train_looked"] = None


def _stop(room: TrainingRoom, name: str) -> None:
    st.session_state["train_stopping"] = name
    room.runs.stop(name)


def _stage(
    room: TrainingRoom, runs: tuple[RunView, ...], busy: RunView | None
) -> Callable[[], None] | None:
    trial = None
    notice = st.session_state.get("train_notice")
    if isinstance(notice, MusicgenError):
        st.error(f"{plain(notice.message)} {plain(notice.hint)}", icon=":material/error:")
    wanted = chosen(room)
    if wanted is not None and wanted.is_shown:
        minutes = st.session_state["train_minutes"]
        from_model = st.session_state["train_begin"] == strings.A_MODEL
        corpus_table(room, wanted.folder, begins_new=not from_model)
        trial = sizes_table(
            room,
            wanted.folder,
            minutes,
            size=None if from_model else st.session_state["train_size"],
            is_busy=busy is not None,
        )
    elif not runs:
        st.info(strings.EMPTY, icon=":material/info:")
    if runs:
        run_stage(room, runs, busy)
    return trial
