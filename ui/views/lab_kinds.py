"""What is looked at in the attention lab: its settings on the left, and the lesson they ask for."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from musicgen.errors import MusicgenError
from musicgen.ui import lab_address
from musicgen.ui import lab_strings as strings
from musicgen.ui.address import MAX_SEED
from musicgen.ui.lab import View
from musicgen.ui.markup import one_line
from musicgen.ui.pieces import Piece
from musicgen.ui.resources import Studio


def sentence() -> View:
    """Return a lesson on a sentence of the visitor's.

    Raises:
        MusicgenError: There is no word in it.
    """
    from musicgen.pipeline.lesson import MAX_TOKENS, sentence_lesson, words_in

    state = st.session_state
    recall("lab_sentence", "lab_d_model", "lab_n_heads", "lab_seed")
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


def printed() -> View:
    """Return the printed example."""
    from musicgen.pipeline.lesson import printed_lesson

    head = _head(25)
    lesson = printed_lesson(causal=_mask())
    return View(lesson=lesson, kind="printed", head=head)


def music(shared: Studio, pieces: Mapping[str, Piece]) -> View:
    """Let a piece be chosen, and return a lesson on a few of its events.

    Raises:
        MusicgenError: There is no piece, or its model cannot be read.
    """
    from musicgen.pipeline.lesson import music_lesson

    state = st.session_state
    recall("lab_piece", "lab_from", "lab_events", "lab_layer")
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


def _head(n_heads: int) -> int:
    """Let a head be chosen where there are several; return it, 0 the first."""
    state = st.session_state
    recall("lab_head")
    state["lab_head"] = min(state["lab_head"] or 1, n_heads)
    if n_heads == 1:
        return 0
    st.number_input(strings.HEAD, 1, n_heads, step=1, key="lab_head")
    return (state["lab_head"] or 1) - 1


def _mask() -> bool:
    recall("lab_mask")
    return st.toggle(strings.MASK, key="lab_mask", help=strings.MASK_HELP)


def recall(*names: str) -> None:
    """Give widgets that are drawn now what they held before they were not drawn for once.

    Streamlit forgets that; and it tells the browser only of what is set in the very run.
    """
    kept = st.session_state.setdefault("lab_kept", dict(lab_address.DEFAULTS))
    for name in names:
        st.session_state.setdefault(name, kept[name])
