"""Takes on the page: the drawer below the roll, and two of them on one playhead."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import streamlit as st

from musicgen.errors import MusicgenError
from musicgen.studio.take_sheets import TakeSheet
from musicgen.studio.thumbs import thumb
from musicgen.ui import strings, take_strings
from musicgen.ui.components import drawer as drawer_component
from musicgen.ui.components import versus as versus_component
from musicgen.ui.markup import one_line, plain
from musicgen.ui.matching import parting_s
from musicgen.ui.pieces import Piece, from_upload
from musicgen.ui.recent import MAX_TAKES
from musicgen.ui.resources import Studio
from musicgen.ui.state import Desk
from musicgen.ui.views.settings import begin, lacking, of_file, order
from musicgen.ui.views.use import cut

_LEAST_S: Final = 1.0  # less than that is no rest to be made anew
_MB: Final = 1 << 20


def drawer(shared: Studio, desk: Desk, piece: Piece | None) -> None:
    """Draw all takes of a visitor, and what can be done with the one on the roll.

    Args:
        shared: What all visitors share.
        desk: The visitor's.
        piece: What is on the roll; None while that is music being made.
    """
    desk.drawer.settle()
    sheets, removed = desk.drawer.sheets(), desk.drawer.removed()
    # Also those that have ended since this run began: the button that stops them may be drawn
    # already, and only the drawer, which finds them done, has the page drawn anew.
    jobs = desk.jobs
    if not sheets and not jobs and desk.prompt is None and not removed:
        return
    models = {str(model.folder): model.title for model in shared.training.models()}
    cards = [_card(sheet, models) for sheet in reversed(sheets)]
    shown = st.session_state.get("show") if piece is None else piece.id
    with st.container(key="takes", gap="small"):
        drawer_component.drawer(
            {
                "takes": cards,
                "yours": _yours(desk.prompt),
                "shown": shown,
                "comparing": bool(st.session_state.get("against")),
                "making": [
                    {"id": job.id, "ask": f"making/{job.id}", "wanted": job.order.seconds}
                    for job in jobs
                ],
                "removed": [{"id": sheet.id, "title": sheet.title} for sheet in removed],
                "least": _LEAST_S,
            },
            on_act=lambda: _act(shared, desk),
        )
        _home(shared, desk, len(sheets))


def _card(sheet: TakeSheet, models: dict[str, str]) -> dict[str, Any]:
    facts, origin = sheet.facts, sheet.origin
    model = models.get(sheet.settings.model_folder or "", facts.model)
    told = [
        strings.clock(facts.seconds),
        take_strings.DRAWER["seed"].format(seed=facts.seed),
        one_line(model, longest=40),
    ]
    come_from = ""
    if origin is not None:
        said = take_strings.DRAWER["from" if origin.at_s is None else "fromAt"]
        come_from = said.format(title=origin.title, at=strings.clock(origin.at_s or 0.0))
    won = sum(vote.verdict == "better" for vote in sheet.votes)
    votes = take_strings.DRAWER["votes"].format(won=won, all=len(sheet.votes))
    return {
        "id": sheet.id,
        "title": sheet.title,
        "star": sheet.is_starred,
        "made": sheet.made_s,
        "seconds": facts.seconds,
        "split": facts.prompt_seconds / facts.seconds if facts.seconds > 0 else 0.0,
        "thumb": sheet.thumb,
        "facts": " · ".join(told),
        "from": come_from,
        "votes": votes if sheet.votes else "",
    }


def _yours(prompt: Piece | None) -> dict[str, Any] | None:
    if prompt is None:
        return None
    notes, seconds = len(prompt.preview.notes), prompt.preview.end_s
    return {
        "id": prompt.id,
        "title": one_line(prompt.title, longest=80),
        "thumb": thumb(prompt.preview),
        "split": 1.0,
        "facts": strings.file_facts(notes=notes, seconds=seconds),
    }


def _home(shared: Studio, desk: Desk, count: int) -> None:
    """Offer all takes as one file, and say what is kept and what is wrong with that."""
    drawer, quota = desk.drawer, shared.takes.quota
    if drawer.trouble is not None:
        told = f"{plain(drawer.trouble.message)} {plain(drawer.trouble.hint)}"
        st.warning(told, icon=":material/warning:")
    if not count:
        return
    kept = take_strings.kept_here(MAX_TAKES)
    if drawer.is_lasting:
        kept = take_strings.kept(
            count=count,
            megabytes=drawer.bytes() / _MB,
            most=quota.takes,
            most_megabytes=quota.bytes // _MB,
        )
    n_damaged = drawer.n_damaged()
    with st.container(horizontal=True, vertical_alignment="center", key="takes_home"):
        st.download_button(
            take_strings.ZIP,
            data=drawer.take_home,
            file_name=take_strings.ZIP_NAME,
            mime="application/zip",
            icon=":material/folder_zip:",
            on_click="ignore",
            key="download_zip",
        )
        told = [kept, take_strings.damaged(n_damaged)] if n_damaged else [kept]
        st.caption(" ".join(told), width="stretch")


def _act(shared: Studio, desk: Desk) -> None:
    """Do what was asked for in the drawer; it comes from the browser and is not trusted."""
    asked = st.session_state["drawer"].get("act")
    if isinstance(asked, dict):
        act(shared, desk, asked)


def act(shared: Studio, desk: Desk, asked: dict[str, Any]) -> None:
    """Do what a page asked for with a take.

    Args:
        shared: What all visitors share.
        desk: The visitor's.
        asked: `do` says what, `id` with which take; then `title`, `star`, or `at` (seconds).
    """
    state, name, do = st.session_state, asked.get("id"), asked.get("do")
    if not isinstance(name, str):
        return
    if do == "show":
        state["show"], state["against"] = name, None
    elif do == "rename" and isinstance(asked.get("title"), str):
        desk.drawer.rename(name, asked["title"])
    elif do == "star":
        desk.drawer.star(name, asked.get("star") is True)
    elif do == "remove":
        _remove(desk, name)
    elif do == "undo":
        if desk.drawer.undo(name):
            state["show"] = name
    elif do == "versus":
        state["against"] = name
    elif do in ("on", "anew"):
        _go_on(shared, desk, name, at_s=asked.get("at"), anew=do == "anew")


def _remove(desk: Desk, name: str) -> None:
    known = {sheet.id for sheet in desk.drawer.sheets()}
    if name in known and desk.drawer.remove(name) and name == st.session_state.get("against"):
        st.session_state["against"] = None


def _go_on(shared: Studio, desk: Desk, name: str, *, at_s: object, anew: bool) -> None:
    """Make music that goes on from a take, or from a point in it."""
    piece = desk.find(name)
    if piece is not None and piece is desk.prompt and isinstance(at_s, (int, float)) and not anew:
        if 0 < at_s < piece.preview.end_s and cut(desk, round(float(at_s), 3)):
            st.session_state["start"] = strings.YOUR_MIDI
            if lacking(desk) is None:
                begin(shared, desk, of_file(desk))
        return
    if piece is None or piece.kind != "take":
        return
    end_s = piece.preview.end_s
    is_point = isinstance(at_s, (int, float)) and -end_s < at_s < end_s
    cut_s = round(float(at_s), 3) if is_point and isinstance(at_s, (int, float)) else None
    try:
        prompt = piece if cut_s is None else _part(piece, cut_s)
    except MusicgenError as error:
        st.session_state["notice"] = error
        return
    asked = replace(order(), upload=piece, prompt=prompt, prompt_seconds=cut_s, parent=name)
    if anew and cut_s is not None:
        asked = replace(asked, seconds=max(end_s - cut_s, _LEAST_S))
    begin(shared, desk, asked)


def _part(piece: Piece, cut_s: float) -> Piece:
    """Return a take up to a point.

    Raises:
        MusicgenError: No note begins before that.
    """
    if cut_s <= 0:
        raise MusicgenError(take_strings.NO_PART, hint=take_strings.NO_PART_HELP)
    return from_upload(piece.midi, name=piece.title, seconds=cut_s)


def comparison(desk: Desk, piece: Piece) -> bool:
    """Draw two takes on one playhead where that was asked for, and say whether it was."""
    other = desk.find(st.session_state.get("against"))
    if other is None or other.id == piece.id:
        st.session_state["against"] = None
        return False
    versus_component.versus(
        piece.on_roll(),
        other.on_roll(),
        parting_s=parting_s(piece.preview.notes, other.preview.notes),
        on_vote=lambda: _vote(desk),
        on_close=_close,
    )
    return True


def _vote(desk: Desk) -> None:
    voted = st.session_state["versus"].get("vote")
    if isinstance(voted, dict):
        one, other, better = voted.get("one"), voted.get("other"), voted.get("better")
        if isinstance(one, str) and isinstance(other, str):
            desk.drawer.vote(one, other, better if isinstance(better, str) else None)


def _close() -> None:
    st.session_state["against"] = None
