"""What is looked at in the attention lab, and the tables that several steps share.

T tokens   H heads   D width of a head   C width of the model
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from musicgen.ui import lab_strings as strings
from musicgen.ui.lab.tables import SHOWN, table, told
from musicgen.ui.markup import one_line

if TYPE_CHECKING:
    from musicgen.pipeline.lesson import Lesson

Kind = Literal["sentence", "music", "printed"]
Step = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class View:
    """What is looked at.

    Attributes:
        lesson: Its numbers.
        kind: Where they come from.
        head: Which head, 0 the first.
        layer: Which layer of the model, 0 the first.
        bits: Bits for each next event with and without masks; None where nothing is predicted.
        point: Row and column that are pointed out, or None.
    """

    lesson: Lesson
    kind: Kind
    head: int
    layer: int = 0
    bits: tuple[float, float] | None = None
    point: tuple[int, int] | None = None

    @property
    def names(self) -> list[str]:
        """The tokens, those that come twice with their places; foreign text."""
        tokens = [one_line(token, longest=14) for token in self.lesson.tokens]
        return [
            strings.named(token, place) if tokens.count(token) > 1 else token
            for place, token in zip(self.lesson.places, tokens, strict=True)
        ]

    @property
    def pair_shape(self) -> str:
        """The shape of what is told of every two tokens: (H, T, T)."""
        return self._shape(self.n_read)

    @property
    def head_shape(self) -> str:
        """The shape of queries, keys and values: (H, T, D)."""
        return self._shape(self.lesson.d_head)

    @property
    def width_shape(self) -> str:
        """The shape of vectors: (T, C)."""
        return f"({self.n_read}, {self.lesson.d_model})"

    @property
    def n_read(self) -> int:
        """How many tokens the layer reads: those shown, and others."""
        others = self.lesson.others
        return len(self.lesson.tokens) + (0 if others is None else others.count)

    def _shape(self, last: int) -> str:
        return f"({self.lesson.n_heads}, {self.n_read}, {last})"

    def meeting(self, t: int, s: int, value: str) -> str:
        """Say a number of one token that looks and one that is looked at."""
        return strings.equals(f"{self.names[t]} → {self.names[s]}", value)

    @property
    def dims(self) -> range:
        """The dimensions of a head that are shown."""
        return range(min(SHOWN, self.lesson.d_head))


def step(
    name: str,
    *text: str,
    formula: str,
    shapes: str,
    tables: list[Any],
    after: list[str] | None = None,
    point: tuple[int, int] | None = None,
) -> Step:
    """Return a step as the component is told it; empty sentences are left out."""
    short, title = strings.STEPS[name]
    return {
        "name": name,
        "short": short,
        "title": title,
        "text": [sentence for sentence in text if sentence],
        "formula": formula,
        "shapes": shapes,
        "tables": tables,
        "after": after or [],
        "point": None if point is None else list(point),  # in its first table
    }


def say(title: str, token: str, dim: int, value: float) -> str:
    """Say which number is meant, and the number."""
    return strings.equals(f"{title}, {token}, {dim}", strings.number(value))


def vectors(view: View, name: str, title: str, values: np.ndarray, story: Any) -> dict[str, Any]:
    """Return a table of the first dimensions of vectors (T, C)."""
    shown = min(SHOWN, values.shape[-1])
    return table(
        name,
        title,
        values[:, :shown],
        rows=view.names,
        columns=[str(d) for d in range(shown)],
        story=lambda t, c: story(view, name, t, c),
        whole=values.shape[-1],
    )


def head_table(view: View, name: str, title: str, values: np.ndarray, story: Any) -> Any:
    """Return a table of the shown head's dimensions of (H, T, D)."""
    shown = len(view.dims)
    return table(
        name,
        title,
        values[view.head][:, :shown],
        rows=view.names,
        columns=[str(d) for d in view.dims],
        story=story,
        whole=values.shape[-1],
    )


def plain_rows(view: View, name: str) -> Any:
    """Return a table of queries, keys or values as they meet, to be looked up."""
    values = {"q": view.lesson.q, "k": view.lesson.k, "v": view.lesson.v}[name]
    title = strings.QUERY[name]
    return head_table(
        view,
        name,
        title,
        values,
        lambda t, d: told(say(title, view.names[t], d, values[view.head, t, d])),
    )


def pairs(view: View, name: str, title: str, values: np.ndarray, story: Any, **how: Any) -> Any:
    """Return a table of tokens by tokens."""
    return table(
        name, title, values, rows=view.names, columns=view.names, story=story, digits=4, **how
    )


def trained(view: View) -> str:
    """Say whose weights these are, and what the model reads."""
    n_shown = len(view.lesson.tokens)
    is_more = view.n_read > n_shown
    reads = strings.reads_others(view.n_read, n_shown) if is_more else strings.READS_ALONE
    return f"{strings.TRAINED} {reads}"


def as_printed(view: View) -> str:
    """Say that these are the printed figures, if they are."""
    is_printed = view.kind == "printed" and view.head == 0 and view.lesson.causal
    return strings.AS_PRINTED if is_printed else ""


def later(view: View) -> Literal["masked", "future"]:
    """Say what becomes of later tokens."""
    return "masked" if view.lesson.causal else "future"
