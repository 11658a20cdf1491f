"""Below a file that musicgen made: how it was made, and a button that makes it again."""

from __future__ import annotations

import streamlit as st

from musicgen.errors import MusicgenError
from musicgen.pipeline import Recipe
from musicgen.ui import recipe_strings as strings
from musicgen.ui.again import LONGEST_S, Remaking, given_prompt, order_of, remaking, twin
from musicgen.ui.launch import MAX_UPLOAD_MB
from musicgen.ui.markup import plain
from musicgen.ui.pieces import Piece
from musicgen.ui.resources import Studio
from musicgen.ui.state import Desk
from musicgen.ui.views.given import bytes_of, let_go, was_let_go
from musicgen.ui.views.orders import begin

_SHOWN = 12  # digits of a hash in a sentence


def again(studio: Studio, desk: Desk, piece: Piece) -> None:
    """Say that musicgen made a file, where it did, and offer to make it again."""
    seen = piece.preview
    if seen.recipe_error is not None:
        st.caption(f":material/info: {plain(seen.recipe_error.message)}")
    if seen.recipe is None:
        return
    with st.container(key="again", gap="small"):
        name = plain(seen.recipe.model, longest=60)
        st.caption(f":material/history: {strings.made_by(seed=seen.recipe.seed, model=name)}")
        found = remaking(studio, desk, seen.recipe)
        hindrance = _hindrance(found)
        if hindrance is None:
            _offer(studio, desk, found, piece.id)
        else:
            st.caption(f":material/info: {hindrance}")
        _made(desk, piece)


def _hindrance(found: Remaking) -> str | None:
    """Return why nothing can be made, in a sentence."""
    if not found.recipe.model_sha256:
        return strings.NEVER_SAVED
    if found.model is None:
        return strings.NO_MODEL.format(sha256=found.recipe.model_sha256[:_SHOWN])
    return strings.TOO_LONG.format(longest=f"{LONGEST_S:g}") if found.is_too_long else None


def _offer(studio: Studio, desk: Desk, found: Remaking, name: str) -> None:
    """Draw the button; it is a second uploader where the file that it goes on from is needed."""
    busy = desk.job is not None and desk.job.active
    if found.lacks_prompt:
        st.file_uploader(
            strings.PROMPT,
            key=f"again_{name}",  # another file asks anew
            help=strings.PROMPT_HELP,
            on_change=_prompt_given,
            args=(studio, desk, found, name),
            max_upload_size=MAX_UPLOAD_MB,
            disabled=busy,
        )
        whose, error = st.session_state.get("again_error") or (None, "")
        if whose == name:
            st.error(error, icon=":material/error:")
        return
    if found.prompt is not None:
        title = plain(found.prompt.title, longest=40)
        st.caption(f":material/info: {strings.PROMPT_HERE.format(title=title)}")
    st.button(
        strings.AGAIN,
        key="again_go",
        icon=":material/replay:",
        width="stretch",
        help=strings.AGAIN_HELP,
        disabled=busy,
        on_click=_begin,
        args=(studio, desk, found),
    )


def _prompt_given(studio: Studio, desk: Desk, found: Remaking, name: str) -> None:
    """Read the file that the music goes on from; the right one begins the work."""
    state = st.session_state
    given = state[f"again_{name}"]
    if given is not None and was_let_go(given):
        return
    state["again_error"] = None
    if given is None:
        return
    try:
        data = bytes_of(given)
        let_go([given])
        prompt = given_prompt(found.recipe, data, name=given.name)
    except MusicgenError as error:
        state["again_error"] = (name, f"{plain(error.message)} {plain(error.hint)}")
        return
    if prompt is None:
        told = strings.OTHER_PROMPT.format(title=plain(given.name, longest=40))
        state["again_error"] = (name, told)
        return
    _begin(studio, desk, found, prompt)


def _begin(studio: Studio, desk: Desk, found: Remaking, prompt: Piece | None = None) -> None:
    state = st.session_state
    try:
        order = order_of(studio, found, prompt)
    except MusicgenError as error:
        state["notice"] = error
        return
    job = begin(studio, desk, order)
    if job is not None:
        state["again_made"] = (found.recipe, job)


def _made(desk: Desk, piece: Piece) -> None:
    """Say whether a take is this file, or at least was made from it."""
    same = twin(desk, piece)
    if same is not None:
        told = strings.SAME.format(title=plain(same.title, longest=40))
        st.caption(f":material/check: {told}")
        return
    recipe, name = st.session_state.get("again_made") or (None, None)
    made = desk.find(name) if recipe == piece.preview.recipe else None
    if made is None or not isinstance(recipe, Recipe):
        return
    from musicgen.pipeline import difference

    told = strings.DIFFERS.format(title=plain(made.title, longest=40))
    why = plain(difference(recipe, made.midi, piece.midi) or "")
    st.caption(f":material/info: {told} {why}")
