"""The steps from scores to what the layer hands on.

T tokens   H heads   D width of a head   C width of the model
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from musicgen.ui import lab_strings as strings
from musicgen.ui.lab.tables import SHOWN, Story, summed, table, told
from musicgen.ui.lab.view import (
    Step,
    View,
    as_printed,
    head_table,
    later,
    plain_rows,
    say,
    step,
    vectors,
)

if TYPE_CHECKING:
    from musicgen.pipeline.lesson import Lesson


def weights_step(view: View) -> Step:
    """Scores become shares; what leaks is said."""
    lesson = view.lesson
    weights = lesson.weights[view.head]
    scores = lesson.scores[view.head].astype(np.float64)
    seen = np.tril(np.ones_like(scores)) if lesson.causal else np.ones_like(scores)
    powers = np.exp(scores) * seen
    sums = powers.sum(-1)
    if lesson.others is not None:
        sums = sums + lesson.others.powers[view.head]

    def story(t: int, s: int) -> Story:
        if s == len(weights):
            return _aside(view, t)
        value = strings.number(weights[t, s])
        return told(
            view.meeting(t, s, value),
            f"e^{{{strings.number(scores[t, s])}}} = {strings.number(powers[t, s])}"
            if seen[t, s]
            else "e^{−∞} = 0",
            f"{strings.number(powers[t, s])} ÷ {strings.number(sums[t])} = {value}",
            marks=[("w", "row", t)],
        )

    return step(
        "weights",
        pointed(view),
        strings.TEXT_WEIGHTS,
        as_printed(view),
        alone(view),
        leak(view),
        formula="weight[t, s] = e^{score[t, s]} ÷ Σ_s e^{score[t, s]}",
        shapes=f"{view.pair_shape} → {view.pair_shape}",
        tables=[_weights_table(view, story)],
        after=predicting(view),
        point=view.point,
    )


def _weights_table(view: View, story: Callable[[int, int], Story]) -> dict[str, Any]:
    """Return the shown head's weights; with a column for what is not shown, if there is such."""
    weights, others = view.lesson.weights[view.head], view.lesson.others
    names = list(view.names)
    if others is not None and others.count:
        weights = np.column_stack([weights, others.weights[view.head]])
        names.append(strings.n_others(others.count))
    return table(
        "w",
        strings.WEIGHTS,
        weights,
        rows=view.names,
        columns=names,
        story=story,
        digits=4,
        look="weight",
        later=later(view),
    )


def _aside(view: View, t: int) -> Story:
    """Return the story of what a row gives to tokens that are not shown."""
    others = view.lesson.others
    if others is None:
        raise ValueError("all tokens are shown in this lesson")
    name = f"{view.names[t]} → {strings.n_others(others.count)}"
    share = strings.number(others.weights[view.head, t])
    return told(strings.equals(name, share), marks=[("w", "row", t)])


def pointed(view: View) -> str:
    """Say the number that somebody came for; nothing where none is pointed out."""
    if view.point is None:
        return ""
    row, column = view.point
    return strings.POINTED.format(
        row=strings.quoted(view.names[row]),
        column=strings.quoted(view.names[column]),
        head=view.head + 1,
        share=strings.percent(float(view.lesson.weights[view.head, row, column])),
        verdict=strings.SAME if view.lesson.causal else strings.NOT_SAME,
    )


def alone(view: View) -> str:
    """Say that these shares are not those of the whole piece, where that is so."""
    is_alone = view.kind == "music" and view.lesson.others is None
    return strings.alone(len(view.lesson.tokens)) if is_alone else ""


def leak(view: View) -> str:
    """Say how much weight lies on later tokens."""
    if view.lesson.causal:
        return strings.NO_LEAK
    leaked = view.lesson.leaked()[view.head]
    most = int(leaked.argmax())
    return strings.LEAK.format(
        share=strings.percent(float(leaked.mean())),
        token=strings.quoted(view.names[most]),
        most=strings.percent(float(leaked[most])),
    )


