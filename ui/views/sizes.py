"""What each size of a model would take on this computer, as a table on the page *Train*."""

from __future__ import annotations

import streamlit as st

from musicgen.errors import MusicgenError
from musicgen.ui import training_strings as strings
from musicgen.ui.markup import plain
from musicgen.ui.training import TrainingRoom


def sizes_table(room: TrainingRoom, folder: str, minutes: int, *, from_model: bool) -> None:
    """Offer to try the sizes out, or going on with a model, and show what was found.

    Args:
        room: What tries them.
        folder: The music.
        minutes: How long the run is to be.
        from_model: Whether it is to begin with the piano model.
    """
    key = (folder, minutes, from_model)
    if st.button(strings.TRY, key="train_try", icon=":material/timer:", help=strings.TRY_HELP):
        with st.spinner(strings.TRYING):
            try:
                st.session_state["train_sizes"] = (
                    key,
                    room.estimate(folder, minutes, from_model=from_model),
                )
            except MusicgenError as error:
                st.session_state["train_sizes"] = (key, error)
    seen = st.session_state.get("train_sizes")
    if seen is None or seen[0] != key:
        return
    found = seen[1]
    if isinstance(found, MusicgenError):
        st.error(f"{plain(found.message)} {plain(found.hint)}", icon=":material/error:")
        return
    st.dataframe(
        {
            strings.SIZE: [_name(each.size, from_model) for each in found],
            strings.COLUMN_PARAMETERS: [f"{each.parameters / 1e6:.1f} M" for each in found],
            strings.COLUMN_STEP: [
                strings.measured(each.seconds_per_step, "{:.2f} s") for each in found
            ],
            strings.COLUMN_STEPS: [strings.measured(each.steps, "{:,}") for each in found],
            strings.COLUMN_READ: [strings.measured(each.epochs, "{:.1f} ×") for each in found],
            strings.COLUMN_MEMORY: [
                strings.measured(each.memory_bytes and each.memory_bytes / 1e9, "{:.1f} GB")
                for each in found
            ],
            strings.COLUMN_VERDICT: [each.verdict for each in found],
        },
        hide_index=True,
        width="stretch",
        key="train_sizes_table",
    )


def _name(size: str, from_model: bool) -> str:
    return strings.A_MODEL if from_model else strings.SIZES.get(size, size)
