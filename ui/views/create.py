"""The page *Create*: settings on the left; the roll, its sound and its attention on the right."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import streamlit as st

from musicgen.errors import MusicgenError
from musicgen.ui import strings
from musicgen.ui.components.roll import roll
from musicgen.ui.jobs import Job
from musicgen.ui.markup import plain
from musicgen.ui.pieces import Piece
from musicgen.ui.resources import Studio, studio
from musicgen.ui.routes import VISITOR_COOKIE, is_visitor
from musicgen.ui.state import Desk
from musicgen.ui.views.about import about
from musicgen.ui.views.card import quality
from musicgen.ui.views.settings import settings
from musicgen.ui.views.takes import act, comparison, drawer


def page() -> None:
    """Draw the page."""
    shared = studio()
    with st.container(key="head", gap=None):
        st.title(strings.CREATE, anchor=False)
        st.markdown(strings.LEDE)
    try:
        desk = _desk()
    except MusicgenError as error:
        st.warning(f"{error.message} {error.hint}", icon=":material/hourglass:")
        return
    _collect(desk)
    left, right = st.columns([1, 3], gap="large")
    with left, st.container(key="settings"):
        settings(shared, desk)
    with right:
        _stage(shared, desk)
    shared.warm_up()


def _collect(desk: Desk) -> None:
    """Take in what has been made since the page was drawn; a take has the name of its job."""
    for job in desk.collect():
        nothing = strings.NOTHING_MADE if job.piece is None and not desk.takes else None
        st.session_state["notice"] = job.error or nothing


def _desk() -> Desk:
    """Return this visitor's desk: by their cookie, or for this page alone without one.

    Raises:
        MusicgenError: There is no room for one more.
    """
    cookie = st.context.cookies.get(VISITOR_COOKIE)
    if is_visitor(cookie):
        return studio().desks.of(str(cookie))
    if "desk" not in st.session_state:
        st.session_state["desk"] = Desk(studio().shelf)
    return st.session_state["desk"]


def _stage(shared: Studio, desk: Desk) -> None:
    """Draw what is made or being made.

    The places of the page stay the same: a component that comes to another one begins anew.
    """
    st.session_state.setdefault("show", desk.shown)  # the page may have been opened anew
    job = _watched(desk)
    piece = _shown(shared, desk) if job is None else None
    shown = job or piece
    desk.shown = None if shown is None else shown.id
    with st.container(key="notices"):
        _notice()
        asked, met = st.session_state.get("asked"), st.session_state.get("met")
        if job is not None and met == job.id != asked:
            st.info(strings.BEING_MADE, icon=":material/info:")
    picked = functools.partial(_picked, desk)
    is_compared = piece is not None and comparison(desk, piece)
    if job is not None:
        before = desk.drawer.beginning(job.order.parent) if job.order.parent else None
        told = _of_this_page(job.on_roll(*shared.standing(job), before=before))
        roll(told, busy=True, on_pick=picked, on_act=_act(shared, desk))
    elif not is_compared:
        roll(
            None if piece is None else _of_this_page(piece.on_roll(_before(desk, piece))),
            examples=() if _has_own(desk) else [p.on_roll() for p in shared.examples],
            busy=any(other.active for other in desk.jobs),
            on_pick=picked,
            on_act=_act(shared, desk),
        )
    with st.container(key="below", gap="small"):
        if piece is not None and not is_compared:
            _downloads(shared, piece)
            _facts(shared, piece)
            if piece.kind == "take":
                quality(shared.cards, piece, desk.drawer.pieces())
    drawer(shared, desk, piece)


def _watched(desk: Desk) -> Job | None:
    """Return the job whose music is looked at while it is made: the chosen one, or the first."""
    name = st.session_state.get("show")
    # Also one that has ended since this run began: the button that stops is drawn already, and the
    # roll, which finds it done, has the page drawn anew.
    jobs = desk.jobs
    chosen = next((job for job in jobs if job.id == name), None)
    if chosen is None and jobs and desk.find(name) is None:
        chosen = jobs[0]
        st.session_state["show"] = chosen.id
    return chosen


def _before(desk: Desk, piece: Piece) -> str | None:
    """Return what the take is called that a take's music began with, where that was no file."""
    return desk.drawer.beginning(piece.id) if piece.kind == "take" else None


def _of_this_page(piece: dict[str, Any]) -> dict[str, Any]:
    """Add what the roll of this page is to know of a piece.

    Here alone it plays by itself if a click on this very page asked for it.

    Args:
        piece: What `on_roll` told.
    """
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
    newest = (desk.find(sheet.id) for sheet in reversed(desk.drawer.sheets()))
    found = next((piece for piece in newest if piece is not None), None) or desk.prompt
    chosen = next((p for p in shared.examples if p.id == name), None)
    return found or chosen or next(iter(shared.examples), None)


def _has_own(desk: Desk) -> bool:
    return bool(desk.drawer.sheets() or desk.prompt)


def _picked(desk: Desk) -> None:
    """Take in which example was chosen on the roll, where it sounds already.

    A page that is come back to tells once more what was chosen before there was anything else.
    """
    pick = st.session_state["roll"].get("pick")
    if isinstance(pick, str) and not _has_own(desk):
        st.session_state["show"] = pick


def _act(shared: Studio, desk: Desk) -> Callable[[], None]:
    """Return a function that makes what was asked for from a point on the roll."""

    def going_on() -> None:
        asked = st.session_state["roll"].get("act")
        if isinstance(asked, dict):
            act(shared, desk, asked)

    return going_on


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


def _facts(shared: Studio, piece: Piece) -> None:
    take = piece.take
    if take is None:
        facts = strings.file_facts(notes=len(piece.preview.notes), seconds=piece.preview.end_s)
        st.caption(f"{plain(piece.title)} · {facts}")
        return
    facts = strings.take_facts(
        notes=take.notes,
        seconds=take.seconds,
        seed=take.seed,
        model=plain((piece.model and shared.training.title(piece.model)) or take.model),
        made_s=take.events / take.events_per_s if take.events_per_s > 0 else None,
    )
    ending = strings.ENDINGS.get(take.finish_reason)
    remarks = [ending] if ending else []
    remarks += [plain(warning) for warning in take.warnings]
    with st.container(horizontal=True, vertical_alignment="center", key="made", gap="small"):
        st.caption(facts, width="content")
        about(shared, piece.model, key="about_take")
    if remarks:
        st.caption(strings.remarks(remarks))