def predicting(view: View) -> list[str]:
    """Say what a mask that is off does to predictions; nothing while it is on."""
    if view.lesson.causal:
        return []
    said = [strings.DICE]
    if view.bits is not None:
        masked, open_ = view.bits
        bits = strings.BITS.format(
            open=strings.number(open_, 1),
            masked=strings.number(masked, 1),
            verdict=strings.CHEATS if open_ < masked else strings.CONFUSED,
        )
        said.insert(0, bits)
    return said


def gather_step(view: View) -> Step:
    """The values, each by its weight."""
    from musicgen.pipeline.lesson import largest_terms

    lesson, names, others = view.lesson, view.names, view.lesson.others
    weights, v = lesson.weights[view.head], lesson.v[view.head]

    def story(t: int, d: int) -> Story:
        lines = []
        if others is not None and others.count:
            lines = [strings.others_gave(others.count, float(others.gathered[view.head, t, d]))]
        return summed(
            say(strings.GATHERED, names[t], d, lesson.gathered[view.head, t, d]),
            largest_terms(weights[t], v[:, d]),
            lambda s: names[s],
            strings.FACTORS["gather"],
            *lines,
            marks=[("w", "row", t), ("v", "col", d)],
        )

    def weight_story(t: int, s: int) -> Story:
        if s == len(weights):
            return _aside(view, t)
        return told(view.meeting(t, s, strings.number(weights[t, s])))

    weights_table = _weights_table(view, weight_story)
    return step(
        "gather",
        strings.TEXT_GATHER,
        formula="gathered = weights · V",
        shapes=f"{view.pair_shape} · {view.head_shape} → {view.head_shape}",
        tables=[
            head_table(view, "g", strings.GATHERED, lesson.gathered, story),
            weights_table,
            plain_rows(view, "v"),
        ],
    )


def join_step(view: View) -> Step:
    """The heads side by side, mixed where the lesson goes so far."""
    from musicgen.pipeline.lesson import largest_terms

    lesson, names = view.lesson, view.names
    columns = _some_columns(lesson, view.head)

    def where(column: int) -> str:
        head, dim = divmod(column, lesson.d_head)
        return f"{head + 1}·{dim}"

    joined = table(
        "j",
        strings.JOINED,
        lesson.joined[:, columns],
        rows=names,
        columns=[where(c) for c in columns],
        story=lambda t, i: told(
            strings.equals(
                f"Z, {names[t]}, {where(columns[i])}", strings.number(lesson.joined[t, columns[i]])
            )
        ),
        whole=lesson.d_model,
    )
    text = strings.TEXT_JOIN.format(
        heads=lesson.n_heads, d_head=lesson.d_head, d_model=lesson.d_model
    )
    out = lesson.out
    shapes = f"{view.head_shape} → {view.width_shape}"
    if out is None:
        return step(
            "join",
            text,
            strings.TEXT_END,
            formula="Z = [head 1, …, head 25]",
            shapes=shapes,
            tables=[joined],
        )

    def story(view: View, name: str, t: int, c: int) -> Story:
        return summed(
            say(strings.OUT, names[t], c, out[t, c]),
            largest_terms(lesson.joined[t], lesson.matrices["out"][:, c]),
            where,
            strings.FACTORS["out"],
            marks=[("j", "row", t)],
        )

    return step(
        "join",
        text,
        strings.TEXT_OUT,
        formula=f"out = [head 1, …, head {lesson.n_heads}] · W_O",
        shapes=f"{shapes} · ({lesson.d_model}, {lesson.d_model}) → {view.width_shape}",
        tables=[joined, vectors(view, "o", strings.OUT, out, story)],
    )


def _some_columns(lesson: Lesson, head: int) -> list[int]:
    """Return columns to stand for all heads: all of a narrow model, else two of a few heads."""
    if lesson.d_model <= SHOWN:
        return list(range(lesson.d_model))
    each = max(2, SHOWN // lesson.n_heads)
    first = [h for h in range(lesson.n_heads) if h != head][: SHOWN // each - 1]
    return [h * lesson.d_head + d for h in sorted([*first, head]) for d in range(each)]
