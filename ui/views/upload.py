"""The visitor's file: taken in, named, cut to what is used; a bad one costs nothing."""

from __future__ import annotations

import streamlit as st

from musicgen.errors import MusicgenError
from musicgen.ui import strings
from musicgen.ui.launch import MAX_UPLOAD_MB
from musicgen.ui.markup import plain
from musicgen.ui.pieces import Piece, from_upload
from musicgen.ui.state import Desk

_PROMPT_S = 30.0  # of a longer file this much is used unless the visitor says otherwise


def upload(desk: Desk) -> None:
    """Draw the uploader, and below it the file that is used and how much of it."""
    st.file_uploader(
        strings.UPLOAD,
        key="upload",
        help=strings.UPLOAD_HELP,
        on_change=_uploaded,
        args=(desk,),
        max_upload_size=MAX_UPLOAD_MB,
    )
    whole, prompt = desk.upload, desk.prompt
    error = st.session_state.get("upload_error")
    if error is not None:
        told = [plain(error.message), plain(error.hint)]
        if whole is not None:
            told.append(strings.still_used(plain(whole.title, longest=40)))
        st.error(" ".join(told), icon=":material/error:")
    if whole is None or prompt is None:
        return
    whole_s = whole.preview.end_s
    facts = strings.file_facts(notes=len(whole.preview.notes), seconds=whole_s)
    with st.container(horizontal=True, vertical_alignment="center", key="file"):
        st.caption(f"**{plain(whole.title, longest=40)}** · {facts}", width="stretch")
        st.button(
            strings.REMOVE,
            icon=":material/close:",
            type="tertiary",
            key="remove",
            help=strings.REMOVE_HELP,
            on_click=_remove,
            args=(desk,),
        )
    if prompt.preview.warnings:
        st.caption(strings.remarks([plain(warning) for warning in prompt.preview.warnings]))
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
        whole = from_upload(data, name=given.name)
        first_s = float(whole.preview.notes.onset_s[0])
        seconds = min(whole.preview.end_s, max(_PROMPT_S, first_s + _PROMPT_S / 2))
        prompt = _prompt_of(data, given.name, seconds, whole.preview.end_s)
    except MusicgenError as error:
        st.session_state["upload_error"] = error
        return
    desk.lay(whole, prompt)
    longest = max(1, int(-(-whole.preview.end_s // 1)))
    st.session_state["use"] = min(longest, max(1, int(-(-seconds // 1))))
    st.session_state["show"] = desk.prompt.id if desk.prompt else None


def _remove(desk: Desk) -> None:
    desk.lay(None)
    st.session_state["upload_error"] = None
    st.session_state.pop("use", None)


def _cut(desk: Desk) -> None:
    """Use another part of the same file."""
    whole = desk.upload
    if whole is None:
        return
    seconds = float(st.session_state["use"])
    try:
        prompt = _prompt_of(whole.midi, whole.title, seconds, whole.preview.end_s)
    except MusicgenError as error:
        st.session_state["upload_error"] = error
        return
    st.session_state["upload_error"] = None
    desk.lay(whole, prompt)
    st.session_state["show"] = desk.prompt.id if desk.prompt else None


def _prompt_of(data: bytes, name: str, seconds: float, whole_s: float) -> Piece | None:
    return None if seconds >= whole_s else from_upload(data, name=name, seconds=seconds)
