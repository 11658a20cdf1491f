"""The page *Attention lab*: what to look at on the left, its steps and numbers on the right."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import streamlit as st

from musicgen.errors import MusicgenError
from musicgen.ui import lab_address
from musicgen.ui import lab_strings as strings
from musicgen.ui.address import MAX_SEED
from musicgen.ui.components.lab import lab
from musicgen.ui.lab import View, on_page
from musicgen.ui.markup import one_line, plain
from musicgen.ui.pieces import Piece
from musicgen.ui.resources import Studio, studio
from musicgen.ui.routes import VISITOR_COOKIE, is_visitor
from musicgen.ui.views.bar import opened, said_of, write

_NAMED = 12  # of a piece's 32 digits


def page() -> None:
    """Draw the page."""
    with st.container(key="head", gap=None):
        st.title(strings.LAB, anchor=False)
        st.markdown(strings.LEDE)
    shared = studio()
    pieces = _pieces(shared)
    left_out = _take_in(pieces)
    _recall("lab_kind")
    left, right = st.columns([1, 3], gap="large")
    with left, st.container(key="lab_settings"):
        st.segmented_control(
            strings.WHAT,
            list(strings.KINDS),
            key="lab_kind",
            required=True,
            format_func=lambda kind: strings.KINDS[kind],
            width="stretch",
        )
        kind = st.session_state["lab_kind"]
        _keep_heads_apart(kind)
        st.caption(strings.ABOUT[kind])
        try:
            view = {
                "sentence": _sentence,
                "music": lambda: _music(shared, pieces),
                "printed": _printed,
            }[kind]()
        except MusicgenError as error:
            view = error
    kept = st.session_state["lab_kept"]
    kept.update({name: st.session_state.get(name, kept[name]) for name in kept})
    write("lab_address", lab_address.NAMES, lab_address.written(kept, _called(kept, pieces)))
    with right:
        if left_out:
            st.info(left_out, icon=":material/info:")
        if isinstance(view, MusicgenError):
            st.info(f"{plain(view.message)} {plain(view.hint)}", icon=":material/info:")
        else:
            go = {"step": kept["lab_step"], "times": st.session_state.get("lab_taken", 0)}
            lab(on_page(view), go=go, on_head=_head_pressed, on_step=_step_gone_to)
    shared.warm_up()


def _take_in(pieces: Mapping[str, Piece]) -> str | None:
    """Show what the address says, where it is another one; return what to say about it."""
    state = st.session_state
    given = opened("lab_address", lab_address.NAMES, is_fresh="lab_kind" not in state)
    if given is None:
        return None
    found, left_out = lab_address.read(
        given, lambda called: pieces[called].id if called in pieces else None
    )
    for name in (*found, "lab_whole", "lab_asked", "lab_heads"):
        state.pop(name, None)  # the widget takes what is kept
    state["lab_kept"] = found
    state["lab_taken"] = state.get("lab_taken", 0) + 1
    return said_of(left_out)


def _called(kept: Mapping[str, Any], pieces: Mapping[str, Piece]) -> str | None:
    """Return what an address calls the piece that is looked at."""
    return next((name for name, each in pieces.items() if each.id == kept["lab_piece"]), None)


def _recall(*names: str) -> None:
    """Give widgets that are drawn now what they held before they were not drawn for once.

    Streamlit forgets that; and it tells the browser only of what is set in the very run.
    """
    kept = st.session_state.setdefault("lab_kept", dict(lab_address.DEFAULTS))
    for name in names:
        st.session_state.setdefault(name, kept[name])


def _keep_heads_apart(kind: str) -> None:
    """Let each kind of lesson keep its own head: the book's begins at the printed one."""
    state = st.session_state
    before = state["lab_kept"]["lab_kind"]
    if kind == before:
        return
    heads = state.setdefault("lab_heads", {})
    heads[before] = state.get("lab_head") or state["lab_kept"]["lab_head"]
    state["lab_head"] = heads.get(kind, 1)


def _head_pressed() -> None:
    head = st.session_state["lab"].get("head")
    if isinstance(head, int):
        st.session_state["lab_head"] = head + 1


def _step_gone_to() -> None:
    step = st.session_state["lab"].get("step")
    if step in strings.STEPS:
        st.session_state["lab_kept"]["lab_step"] = step


def _sentence() -> View:
    from musicgen.pipeline.lesson import MAX_TOKENS, sentence_lesson, words_in

    state = st.session_state
    _recall("lab_sentence", "lab_d_model", "lab_n_heads", "lab_seed")
    st.text_input(
        strings.YOUR_SENTENCE,
        key="lab_sentence",
        max_chars=lab_address.MOST_CHARACTERS,
        help=strings.SENTENCE_HELP,
    )
    cut = strings.cut(words_in(state["lab_sentence"] or ""), MAX_TOKENS)
    if cut:
        st.caption(cut)
    st.select_slider(
        strings.D_MODEL, lab_address.WIDTHS, key="lab_d_model", help=strings.D_MODEL_HELP
    )
    st.segmented_control(
        strings.N_HEADS,
        lab_address.HEADS,
        key="lab_n_heads",
        required=True,
        help=strings.N_HEADS_HELP,
        width="stretch",
    )
    head = _head(state["lab_n_heads"])
    causal = _mask()
    st.number_input(strings.SEED, min_value=0, max_value=MAX_SEED, step=1, key="lab_seed")
    lesson = sentence_lesson(
        state["lab_sentence"] or "",
        d_model=state["lab_d_model"],
        n_heads=state["lab_n_heads"],
        seed=state["lab_seed"] or 0,
        causal=causal,
    )
    return View(lesson=lesson, kind="sentence", head=head)


