"""What becomes of each file of a folder, as a table on the page *Train*."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import streamlit as st

from musicgen.errors import MusicgenError
from musicgen.ui import training_strings as strings
from musicgen.ui.components.files import files
from musicgen.ui.markup import one_line, plain
from musicgen.ui.training import TrainingRoom

if TYPE_CHECKING:
    from musicgen.corpus import Diagnosis

_MOST_LINES = 2000  # a browser scrolls so many without trouble


def corpus_table(room: TrainingRoom, folder: str, *, begins_new: bool) -> None:
    """Look a folder over, once a page, and show what was found.

    Args:
        room: What looks.
        folder: The music.
        begins_new: Whether a new model is to be trained on it.
    """
    seen = st.session_state.get("train_seen")
    state = (folder, _changed_ns(folder))
    if seen is None or seen[0] != state:
        seen = (state, _look_over(room, folder))
        st.session_state["train_seen"] = seen
    found = seen[1]
    if isinstance(found, MusicgenError):
        st.error(f"{plain(found.message)} {plain(found.hint)}", icon=":material/error:")
        return
    st.caption("  \n".join(plain(sentence) for sentence in found.summary()))
    lines = lines_of(found)
    files(lines)
    if len(found.files) > len(lines):
        st.caption(strings.more_files(len(found.files) - len(lines)))
    advice = room.advice(found) if begins_new else ""
    if advice:
        st.info(plain(advice), icon=":material/lightbulb:")


def looked_over(folder: str) -> Diagnosis | None:
    """Return what was found in a folder as it is; None where this page has not looked it over."""
    state, found = st.session_state.get("train_seen") or (None, None)
    is_of_it = state == (folder, _changed_ns(folder)) and not isinstance(found, MusicgenError)
    return found if is_of_it else None


def lines_of(found: Diagnosis) -> list[dict[str, Any]]:
    """Return what is told of each file; what somebody may want to mend comes first."""
    lines = sorted(found.files, key=lambda line: line.is_kept)[:_MOST_LINES]
    return [
        {
            "name": one_line(line.path, longest=120),
            "kept": line.is_kept,
            "what": line.reason,
            "why": one_line(line.message, longest=400),
            "notes": line.notes,
        }
        for line in lines
    ]


def _changed_ns(folder: str) -> int:
    """Return when files came to a folder or left it; 0 if there is none."""
    try:
        return os.stat(folder).st_mtime_ns
    except (OSError, ValueError):
        return 0


def _look_over(room: TrainingRoom, folder: str) -> Diagnosis | MusicgenError:
    bar = st.progress(0.0, text=strings.LOOKING)
    found: Diagnosis | None = None
    try:
        for step in room.look_over(folder):
            if hasattr(step, "files"):
                found = step  # pyright: ignore[reportAssignmentType]
            else:
                bar.progress(step.done / max(1, step.total), text=strings.LOOKING)  # pyright: ignore[reportAttributeAccessIssue]
    except MusicgenError as error:
        return error
    finally:
        bar.empty()
    return found if found is not None else MusicgenError(strings.NOTHING_FOUND)
