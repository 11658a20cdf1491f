"""The browser's address bar and the settings: each follows the other.

Streamlit tells the script which address the browser shows. Where that is not the one that was last
written, the visitor has opened another one or gone back. But a message of the page may have crossed
the newest address on its way, or the address may have been lost; so until the page has shown it,
and for some seconds at most, an older one counts for nothing and the newest is written again.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Sequence

import streamlit as st

from musicgen.studio.remaking import sha256_of
from musicgen.ui import address
from musicgen.ui import recipe_strings as strings
from musicgen.ui.markup import one_line, plain
from musicgen.ui.resources import Studio

_CROSSING_S = 5.0
_SHOWN = 12  # digits of a hash in an address


def opened(
    page: str, names: Collection[str], *, is_fresh: bool
) -> dict[str, tuple[str, ...]] | None:
    """Return a page's own parameters, where the visitor opened another address or went back.

    Args:
        page: Under this name is remembered what was last written.
        names: The page's own parameters.
        is_fresh: Whether the page was just opened, or come back to: an address that says nothing
            changes nothing then.
    """
    state = st.session_state
    given = _own(names)
    last: dict[str, tuple[str, ...]] | None = state.get(page)
    if given == (last or {}) or (is_fresh and not given):
        state[f"{page}_s"] = -math.inf  # what was written is there: another address is meant
        return None
    if not is_fresh and time.monotonic() - state.get(f"{page}_s", -math.inf) < _CROSSING_S:
        return None
    return given


def write(page: str, names: Collection[str], wanted: dict[str, tuple[str, ...]]) -> None:
    """Say a page's own parameters in the address, without loading the page anew."""
    state = st.session_state
    if _own(names) != wanted:
        # Also what was written before and did not arrive: Streamlit drops the end of a run that
        # the next one crosses.
        state[f"{page}_s"] = time.monotonic()
        params = {name: st.query_params.get_all(name) for name in st.query_params}
        others = {name: values for name, values in params.items() if name not in names}
        st.query_params.from_dict({**others, **wanted})
    state[page] = wanted


def said_of(left_out: Sequence[str]) -> str | None:
    """Say what of an address is not possible here; None where all of it is."""
    told = ", ".join(plain(one_line(each, longest=40)) for each in left_out)
    return strings.LEFT_OUT.format(settings=told) if told else None


def take_in(studio: Studio) -> None:
    """Set the settings of *Create* as the address says, where it is another one."""
    given = opened("address", address.NAMES, is_fresh="length" not in st.session_state)
    if given is None:
        return
    found, left_out = address.read(given, lambda called: _model_of(studio, called))
    st.session_state.update(found)
    notice = said_of(left_out)
    if notice is not None:
        st.session_state["notice"] = notice


def write_down() -> None:
    """Say the settings of *Create* in the address."""
    settings = {name: st.session_state[name] for name in address.DEFAULTS}
    write("address", address.NAMES, address.written(settings, _called))


def _own(names: Collection[str]) -> dict[str, tuple[str, ...]]:
    return {n: tuple(st.query_params.get_all(n)) for n in names if n in st.query_params}


def _called(folder: str) -> str | None:
    """Return what an address calls a model: the first digits of its weights' hash."""
    sha256 = sha256_of(folder)
    return None if sha256 is None else sha256[:_SHOWN]


def _model_of(studio: Studio, called: str) -> str | None:
    """Return the folder of the model that an address names; "" for the studio's own."""
    if len(called) != _SHOWN:
        return None
    if _called(studio.model) == called:
        return ""
    folders = (str(model.folder) for model in studio.training.models())
    return next((folder for folder in folders if _called(folder) == called), None)
