"""The music to train on: files that are laid down, or a folder of this computer."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from musicgen.errors import MusicgenError
from musicgen.studio.trays import Tray
from musicgen.ui import launch
from musicgen.ui import training_strings as strings
from musicgen.ui.components.inlet import inlet
from musicgen.ui.markup import one_line, plain
from musicgen.ui.routes import VISITOR_COOKIE, is_visitor
from musicgen.ui.training import TrainingRoom
from musicgen.ui.views.corpus import looked_over
from musicgen.ui.views.given import bytes_of, let_go

_LONGEST_TITLE = 60
_MOST_FILES = 100  # so many Streamlit's uploader draws without trouble


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Music that somebody chose.

    Attributes:
        folder: Where it lies.
        title: What it is called; foreign text.
        is_shown: Whether what becomes of each file is to be shown.
    """

    folder: str
    title: str
    is_shown: bool


def music(room: TrainingRoom) -> None:
    """Draw what the music is chosen with."""
    st.segmented_control(
        strings.MUSIC,
        [strings.FILES, strings.FOLDER],
        key="train_music",
        required=True,
        width="stretch",
    )
    if st.session_state["train_music"] == strings.FILES:
        _upload(room)
        return
    st.text_input(strings.PATH, key="train_path", help=strings.PATH_HELP)
    path = _path()
    refusal = None if path is None else room.refusal(str(path))
    if refusal is not None:
        st.error(f"{plain(refusal.message)} {plain(refusal.hint)}", icon=":material/error:")
    lacks = path is None or refusal is not None
    if st.button(strings.LOOK, key="train_look", icon=":material/search:", disabled=lacks):
        st.session_state["train_looked"] = path and str(path)


def chosen(room: TrainingRoom) -> Chosen | None:
    """Return the music that was chosen; None before there is any, and for a path without."""
    state = st.session_state
    if state["train_music"] == strings.FILES:
        tray = room.runs.trays.of(visitor())
        return None if tray is None or not tray.names else _laid(tray)
    path = _path()
    if path is None or room.refusal(str(path)) is not None:
        return None
    title = one_line(path.name or str(path), longest=_LONGEST_TITLE)
    is_shown = state.get("train_looked") == str(path)
    return Chosen(folder=str(path), title=title, is_shown=is_shown)


def visitor() -> str:
    """Return this visitor's secret name: their cookie, or one for this page alone."""
    cookie = st.context.cookies.get(VISITOR_COOKIE)
    if is_visitor(cookie):
        return str(cookie)
    return st.session_state.setdefault("train_visitor", secrets.token_hex(16))


def _path() -> Path | None:
    given = (st.session_state.get("train_path") or "").strip()
    return Path(os.path.expanduser(given)) if given else None  # Path's own raises for ~nobody


def _laid(tray: Tray) -> Chosen:
    """Return what was laid down, called after what is used of it, where that is known."""
    if len(tray.names) == 1:
        title = _given(tray)
    else:
        found = looked_over(str(tray.music))
        n_used = 0 if found is None else sum(line.is_kept for line in found.files)
        title = strings.files(n_used) if n_used else strings.files_given(len(tray.names))
    return Chosen(folder=str(tray.music), title=title, is_shown=not tray.is_begun)


def _given(tray: Tray) -> str:
    n_files = len(tray.names)
    title = tray.names[0] if n_files == 1 else strings.files(n_files)
    return one_line(title, longest=_LONGEST_TITLE)


def _upload(room: TrainingRoom) -> None:
    """Draw the uploader, and below it what was taken in.

    The uploader is emptied each time: a new one comes in its place. What it holds would stay in
    memory, and is gone with a reload.
    """
    number = st.session_state.setdefault("train_inlet", 0)
    tray = room.runs.trays.of(visitor())
    with st.container(gap=None):
        st.file_uploader(
            strings.UPLOAD,
            accept_multiple_files=True,
            key=f"train_files_{number}",
            help=strings.UPLOAD_HELP,
            max_upload_size=launch.MAX_MUSIC_MB,
            on_change=_uploaded,
            args=(room, f"train_files_{number}"),
        )
        inlet(most_files=_MOST_FILES, most_mb=launch.MAX_MUSIC_MB, is_empty=tray is None)
    if tray is None or not tray.names:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="train_tray"):
        title = plain(_given(tray), longest=40)
        st.caption(strings.laid(title, tray.n_bytes), width="stretch")
        if st.button(
            strings.CLEAR,
            icon=":material/close:",
            type="tertiary",
            key="train_clear",
            help=strings.CLEAR_HELP,
        ):
            room.runs.trays.clear(visitor())
            st.session_state["train_notice"] = None
            st.rerun()


def _uploaded(room: TrainingRoom, key: str) -> None:
    """Lay files into a folder that outlives the page, and let go of their memory."""
    state = st.session_state
    given = state[key]
    state["train_notice"] = None
    if not given:
        return
    try:
        read = [bytes_of(file) for file in given]
        names = [file.name for file in given]
        let_go(given)
        room.runs.trays.add(visitor(), list(zip(names, read, strict=True)))
    except MusicgenError as error:
        state["train_notice"] = error
    state["train_inlet"] += 1
