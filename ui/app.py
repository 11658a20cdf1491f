"""The app's entry point: Streamlit runs this file for every visitor and every change."""

from __future__ import annotations

import streamlit as st

from musicgen.assets import asset_dir
from musicgen.ui import lab_strings, strings, theme, training_strings
from musicgen.ui.components.manners import manners
from musicgen.ui.views import create, lab, train

# A file of our own: the browser would fetch the icon of a named symbol from another machine.
_ICON = asset_dir("ui") / "assets" / "icon.svg"

st.set_page_config(page_title=strings.BRAND, page_icon=str(_ICON), layout="wide")
st.html(theme.CSS)
_PAGES = {
    "create": st.Page(
        create.page,
        title=strings.CREATE,
        icon=":material/piano:",
        url_path="create",
        default=True,
    ),
    "train": st.Page(
        train.page,
        title=training_strings.TRAIN,
        icon=":material/model_training:",
        url_path="train",
    ),
    "lab": st.Page(
        lab.page,
        title=lab_strings.LAB,
        icon=":material/visibility:",
        url_path="lab",
    ),
}
st.session_state["pages"] = _PAGES  # a page is gone to by this very object
shown = st.navigation(list(_PAGES.values()), position="top")
outlived = manners()
if outlived is not None:
    st.session_state.setdefault("show", outlived)
with st.container(key="pages", horizontal=True):  # the theme shows it on a phone
    for linked in _PAGES.values():
        st.page_link(linked)
shown.run()
