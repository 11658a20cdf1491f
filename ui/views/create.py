"""The page *Create*: settings on the left; the roll, its sound and its attention on the right."""

from __future__ import annotations

from typing import Any

import streamlit as st

from musicgen.errors import MusicgenError
from musicgen.ui import strings
from musicgen.ui.components.roll import roll
from musicgen.ui.markup import plain
from musicgen.ui.pieces import Piece
from musicgen.ui.resources import Studio, studio
from musicgen.ui.routes import VISITOR_COOKIE, is_visitor
from musicgen.ui.state import Desk
from musicgen.ui.views.settings import settings


def page() -> None:
    """Draw the page."""
    shared, desk = studio(), _desk()
    _collect(desk)
    with st.container(key="head", gap=None):
        st.title(strings.CREATE, anchor=False)
        st.markdown(strings.LEDE)
    left, right = st.columns([1, 3], gap="large")
    with left, st.container(key="settings"):
        settings(shared, desk)
    with right:
        _stage(shared, desk)
    shared.warm_up()


def _collect(desk: Desk) -> None:
    """Take in what has been made since the page was drawn."""
    job = desk.job
    if job is not None and not job.active:
        desk.job = None
        if job.piece is not None:
            st.session_state["show"] = job.piece.id
        nothing = strings.NOTHING_MADE if job.piece is None else None
        st.session_state["notice"] = job.error or nothing
    watched = st.session_state.pop("watched", None)
    if desk.find(watched) is not None:  # another tab may have seen its end before this one
        st.session_state["show"] = watched


def _desk() -> Desk:
    """Return this visitor's desk: by their cookie, or for this page alone without one."""
    cookie = st.context.cookies.get(VISITOR_COOKIE)
    if is_visitor(cookie):
        return studio().desks.of(str(cookie))
    if "desk" not in st.session_state:
        st.session_state["desk"] = Desk(studio().shelf)
    return st.session_state["desk"]


def _stage(shared: Studio, desk: Desk) -> None:
    """Draw what is made or being made."""
    with st.container(key="notices"):
        _notice()
    job = desk.job
    if job is not None:
        st.session_state["watched"] = job.id
        if st.session_state.get("met") == job.id != st.session_state.get("asked"):
            st.info(strings.BEING_MADE, icon=":material/info:")
        roll(_of_this_page(job.on_roll(shared.workshop.place(job))), on_pick=_picked)
        return
    piece = _shown(shared, desk)
    has_own = bool(desk.takes or desk.prompt)
    roll(
        None if piece is None else _of_this_page(piece.on_roll()),
        examples=() if has_own else [p.on_roll() for p in shared.examples],
        on_pick=_picked,
    )
    if piece is not None:
        with st.container(key="below", gap="small"):
            _downloads(shared, piece)
            _facts(piece)
    _choice(desk, piece)


def _of_this_page(piece: dict[str, Any]) -> dict[str, Any]:
    """Say whether a click on this very page asked for a piece: here alone it plays by itself."""
    return {**piece, "mine": piece["id"] == st.session_state.get("asked")}


def _notice() -> None:
    notice = st.session_state.get("notice")
    if isinstance(notice, MusicgenError):
        st.error(f"{plain(notice.message)} {plain(notice.hint)}", icon=":material/error:")
    elif notice:
        st.info(notice, icon=":material/info:")


def _shown(shared: Studio, desk: Desk) -> Piece | None:
    """Return the piece on the roll: the chosen one, else the newest thing there is."""
    name = st.session_state.get("show")
    own = desk.find(name)
    if own is not None:
        return own
    if desk.takes or desk.prompt is not None:
        return desk.takes[-1] if desk.takes else desk.prompt
    chosen = next((p for p in shared.examples if p.id == name), None)
    return chosen or next(iter(shared.examples), None)


def _picked() -> None:
    """Take in which example was chosen on the roll, where it sounds already."""
    pick = st.session_state["roll"].get("pick")
    if isinstance(pick, str):
        st.session_state["show"] = pick


def _downloads(shared: Studio, piece: Piece) -> None:
    stem = f"musicgen-{piece.file_stem}"
    failure = shared.shelf.failure(piece.id)
    with st.container(horizontal=True, key="downloads", gap="small"):
        st.download_button(
            strings.DOWNLOAD_MIDI,
            data=piece.midi,
            file_name=f"{stem}.mid",
            mime="audio/midi",
            icon=":material/download:",
            on_click="ignore",
            key="download_midi",
        )
        for label, kind, mime in (
            (strings.DOWNLOAD_WAV, "wav", "audio/wav"),
            (strings.DOWNLOAD_MP3, "mp3", "audio/mpeg"),
        ):
            st.download_button(
                label,
                data=_sound(shared, piece, kind),
                file_name=f"{stem}.{kind}",
                mime=mime,
                icon=":material/download:",
                on_click="ignore",
                key=f"download_{kind}",
                disabled=failure is not None,
            )
    if failure is not None:
        st.warning(f"{strings.NO_SOUND} {plain(failure.message)} {plain(failure.hint)}")


def _sound(shared: Studio, piece: Piece, kind: Any) -> Any:
    """Return a function that renders the sound when the button is pressed."""

    def make() -> bytes:
        path = shared.shelf.sound(piece.id, kind)
        return b"" if path is None else path.read_bytes()

    return make


def _facts(piece: Piece) -> None:
    take = piece.take
    if take is None:
        facts = strings.file_facts(notes=len(piece.preview.notes), seconds=piece.preview.end_s)
        st.caption(f"{plain(piece.title)} · {facts}")
        return
    facts = strings.take_facts(
        notes=take.notes,
        seconds=take.seconds,
        seed=take.seed,
        model=plain(take.model),
        rate=take.events_per_s,
    )
    ending = strings.ENDINGS.get(take.finish_reason)
    remarks = [ending] if ending else []
    remarks += [plain(warning) for warning in take.warnings]
    st.caption(facts)
    if remarks:
        st.caption(strings.remarks(remarks))


def _choice(desk: Desk, piece: Piece | None) -> None:
    """Let the visitor go back to an earlier take or to their file."""
    pieces = [*([desk.prompt] if desk.prompt else []), *desk.takes]
    if len(pieces) < 2 or piece is None:
        return
    titles = {p.id: plain(p.title, longest=30) for p in pieces}
    st.session_state["chosen"] = piece.id
    st.pills(
        strings.ON_THE_ROLL,
        list(titles),
        format_func=lambda name: titles.get(name, ""),
        key="chosen",
        required=True,
        on_change=_chose,
    )


def _chose() -> None:
    st.session_state["show"] = st.session_state["chosen"]
