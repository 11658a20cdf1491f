"""About a model: its licence, what it was trained on and its card, wherever one is named."""

from __future__ import annotations

import streamlit as st

from musicgen.errors import MusicgenError
from musicgen.studio.model_facts import ModelFacts, model_facts
from musicgen.ui import about_strings as strings
from musicgen.ui.markup import plain
from musicgen.ui.resources import Studio


def about(studio: Studio, model: str | None, *, key: str) -> None:
    """Draw the button that tells of a model.

    Args:
        studio: What all visitors share.
        model: Folder of one that was trained here; None for the studio's own.
        key: The button's own name.
    """
    if st.button(strings.ABOUT, key=key, type="tertiary", icon=":material/info:"):
        _tell(studio, model)


@st.dialog(strings.ABOUT, width="large")
def _tell(studio: Studio, model: str | None) -> None:
    """Tell of a model; what is foreign in it is text."""
    title = None if model is None else studio.training.title(model)
    try:
        facts = model_facts(model or studio.model)
    except MusicgenError as error:
        st.warning(f"{plain(error.message)} {plain(error.hint)}")
        return
    origin = strings.HERE if model is not None else strings.ELSEWHERE
    st.markdown(f"**{plain(title or facts.name)}** {strings.SHIPPED if facts.card else origin}")
    st.markdown("\n".join(f"- {sentence}" for sentence in _sentences(facts, title)))
    if facts.card:
        with st.expander(strings.CARD):
            st.markdown(facts.card)
            if facts.curve is not None:
                st.image(facts.curve.read_bytes(), caption=strings.CURVE)


def _sentences(facts: ModelFacts, title: str | None) -> list[str]:
    known = facts.licence if facts.licence in strings.LICENCES else plain(facts.licence)
    told = [strings.licence(known, is_inherited=bool(facts.begun_with))]
    if facts.n_pieces:
        music = plain(title or "") or strings.CORPORA.get(facts.corpus, plain(facts.corpus))
        told.append(strings.trained_on(title=music, pieces=facts.n_pieces, notes=facts.n_notes))
    told.append(strings.training(steps=facts.steps, begun_with=plain(facts.begun_with)))
    if facts.bits_per_note is None:
        return [*told, strings.NO_BITS]
    before = facts.before_bits_per_note
    more = "" if before is None else strings.BEFORE.format(before=before)
    return [*told, strings.BITS.format(bits=facts.bits_per_note) + more]
