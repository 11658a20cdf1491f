"""The first steps: what is read, and the vectors that stand for it.

T tokens   H heads   D width of a head   C width of the model
"""

from __future__ import annotations

import math

import numpy as np

from musicgen.ui import lab_strings as strings
from musicgen.ui.lab.tables import Story, told, words
from musicgen.ui.lab.view import Step, View, say, step, trained, vectors
from musicgen.ui.markup import one_line


def tokens_step(view: View) -> Step:
    """The text or the events, cut into tokens."""
    lesson = view.lesson
    column = strings.EVENT if view.kind == "music" else strings.TOKEN
    said = [one_line(text, longest=80) for text in lesson.said]
    return step(
        "tokens",
        strings.TEXT_TOKENS[view.kind],
        trained(view) if view.kind == "music" else "",
        formula="",
        shapes=f"T = {view.n_read}",
        tables=[words(strings.WORDS, column, said, lesson.places)],
    )


def _given(view: View, name: str, t: int, c: int) -> Story:
    return told(say("X", view.names[t], c, view.lesson.x[t, c]))


def embed_step(view: View) -> Step:
    """What a token becomes before attention: a vector that may know its place."""
    lesson, width, shape = view.lesson, view.lesson.d_model, view.width_shape
    if view.kind == "printed":
        return step(
            "embed",
            strings.TEXT_TOKENS["printed"],
            strings.PRINTED_ABOUT,
            formula="X",
            shapes=f"X {shape}",
            tables=[vectors(view, "x", strings.GIVEN, lesson.x, _given)],
        )
    if view.kind == "music":
        return _embed_music(view, shape)
    return step(
        "embed",
        strings.TEXT_EMBED["sentence"],
        strings.UNTRAINED,
        formula=f"X = √{width} · E + P,   P[t, 2i] = sin(t / 10000^{{2i/{width}}}),   "
        f"P[t, 2i+1] = cos(t / 10000^{{2i/{width}}})",
        shapes=f"E {shape} + P {shape} → X {shape}",
        tables=[
            vectors(view, "e", strings.EMBEDDING, lesson.parts["embedding"], _drawn),
            vectors(view, "p", strings.POSITION, lesson.parts["position"], _wave),
            vectors(view, "x", strings.INPUT.format(d_model=width), lesson.x, _added),
        ],
    )


def _drawn(view: View, name: str, t: int, c: int) -> Story:
    value = view.lesson.parts["embedding"][t, c]
    return told(say("E", view.names[t], c, value), strings.UNTRAINED)


def _wave(view: View, name: str, t: int, c: int) -> Story:
    width = view.lesson.d_model
    wave = "cos" if c % 2 else "sin"
    value = view.lesson.parts["position"][t, c]
    angle = f"{t} / 10000^{{{c - c % 2}/{width}}}"
    return told(say("P", view.names[t], c, value), f"{wave}({angle}) = {strings.number(value)}")


def _added(view: View, name: str, t: int, c: int) -> Story:
    parts, width = view.lesson.parts, view.lesson.d_model
    e, p = parts["embedding"][t, c], parts["position"][t, c]
    x = view.lesson.x[t, c]
    line = f"√{width} × {strings.number(e)} + {strings.number(p)} = {strings.number(x)}"
    return told(say("X", view.names[t], c, x), line, marks=[("e", "cell", t), ("p", "cell", t)])


def _attributes(view: View) -> list[str]:
    return [name for name in view.lesson.parts if name not in ("stream", "gain")]


def _embed_music(view: View, shape: str) -> Step:
    lesson = view.lesson
    summed_up = sum(lesson.parts[name] for name in _attributes(view))
    came = strings.FIRST_LAYER
    if view.layer:
        came = strings.LATER_LAYER.format(
            layer=view.layer + 1, before=strings.layers_before(view.layer)
        )
    return step(
        "embed",
        strings.TEXT_EMBED["music"],
        came,
        trained(view),
        formula="E = "
        + " + ".join(f"E_{{{one_line(n)}}}" for n in _attributes(view))
        + ",   X = S ÷ rms(S) · gain",
        shapes=f"{len(_attributes(view))} × {shape} → X {shape}",
        tables=[
            vectors(view, "e", strings.SUMMED, np.asarray(summed_up), _sum_of_attributes),
            vectors(view, "x", strings.NORMED.format(layer=view.layer + 1), lesson.x, _normed),
        ],
    )


def _sum_of_attributes(view: View, name: str, t: int, c: int) -> Story:
    parts = view.lesson.parts
    values = [(one_line(n), float(parts[n][t, c])) for n in _attributes(view)]
    return told(
        say("E", view.names[t], c, sum(v for _, v in values)),
        " + ".join(f"{n} {strings.number(v)}" for n, v in values),
    )


def _normed(view: View, name: str, t: int, c: int) -> Story:
    parts, x = view.lesson.parts, view.lesson.x[t, c]
    stream = parts["stream"][t]
    rms = math.sqrt(float((stream**2).mean()) + 1e-6)
    line = " ".join(
        (
            f"S ÷ rms(S) · gain = {strings.number(stream[c])} ÷ {strings.number(rms)}",
            f"· {strings.number(parts['gain'][t, c])} = {strings.number(x)}",
        )
    )
    return told(say("X", view.names[t], c, x), line, marks=[("e", "row", t)])