def _printed() -> View:
    from musicgen.pipeline.lesson import printed_lesson

    head = _head(25)
    lesson = printed_lesson(causal=_mask())
    return View(lesson=lesson, kind="printed", head=head)


def _music(shared: Studio, pieces: Mapping[str, Piece]) -> View:
    """Let a piece be chosen, and return a lesson on a few of its events.

    Raises:
        MusicgenError: There is no piece, or its model cannot be read.
    """
    from musicgen.pipeline.lesson import music_lesson

    state = st.session_state
    _recall("lab_piece", "lab_from", "lab_events", "lab_layer")
    named = {piece.id: piece for piece in pieces.values()}
    if not named:
        raise MusicgenError(strings.NO_PIECE)
    if state["lab_piece"] not in named:
        state["lab_piece"] = next(iter(named))
    st.selectbox(
        strings.PIECE,
        list(named),
        key="lab_piece",
        format_func=lambda name: one_line(named[name].title, longest=60),
    )
    piece = named[state["lab_piece"]]
    last_s = max(1.0, float(int(piece.preview.end_s)))
    state["lab_from"] = min(float(state["lab_from"]), last_s)
    st.slider(strings.FROM, 0.0, last_s, step=0.1, key="lab_from", format="%.1f s")
    st.slider(strings.EVENTS, *lab_address.EVENTS, key="lab_events")
    _whole()
    pipeline = shared.pipeline(piece.model)
    config = pipeline.model.config
    if config.n_layers > 1:
        state["lab_layer"] = min(state["lab_layer"], config.n_layers)
        st.slider(strings.LAYER, 1, config.n_layers, key="lab_layer")
    layer = state["lab_layer"] - 1 if config.n_layers > 1 else 0
    head = _head(config.n_heads)
    made = music_lesson(
        pipeline,
        piece.midi if piece.take is None else piece.take,
        start_s=float(state["lab_from"]),
        events=state["lab_events"],
        layer=layer,
        causal=_mask(),
        reads_from=state["lab_kept"]["lab_reads"],
        point=_point(),
    )
    return View(
        lesson=made.lesson,
        kind="music",
        point=made.point,
        head=head,
        layer=layer,
        bits=(made.bits_masked, made.bits_open),
    )


def _whole() -> None:
    """Let the model read what came before the shown events, or not."""
    state = st.session_state
    kept = state["lab_kept"]
    state.setdefault("lab_whole", kept["lab_reads"] is not None)
    st.toggle(strings.WHOLE, key="lab_whole", help=strings.WHOLE_HELP)
    if not state["lab_whole"]:
        kept["lab_reads"] = None
    elif kept["lab_reads"] is None:
        kept["lab_reads"] = 0


def _point() -> tuple[int, int] | None:
    """Return the events that a link came for, as long as its piece and place are looked at."""
    state = st.session_state
    kept = state["lab_kept"]
    if kept["lab_row"] is None or kept["lab_column"] is None:
        return None
    asked = (state["lab_piece"], state["lab_from"], state["lab_events"], kept["lab_reads"])
    if state.setdefault("lab_asked", asked) == asked:
        return kept["lab_row"], kept["lab_column"]
    kept["lab_row"] = kept["lab_column"] = None
    return None


def _pieces(shared: Studio) -> dict[str, Piece]:
    """Return what can be looked at, by what an address calls it.

    The visitor's takes, newest first, their file, the examples. An address tells too little of a
    name to ask the studio for the piece: others see in it what they have themselves.
    """
    cookie = st.context.cookies.get(VISITOR_COOKIE)
    desk: Any = st.session_state.get("desk")
    if is_visitor(cookie):
        with suppress(MusicgenError):  # no desk is free: there are no takes then
            desk = shared.desks.of(str(cookie))
    own = [] if desk is None else [*reversed(desk.takes), *([desk.prompt] if desk.prompt else [])]
    examples = {f"example-{n}": piece for n, piece in enumerate(shared.examples, start=1)}
    return {**{piece.id[:_NAMED]: piece for piece in own}, **examples}


def _head(n_heads: int) -> int:
    """Let a head be chosen where there are several; return it, 0 the first."""
    state = st.session_state
    _recall("lab_head")
    state["lab_head"] = min(state["lab_head"] or 1, n_heads)
    if n_heads == 1:
        return 0
    st.number_input(strings.HEAD, 1, n_heads, step=1, key="lab_head")
    return (state["lab_head"] or 1) - 1


def _mask() -> bool:
    _recall("lab_mask")
    return st.toggle(strings.MASK, key="lab_mask", help=strings.MASK_HELP)
