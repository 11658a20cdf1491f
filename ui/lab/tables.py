"""Tables of the attention lab: numbers, and for each number the sum that made it.

What the browser is told is JSON: strings as they are shown, numbers rounded to four decimals.
R rows   S columns shown
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from musicgen.ui import lab_strings as strings

if TYPE_CHECKING:
    from musicgen.pipeline.lesson import Terms

SHOWN = 8  # columns of a wide table
Story = dict[str, Any]
Mark = tuple[str, Literal["row", "col", "cell"], int]
"""Which part of which table of the same step made a number: to be lit up with it."""


def table(
    name: str,
    title: str,
    values: np.ndarray,
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    story: Callable[[int, int], Story],
    look: Literal["signed", "weight"] = "signed",
    digits: int = 3,
    whole: int | None = None,
    later: Literal["masked", "future"] | None = None,
) -> dict[str, Any]:
    """Return a table.

    Args:
        name: Its name within the step, for marks.
        title: What stands above it.
        values: (R, S).
        rows: R labels; foreign text.
        columns: S labels; foreign text.
        story: Says of (row, column) what made the number.
        look: How it is coloured.
        digits: Decimals shown.
        whole: How many columns there are in all; S without.
        later: What the cells above the diagonal are; nothing special without.
    """
    above = np.zeros(values.shape, dtype=bool)
    if later:  # of tokens by tokens; what comes beside them is later than nothing
        n_rows = len(values)
        above[:, :n_rows] = np.triu(np.ones((n_rows, n_rows), dtype=bool), 1)
    places = [[(r, c) for c in range(values.shape[1])] for r in range(values.shape[0])]
    return {
        "name": name,
        "title": title,
        "note": strings.columns_shown(values.shape[1], whole or values.shape[1]),
        "rows": list(rows),
        "columns": list(columns),
        "look": look,
        "later": later,
        "text": [
            ["−∞" if np.isneginf(v) else strings.number(v, digits) for v in row]
            for row in values.tolist()
        ],
        "values": [[_plain(v) for v in row] for row in values.tolist()],
        "above": above.astype(int).tolist(),
        "stories": [[story(r, c) for r, c in row] for row in places],
    }


def words(title: str, column: str, said: Sequence[str], places: Sequence[int]) -> dict[str, Any]:
    """Return a table of words, one a row, with their places."""
    return {
        "name": "words",
        "title": title,
        "note": "",
        "rows": [str(place) for place in places],
        "columns": [column],
        "look": "words",
        "later": None,
        "text": [[word] for word in said],
        "values": [],
        "above": [],
        "stories": [],
    }


def told(say: str, *lines: str, marks: Sequence[Mark] = ()) -> Story:
    """Return a story without products."""
    return {"say": say, "lines": list(lines), "marks": list(marks)}


def summed(
    say: str,
    terms: Terms,
    labels: Callable[[int], str],
    factors: str,
    *lines: str,
    marks: Sequence[Mark] = (),
) -> Story:
    """Return the story of a sum of products.

    Args:
        say: Which number it is.
        terms: The products.
        labels: Names a term by its place.
        factors: Says what is multiplied.
        lines: What happens to the sum.
        marks: What made it.
    """
    return {
        "say": say,
        "factors": factors,
        "terms": [
            [labels(int(i)), _round(a), _round(b), _round(a * b)]
            for i, a, b in zip(terms.index, terms.left, terms.right, strict=True)
        ],
        "rest": strings.others(terms.n_rest, terms.rest) if terms.n_rest else "",
        "lines": list(lines),
        "marks": list(marks),
    }


def _round(value: float) -> str:
    return strings.number(float(value))


def _plain(value: float) -> float | None:
    """Return what JSON can hold."""
    return round(value, 4) if np.isfinite(value) else None
