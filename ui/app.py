"""The app's entry point: Streamlit runs this file for every visitor and every change."""

from __future__ import annotations

import streamlit as st

from musicgen.assets import asset_dir
from musicgen.ui import strings, theme
from musicgen.ui.views import create

# A file of our own: the browser would fetch the icon of a named symbol from another machine.
_ICON = asset_dir("ui") / "assets" / "icon.svg"

st.set_page_config(page_title=strings.BRAND, page_icon=str(_ICON), layout="wide")
st.html(theme.CSS)
st.navigation(
    [
        st.Page(
            create.page,
            title=strings.CREATE,
            icon=":material/piano:",
            url_path="create",
            default=True,
        )
    ],
    position="top",
).run()
