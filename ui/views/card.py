"""The quality card below a take: what can be measured of it, beside what real music gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Final

import streamlit as st

from musicgen.errors import MusicgenError
from musicgen.ui import card_strings as strings
from musicgen.ui.markup import one_line, plain
from musicgen.ui.roll_strings import clock

if TYPE_CHECKING:
    from musicgen.evaluation import RangedFigure
    from musicgen.evaluation.copies import SharedPassage, Yardstick
    from musicgen.pipeline.quality import QualityCard
    from musicgen.ui.cards import Cards
    from musicgen.ui.pieces import Piece

_RECORDING: Final = "MID--AUDIO"  # part of every file name in MAESTRO


def quality(cards: Cards, piece: Piece, others: Sequence[Piece] = ()) -> None:
    """Draw a piece's card, measured when it is unfolded.

    Args:
        cards: What measures it.
        piece: The piece.
        others: Takes that it can be ranked among, itself included.
    """
    folded = st.expander(
        strings.TITLE, key=f"quality-{piece.id}", icon=":material/balance:", on_change="rerun"
    )
    if not folded.open:
        return
    with folded:
        try:
            with st.spinner(strings.MEASURING):
                card = cards.of(piece)
        except MusicgenError as error:
            st.warning(f"{strings.NO_FIGURES} {plain(error.message)} {plain(error.hint)}")
            return
        st.html("".join(_table(card)))
        for sentence in _sentences(card):
            st.caption(plain(sentence))
        if len(others) > 1 and st.button(strings.RANK, help=strings.RANK_HELP, key="rank"):
            with st.spinner(strings.MEASURING):
                st.html("".join(_ranking(cards.ranked(others))))


def _table(card: QualityCard) -> Iterator[str]:
    """Yield HTML of numbers and our own words alone."""
    figures = card.ranges.telling
    caption = strings.INSIDE.format(inside=card.ranges.n_inside, all=len(figures))
    first = [each for each in figures if each.name in strings.ALWAYS or not each.is_inside]
    rest = [each for each in figures if each not in first]
    yield from _rows(first, f"<caption>{escape(caption)}</caption>")
    if rest:
        more = escape(strings.MORE.format(n=len(rest)))
        yield f'<details class="quality-more"><summary>{more}</summary>'
        yield from _rows(rest, "")
        yield "</details>"


def _rows(figures: Sequence[RangedFigure], caption: str) -> Iterator[str]:
    yield f'<table class="quality">{caption}<thead><tr>'
    yield "".join(f'<th scope="col">{escape(name)}</th>' for name in strings.COLUMNS)
    yield "</tr></thead><tbody>"
    for figure in figures:
        yield from _row(figure)
    yield "</tbody></table>"


def _ranking(ranked: Sequence[tuple[Piece, QualityCard]]) -> Iterator[str]:
    yield '<table class="quality rank"><thead><tr>'
    yield "".join(f'<th scope="col">{escape(name)}</th>' for name in strings.RANK_COLUMNS)
    yield "</tr></thead><tbody>"
    for place, (piece, card) in enumerate(ranked, start=1):
        inside = f"{card.ranges.n_inside} / {len(card.ranges.telling)}"
        passage = None if card.copies is None else card.copies.passage
        shared = strings.NONE if passage is None else passage.notes
        yield f'<tr><td>{place}</td><th scope="row">{escape(one_line(piece.title))}</th>'
        yield f"<td>{inside}</td><td>{card.n_faults}</td><td>{shared}</td></tr>"
    yield "</tbody></table>"


def _row(figure: RangedFigure) -> Iterator[str]:
    written, title = figure.words.written, figure.words.title
    unusual = strings.TOO_SHORT if figure.value is None else strings.UNUSUAL
    usual = strings.USUAL if figure.is_inside else unusual
    kind = "in" if figure.is_inside else "out"
    yield f'<tr class="{kind}"><th scope="row">{escape(title)}</th><td>{written(figure.value)}</td>'
    yield f'<td aria-hidden="true">{_band(figure)}</td>'
    yield f"<td>{written(figure.low)} – {written(figure.high)}</td><td>{usual}</td></tr>"


def _band(figure: RangedFigure) -> str:
    """Return a line with the usual range and the piece's place on it."""
    values = [figure.low, figure.high] + ([] if figure.value is None else [figure.value])
    margin = 0.25 * (figure.high - figure.low or 1.0)
    low = min(values) - margin
    width = max(values) + margin - low

    def at(value: float) -> float:
        return 100 * (value - low) / width

    begin, end = at(figure.low), at(figure.high)
    mark = "" if figure.value is None else f'<b style="left:{at(figure.value):.1f}%"></b>'
    return (
        f'<div class="band"><i style="left:{begin:.1f}%;width:{end - begin:.1f}%"></i>{mark}</div>'
    )


def _sentences(card: QualityCard) -> Iterator[str]:
    ranges = card.ranges
    yield strings.ABOUT.format(excerpt_s=ranges.excerpt_s, seconds=ranges.seconds)
    if card.bits_per_note is not None:
        held_out = card.held_out_bits_per_note
        beside = "" if held_out is None else strings.BITS_HELD_OUT.format(held_out=held_out)
        yield strings.BITS.format(bits=card.bits_per_note) + beside
    found = [
        (one if count == 1 else many).format(n=count)
        for name, (one, many) in strings.FAULTS.items()
        if (count := getattr(card.faults, name))
    ]
    yield " ".join(found) or strings.NO_FAULTS
    if card.copies is None:
        yield strings.NO_INDEX
    elif card.copies.passage is None:
        yield strings.NO_COPIES
    else:
        yield _copy(card.copies.passage, card.copies.yardstick)


def _copy(passage: SharedPassage, yardstick: Yardstick | None) -> str:
    """Say what a passage is shared with; a recording's file name tells nobody anything."""
    is_recording = _RECORDING in passage.piece
    told = strings.COPIES.format(
        notes=passage.notes,
        seconds=passage.seconds,
        at=clock(passage.take_start_s),
        piece=strings.A_RECORDING if is_recording else one_line(passage.piece, longest=80),
        piece_at=clock(passage.piece_start_s),
    )
    if yardstick is None:
        return told + strings.NO_YARDSTICK
    is_copy, is_much = (passage.notes > n for n in (yardstick.notes_max, yardstick.notes_95))
    beside = strings.COPIED if is_copy else strings.MUCH if is_much else strings.AS_OTHERS
    return told + beside.format(most=yardstick.notes_max, usually=yardstick.notes_95)
