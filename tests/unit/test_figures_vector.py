"""Pictures as SVG: sound XML whatever names hold, and the same things in the same places."""

from __future__ import annotations

from xml.etree import ElementTree as XML

import numpy as np
import pytest

from musicgen.figures import Arc, arcs_figure, attention_figure, layers_heads_figure
from musicgen.midi import NoteTable

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<script>alert(1)</script> & \x00\x1b[31m \"'\n]]> é♯"
NOTES = NoteTable.of([0, 1, 2, 30], [0.5, 1.5, 2.5, 31], [60, 64, 67, 72], [80] * 4)


def read(svg: bytes) -> XML.Element:
    return XML.fromstring(svg.decode("utf-8"))


def test_hostile_names_stay_text():
    root = read(attention_figure(np.eye(4), title=HOSTILE, form="svg"))
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {"svg", "rect", "polyline", "text", "image"}
    said = [element.text for element in root.iter(f"{SVG}text")]
    assert any(text and text.startswith("<script>alert(1)</script> & [31m") for text in said)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("form", ["png", "svg"])
def test_arcs_are_drawn_from_the_chosen_note(theme, form):
    arcs = [
        Arc(note=0, weight=0.7, colour=1, name="head 2"),
        Arc(note=1, weight=0.2, colour=9, name="b"),
    ]
    picture = arcs_figure(NOTES, 2, arcs, title="t", theme=theme, form=form)
    assert picture == arcs_figure(NOTES, 2, arcs, title="t", theme=theme, form=form)
    if form == "png":
        assert picture.startswith(b"\x89PNG")
        return
    root = read(picture)
    curves = [e for e in root.iter(f"{SVG}polyline") if len(e.get("points", "").split()) > 2]
    assert len(curves) == 2
    # Both begin at one place, in order of weight; the stronger is thicker.
    assert len({curve.get("points", "").split()[0] for curve in curves}) == 1
    widths = [float(curve.get("stroke-width", 0)) for curve in curves]
    assert widths == sorted(widths)
    assert "head 2" in [element.text for element in root.iter(f"{SVG}text")]


def test_a_note_without_arcs_is_drawn_alone():
    root = read(arcs_figure(NOTES, 3, [], form="svg"))
    notes = [e for e in root.iter(f"{SVG}rect") if e.get("rx")]
    assert len(notes) == 2  # the note and its box: the others sound half a minute before


def test_bars_mark_the_axes_of_a_map():
    lines = [(0.0, "1"), (1.0, "2"), (60.0, "3")]
    root = read(attention_figure(np.eye(100), lines=lines, unit="bar", form="svg"))
    said = [element.text for element in root.iter(f"{SVG}text")]
    assert said.count("1") == said.count("3") == 2
    assert "2" not in said  # it would stand on the one before
    assert "the event that looks (bar)" in said


def test_the_end_of_the_piece_is_marked():
    """Guards: a last row of every whole piece without a name."""
    lines = [(0.0, "1"), (98.0, "2")]
    for has_end in (True, False):
        maps = (
            attention_figure(np.eye(100), lines=lines, has_end=has_end, form="svg"),
            layers_heads_figure(np.ones((1, 1, 4, 4)), has_end=has_end, form="svg"),
        )
        one, all_of_them = (
            [element.text for element in read(data).iter(f"{SVG}text")] for data in maps
        )
        assert one.count("end") == (2 if has_end else 0)
        assert ("2" in one) is not has_end  # it would stand on it
        assert any("end" in text for text in all_of_them) is has_end


def test_all_heads_are_there():
    root = read(layers_heads_figure(np.ones((2, 3, 4, 4)), form="svg"))
    assert len(list(root.iter(f"{SVG}image"))) == 2 * 3 + 1
    said = [element.text for element in root.iter(f"{SVG}text")]
    assert {"layer 2", "head 3"} <= set(said)


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(IndexError, match="0 to 3"):
        arcs_figure(NOTES, 4, [])
    with pytest.raises(ValueError, match="no form"):
        attention_figure(np.eye(4), form="pdf")  # pyright: ignore[reportArgumentType]
