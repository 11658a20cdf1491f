"""The visitor's file: taken in, named, cut to what is used; a bad one costs nothing."""

from __future__ import annotations

import numpy as np
import streamlit as st

from musicgen.errors import MusicgenError
from musicgen.ui import recipe_strings, strings
from musicgen.ui.components.inlet import inlet
from musicgen.ui.launch import MAX_UPLOAD_MB
from musicgen.ui.markup import plain
from musicgen.ui.pieces import Piece, from_upload
from musicgen.ui.resources import Studio
from musicgen.ui.state import Desk
from musicgen.ui.views.again import again
from musicgen.ui.views.given import bytes_of, let_go, was_let_go
from musicgen.ui.views.use import forget, lay, use

_PROMPT_S = 30.0  # of a longer file this much is used unless the visitor says otherwise
# The uploader goes on to show what could not be read, above the file that is used.
_REFUSED = "<style>.st-key-upload .stFileChip { text-decoration: line-through; }</style>"
_KEYS = (21, 108)  # A0 to C8
_HARDLY_LONGER = 1.1  # times that: of such a file all is used, as its ending alone would be lost


def upload(studio: Studio, desk: Desk) -> None:
    """Draw the uploader, and below it the file that is used and how much of it."""
    with st.container(gap=None):
        st.file_uploader(
            strings.UPLOAD,
            key="upload",
            help=strings.UPLOAD_HELP,
            on_change=_uploaded,
            args=(desk,),
            max_upload_size=MAX_UPLOAD_MB,
        )
        inlet(most_files=1, most_mb=MAX_UPLOAD_MB, is_empty=desk.upload is None)
    whole, prompt = desk.upload, desk.prompt
    error = st.session_state.get("upload_error")
    if error is not None:
        told = [plain(error.message), plain(error.hint)]
        if whole is not None:
            told.append(strings.still_used(plain(whole.title, longest=40)))
            st.html(_REFUSED)
        st.error(" ".join(told), icon=":material/error:")
    if whole is None or prompt is None:
        return
    whole_s = whole.preview.end_s
    facts = strings.file_facts(notes=len(whole.preview.notes), seconds=whole_s)
    with st.container(horizontal=True, vertical_alignment="center", key="file"):
        title = f"**{plain(whole.title, longest=40)}**"
        used = title if error is None else strings.USED.format(title=title)
        st.caption(f"{used} · {facts}", width="stretch")
        st.button(
            strings.REMOVE,
            icon=":material/close:",
            type="tertiary",
            key="remove",
            help=strings.REMOVE_HELP,
            on_click=_remove,
            args=(desk,),
        )
    again(studio, desk, whole)
    _left_out(whole, prompt)
    use(desk)


def _left_out(whole: Piece, prompt: Piece) -> None:
    """Say in one line what of the file is not used and why; what was repaired is at hand."""
    seen = prompt.preview
    repairs = [plain(warning) for warning in seen.warnings[: seen.n_repairs]]
    told = [plain(warning) for warning in seen.warnings[seen.n_repairs :]]
    if prompt is not whole:
        told.append(recipe_strings.used(seconds=seen.end_s, of=whole.preview.end_s))
    outside = outside_keys(prompt)
    if outside:
        told.append(recipe_strings.outside_keys(outside))
    told += repairs if len(repairs) == 1 else []
    if told:
        st.caption(strings.remarks([" ".join(told)]))
    if len(repairs) > 1:
        with st.expander(recipe_strings.repaired(len(repairs))):
            st.caption("  \n".join(repairs))


def outside_keys(piece: Piece) -> int:
    """Return how many of a piece's notes no piano has a key for; drums have none at all."""
    notes, tracks = piece.preview.notes, piece.preview.tracks
    is_drum = np.array([track.is_drum for track in tracks], dtype=bool)[notes.track]
    is_outside = (notes.pitch < _KEYS[0]) | (notes.pitch > _KEYS[1])
    return int((is_outside & ~is_drum).sum())


def _uploaded(desk: Desk) -> None:
    """Read a new file; one that cannot be read leaves everything as it was.

    The file on the desk is named below the uploader and stays until it is removed there: the
    uploader is emptied by Streamlit too, before another file comes in and when it is not shown.
    """
    given = st.session_state["upload"]
    if given is not None and was_let_go(given):
        return
    st.session_state["upload_error"] = None
    if given is None:
        return
    try:
        data = bytes_of(given)
        let_go([given])
        whole = from_upload(data, name=given.name)
        first_s = float(whole.preview.notes.onset_s[0])
        used_s, end_s = max(_PROMPT_S, first_s + _PROMPT_S / 2), whole.preview.end_s
        lay(desk, whole, end_s if end_s <= _HARDLY_LONGER * used_s else round(used_s, 1))
    except MusicgenError as error:
        st.session_state["upload_error"] = error


def _remove(desk: Desk) -> None:
    desk.lay(None)
    st.session_state["upload_error"] = None
    forget()
