"""The steps from vectors to masked scores: queries meet keys.

T tokens   H heads   D width of a head   C width of the model
"""

from __future__ import annotations

import math

import numpy as np

from musicgen.ui import lab_strings as strings
from musicgen.ui.lab.tables import Story, summed, told
from musicgen.ui.lab.view import (
    Step,
    View,
    as_printed,
    head_table,
    later,
    pairs,
    plain_rows,
    say,
    step,
)


def project_step(view: View) -> Step:
    """Query, key and value of the shown head."""
    from musicgen.pipeline.lesson import largest_terms

    lesson, turned = view.lesson, view.lesson.turned
    made = {"q": lesson.q, "k": lesson.k, "v": lesson.v}
    if turned is not None:
        made.update(q=turned.q, k=turned.k)

    def story(name: str, t: int, d: int) -> Story:
        column = view.head * lesson.d_head + d
        bias = lesson.biases.get(name)
        lines = [] if bias is None else [f"+ bias {strings.number(bias[column])}"]
        return summed(
            say(strings.QUERY[name], view.names[t], d, made[name][view.head, t, d]),
            largest_terms(lesson.x[t], lesson.matrices[name][:, column]),
            str,
            strings.FACTORS[name],
            *lines,
        )

    width = lesson.d_model
    bias = " + b" if lesson.biases else ""
    return step(
        "qkv",
        strings.TEXT_QKV.format(head=view.head + 1),
        formula=f"Q = X · W_Q{bias},   K = X · W_K{bias},   V = X · W_V{bias}",
        shapes=f"X {view.width_shape} · W ({width}, {width}) → {view.width_shape} → "
        f"{lesson.n_heads} heads {view.head_shape}",
        tables=[
            head_table(view, n, strings.QUERY[n], made[n], lambda t, d, n=n: story(n, t, d))
            for n in made
        ],
    )


def turn_step(view: View) -> Step:
    """Norm and rotation of queries and keys, in the model of music."""
    lesson, turned, half = view.lesson, view.lesson.turned, view.lesson.d_head // 2
    if turned is None:
        raise ValueError("nothing is turned in this lesson")
    normed = {"q": turned.q_normed, "k": turned.k_normed}
    after = {"q": lesson.q, "k": lesson.k}

    def story(name: str, t: int, d: int) -> Story:
        row, pair = normed[name][view.head, t], d % half
        cos, sin = float(turned.cos[t, pair]), float(turned.sin[t, pair])
        first, second = float(row[pair]), float(row[pair + half])
        value = after[name][view.head, t, d]
        sign, a, b = ("−", first, second) if d < half else ("+", second, first)
        line = " ".join(
            (
                f"cos × {strings.number(a)} {sign} sin × {strings.number(b)}",
                f"= {strings.number(cos)} × {strings.number(a)}",
                f"{sign} {strings.number(sin)} × {strings.number(b)} = {strings.number(value)}",
            )
        )
        return told(say(strings.QUERY[name], view.names[t], d, value), line)

    return step(
        "turn",
        strings.TEXT_TURN,
        formula=f"q[d] ← cos(θ) · q[d] − sin(θ) · q[d+{half}],   θ = t / 10000^{{2d/{2 * half}}}",
        shapes=f"{view.head_shape} → {view.head_shape}",
        tables=[
            head_table(view, n, strings.TURNED[n], after[n], lambda t, d, n=n: story(n, t, d))
            for n in after
        ],
    )


def scores_step(view: View) -> Step:
    """Queries meet keys."""
    from musicgen.pipeline.lesson import largest_terms

    lesson, count = view.lesson, view.n_read
    q, k, scores = lesson.q[view.head], lesson.k[view.head], lesson.scores[view.head]
    root = strings.number(math.sqrt(lesson.d_head), 2)

    def story(t: int, s: int) -> Story:
        terms = largest_terms(q[t], k[s])
        value = strings.number(scores[t, s])
        return summed(
            view.meeting(t, s, value),
            terms,
            str,
            strings.FACTORS["scores"],
            f"{strings.number(terms.total)} ÷ {root} = {value}",
            marks=[("q", "row", t), ("k", "row", s)],
        )

    return step(
        "scores",
        strings.TEXT_SCORES,
        as_printed(view),
        formula=f"scores = Q · K^T ÷ √{lesson.d_head}",
        shapes=f"Q {view.head_shape} · K^T ({lesson.n_heads}, {lesson.d_head}, {count}) → "
        f"{view.pair_shape}",
        tables=[
            pairs(view, "s", strings.SCORES, scores, story),
            plain_rows(view, "q"),
            plain_rows(view, "k"),
        ],
    )


def mask_step(view: View) -> Step:
    """The scores of later tokens go, or stay where the mask is off."""
    lesson = view.lesson
    scores = lesson.scores[view.head].astype(np.float64)
    after = np.where(np.triu(np.ones_like(scores), 1) > 0, -np.inf, scores)
    shown = after if lesson.causal else scores

    def story(t: int, s: int) -> Story:
        is_hidden = lesson.causal and s > t
        value = "−∞" if is_hidden else strings.number(scores[t, s])
        kind = {"masked": strings.COMPONENT["masked"], "future": strings.COMPONENT["future"]}
        lines = [kind[later(view)]] if s > t else []
        return told(view.meeting(t, s, value), *lines)

    return step(
        "mask",
        strings.TEXT_MASK[lesson.causal],
        formula="score[t, s] ← −∞ where s > t" if lesson.causal else "score[t, s] stays",
        shapes=f"{view.pair_shape} → {view.pair_shape}",
        tables=[
            pairs(
                view,
                "m",
                strings.MASKED if lesson.causal else strings.OPEN,
                shown,
                story,
                later=later(view),
            )
        ],
    )
