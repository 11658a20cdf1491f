"""The bytes of files that a visitor gave, and letting go of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import streamlit as st
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager as _Kept
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import DeletedFile

from musicgen.errors import MusicgenError
from musicgen.ui import recipe_strings as strings

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

_LET_GO: Final = "let_go"  # names of files that were taken in


def bytes_of(given: UploadedFile | DeletedFile) -> bytes:
    """Return a file's bytes.

    Raises:
        MusicgenError: The server has not got it: the page outlived the server that did, or the
            file was refused on its way.
    """
    if isinstance(given, DeletedFile):
        raise MusicgenError(strings.NOT_HERE, hint=strings.NOT_HERE_HELP)
    return given.getvalue()


def let_go(files: Sequence[UploadedFile | DeletedFile]) -> None:
    """Free the memory of files that were taken in; Streamlit keeps them as long as their page.

    With the page's next run such a file is missing, and is said to have changed by that.
    """
    context = get_script_run_ctx()
    known: set[str] = st.session_state.setdefault(_LET_GO, set())
    for file in files:
        known.add(file.file_id)
        if not isinstance(file, DeletedFile):
            file.seek(0)
            file.truncate()
        if context is not None and isinstance(context.uploaded_file_mgr, _Kept):
            context.uploaded_file_mgr.remove_file(context.session_id, file.file_id)


def was_let_go(given: UploadedFile | DeletedFile) -> bool:
    """Say whether a file was taken in before, and is missing for that alone."""
    is_missing = isinstance(given, DeletedFile)
    return is_missing and given.file_id in st.session_state.get(_LET_GO, ())
