"""What each size of a model would take on this computer, as a table on the page *Train*."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, Any

import streamlit as st

from musicgen.errors import MusicgenError
from musicgen.ui import training_strings as strings
from musicgen.ui.markup import plain
from musicgen.ui.training import TrainingRoom

if TYPE_CHECKING:
    from musicgen.studio.estimates import Trying


def has_verdict(folder: str, minutes: int, size: str) -> bool:
    """Return whether a trial has told how a new model of a size would do in that time."""
    key, found = st.session_state.get("train_sizes") or (None, None)
    if key != (folder, minutes, False) or found is None or isinstance(found, MusicgenError):
        return False
    return size in _sizes(found)


def sizes_table(
    room: TrainingRoom, folder: str, minutes: int, *, size: str | None, is_busy: bool
) -> Callable[[], None] | None:
    """Offer to try the sizes out, or going on with a model, and show what was found.

    Args:
        room: What tries them.
        folder: The music.
        minutes: How long the run is to be.
        size: That is chosen; None to begin with the piano model.
        is_busy: Whether a run is at work: what is tried beside it would tell nothing.

    Returns:
        What tries them, to be called when all else of the page is drawn; None where nothing is to
        be tried. Whatever else is pressed on the page breaks it off, and the trial ends with it.
    """
    key = (folder, minutes, size is None)
    is_asked = st.button(
        strings.TRY,
        key="train_try",
        icon=":material/timer:",
        help=strings.TRY_BUSY if is_busy else strings.TRY_HELP,
        disabled=is_busy,
    )
    if is_asked:
        box = st.empty()
        st.button(strings.TRY_END, key="train_try_end", icon=":material/stop_circle:")
        return lambda: _try(room, key, box)
    seen = st.session_state.get("train_sizes")
    if seen is not None and seen[0] == key:
        _show(seen[1], size)
    return None


def _try(room: TrainingRoom, key: tuple[str, int, bool], box: Any) -> None:
    """Try the sizes out, and say how long that takes."""
    folder, minutes, from_model = key
    state = st.session_state
    state["train_sizes"] = None
    try:
        with closing(room.try_sizes(folder, minutes, from_model=from_model)) as trial:  # pyright: ignore[reportArgumentType] - it is a generator
            for step in trial:
                state["train_sizes"] = (key, step)
                box.info(strings.trying(step), icon=":material/timer:")
    except MusicgenError as error:
        state["train_sizes"] = (key, error)
    st.rerun()


def _show(found: Trying | MusicgenError, size: str | None) -> None:
    if isinstance(found, MusicgenError):
        st.error(f"{plain(found.message)} {plain(found.hint)}", icon=":material/error:")
        return
    if not found.is_over:
        # Of the piano model one thing is tried: what was found is it.
        is_missing = not found.found if size is None else size not in _sizes(found)
        missing = _name(size) if is_missing else None
        st.info(strings.tried_in_part(found, missing), icon=":material/timer:")
    if not found.found:
        return
    sizes = found.found
    st.dataframe(
        {
            strings.SIZE: [_name(size and each.size) for each in sizes],
            strings.COLUMN_PARAMETERS: [f"{each.parameters / 1e6:.1f} M" for each in sizes],
            strings.COLUMN_STEP: [
                strings.measured(each.seconds_per_step, "{:.2f} s") for each in sizes
            ],
            strings.COLUMN_STEPS: [strings.measured(each.steps, "{:,}") for each in sizes],
            strings.COLUMN_READ: [strings.measured(each.epochs, "{:.1f} ×") for each in sizes],
            strings.COLUMN_MEMORY: [
                strings.measured(each.memory_bytes and each.memory_bytes / 1e9, "{:.1f} GB")
                for each in sizes
            ],
            strings.COLUMN_VERDICT: [each.verdict for each in sizes],
        },
        hide_index=True,
        width="stretch",
        key="train_sizes_table",
    )


def _sizes(found: Trying) -> tuple[str, ...]:
    return tuple(each.size for each in found.found)


def _name(size: str | None) -> str:
    """Return what a size is called, or for None the piano model."""
    return strings.A_MODEL if size is None else strings.SIZES.get(size, size)
