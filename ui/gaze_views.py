"""The views of attention as files to take home: arcs, a map, the overview; as PNG, SVG and CSV.

Shapes: L layers, H heads, T events, M notes on the roll.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, get_args

import numpy as np

from musicgen.figures import Arc, arcs_figure, attention_figure, layers_heads_figure
from musicgen.pipeline.looking import (
    Look,
    bars_csv,
    combine_heads,
    habits_csv,
    looks_csv,
    map_csv,
    plain_note_name,
)
from musicgen.ui import roll_strings, strings
from musicgen.ui.gaze import SPAN_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from musicgen.ui.gaze import Gaze
    from musicgen.ui.pieces import Piece

Form = Literal["png", "svg", "csv"]
ViewName = Literal["arcs", "map", "overview"]
MOST_LOOKS: Final = 24
FAINTEST: Final = 0.004  # a look below that is none
_LISTS = re.compile(r"\d{1,3}(,\d{1,3}){0,127}")
_COUNTS = frozenset(map(str, range(1, MOST_LOOKS + 1)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What of the attention is shown.

    Attributes:
        layers: Counted from 0.
        heads: Of each of these layers, counted from 0.
        how: Every head for itself, or all as one: their mean or max.
        way: What the note looked at (from it), or who looked at it (to it).
        moment: Rows of the event before a note, from which it was written, or the note's own.
        count: The strongest looks of each head.
        by_bars: A map of means by bar.
        theme: Of a picture.
    """

    layers: tuple[int, ...]
    heads: tuple[int, ...]
    how: Literal["each", "mean", "max"] = "each"
    way: Literal["from", "to"] = "from"
    moment: Literal["wrote", "after"] = "wrote"
    count: int = 3
    by_bars: bool = False
    theme: Literal["light", "dark"] = "light"

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Choice | None:
        """Read a choice out of an address, or return None if it is none."""
        layers, heads = (query.get(name, "0") for name in ("layers", "heads"))
        count = query.get("k", "3")
        if not (_LISTS.fullmatch(layers) and _LISTS.fullmatch(heads)):
            return None
        if count not in _COUNTS:
            return None
        words = {name: query[name] for name in _WORDS if name in query}
        if any(word not in _WORDS[name] for name, word in words.items()):
            return None
        return cls(
            layers=tuple(dict.fromkeys(map(int, layers.split(",")))),
            heads=tuple(dict.fromkeys(map(int, heads.split(",")))),
            count=int(count),
            by_bars=query.get("by") == "bars",
            **words,  # pyright: ignore[reportArgumentType] - checked just above
        )

    @property
    def one_way(self) -> Literal["mean", "max"]:
        """How heads become one map."""
        return "max" if self.how == "max" else "mean"

    @property
    def parts_heads(self) -> bool:
        """Whether arcs are drawn for every head by itself."""
        return self.how == "each" and len(self.layers) == 1


_WORDS: Final = {
    "how": ("each", "mean", "max"),
    "way": ("from", "to"),
    "moment": ("wrote", "after"),
    "theme": ("light", "dark"),
}


def is_view(name: str) -> bool:
    """Say whether there is a view of that name."""
    return name in get_args(ViewName)


def is_form(name: str) -> bool:
    """Say whether views come in that form."""
    return name in get_args(Form)


def view_file(
    gaze: Gaze, piece: Piece, choice: Choice, *, view: ViewName, form: Form, note: int | None
) -> bytes | None:
    """Return a view as a file; None where it is one of a note, and there is no such note.

    Raises:
        IndexError: There is no such layer or head.
    """
    if view == "arcs":
        seen = note is not None and 0 <= note < len(gaze.event_of) and gaze.event_of[note] >= 0
        return _arcs(gaze, piece, choice, form, note) if seen and note is not None else None
    if view == "overview":
        if form == "csv":
            return habits_csv(gaze.habits)
        return layers_heads_figure(
            gaze.weights,
            has_end=gaze.view.has_end,
            title=piece.title,
            theme=choice.theme,
            form=form,
        )
    return _map(gaze, piece, choice, form)


def _map(gaze: Gaze, piece: Piece, choice: Choice, form: Form) -> bytes:
    weights = gaze.combined(choice.layers, choice.heads, choice.one_way, by_bars=choice.by_bars)
    names = _group_names(gaze)
    if form == "csv":
        if choice.by_bars:
            return bars_csv(weights, names)
        view = gaze.view
        named = {"first_event": view.first_event, "has_end": view.has_end}
        return map_csv(weights, gaze.onset_s, gaze.pitch, **named)
    lines, unit = None, None
    if choice.by_bars or gaze.meter is not None:
        starts = np.flatnonzero(np.diff(gaze.groups, prepend=-1))
        places = range(len(starts)) if choice.by_bars else starts.tolist()
        lines = [(float(place), name) for place, name in zip(places, names, strict=True)]
        unit = "bar" if gaze.meter is not None else "time"
    onset_s = np.maximum.accumulate(np.nan_to_num(gaze.onset_s))
    return attention_figure(
        weights,
        times_s=None if lines else onset_s,
        lines=lines,
        unit=unit,
        has_end=gaze.view.has_end and not choice.by_bars,
        title=f"{piece.title}: "
        + roll_strings.which_heads(choice.layers, choice.heads, choice.one_way),
        theme=choice.theme,
        form=form,
    )


def _group_names(gaze: Gaze) -> list[str]:
    """Return the names of the bars that hold events: their numbers from 1, or times."""
    groups = np.unique(gaze.groups).tolist()
    if gaze.meter is not None:
        return [str(group + 1) for group in groups]
    return [strings.clock(group * SPAN_S) for group in groups]


def _arcs(gaze: Gaze, piece: Piece, choice: Choice, form: Form, note: int) -> bytes:
    notes = piece.preview.notes
    found = list(looks(gaze, note, choice))
    if form == "csv":
        rows = []
        for name, _, other, weight in found:
            ends = (note, other) if choice.way == "from" else (other, note)
            (from_s, from_pitch), (to_s, to_pitch) = (
                (float(notes.onset_s[end]), int(notes.pitch[end])) for end in ends
            )
            rows.append(
                Look(
                    layer="+".join(str(layer + 1) for layer in choice.layers),
                    heads=name,
                    from_s=from_s,
                    from_pitch=from_pitch,
                    to_s=to_s,
                    to_pitch=to_pitch,
                    weight=weight,
                )
            )
        return looks_csv(rows)
    title = roll_strings.arcs_title(
        piece=piece.title,
        note=plain_note_name(int(notes.pitch[note])),
        seconds=float(notes.onset_s[note]),
        way=choice.way,
        moment=choice.moment,
        heads=roll_strings.which_heads(
            choice.layers, choice.heads, None if choice.parts_heads else choice.one_way
        ),
    )
    arcs = [
        Arc(note=other, weight=weight, colour=colour, name=roll_strings.legend(name))
        for name, colour, other, weight in found
    ]
    return arcs_figure(notes, note, arcs, title=title, theme=choice.theme, form=form)


def looks(gaze: Gaze, note: int, choice: Choice) -> Iterator[tuple[str, int, int, float]]:
    """Yield the strongest looks about a note: whose, in which colour, the other note, how much.

    Raises:
        IndexError: There is no such layer or head.
    """
    rows, others = _rows(gaze, int(gaze.event_of[note]), choice)
    layers = rows[list(choice.layers)]
    if choice.parts_heads:
        for head in choice.heads:
            for other, weight in _strongest(layers[0][head], others, choice.count):
                yield str(head + 1), head, other, weight
        return
    flat = layers[:, list(choice.heads)].reshape(-1, rows.shape[-1])
    one = combine_heads(flat, range(len(flat)), choice.one_way)
    name = f"{choice.one_way} of " + "+".join(str(head + 1) for head in choice.heads)
    for other, weight in _strongest(one, others, choice.count):
        yield name, choice.heads[0], other, weight


def _rows(gaze: Gaze, event: int, choice: Choice) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return attention (L, H, E) about an event, and the roll's notes of these E events, (E,)."""
    if choice.way == "from":
        row = event - 1 if choice.moment == "wrote" else event
        seen = gaze.weights[:, :, max(row, 0), : row + 1]
        return seen.astype(np.float32), gaze.note_of[: row + 1]
    last = gaze.events - 1 if choice.moment == "wrote" else gaze.events
    ahead = 1 if choice.moment == "wrote" else 0  # the row before a note is the one it came of
    seen = gaze.weights[:, :, event:last, event]
    return seen.astype(np.float32), gaze.note_of[event + ahead : last + ahead]


def _strongest(
    weights: NDArray[np.float32], notes: NDArray[np.int64], count: int
) -> Sequence[tuple[int, float]]:
    seen = np.flatnonzero((notes >= 0) & (weights > FAINTEST))
    best = seen[np.argsort(-weights[seen], kind="stable")[:count]]
    return [(int(notes[i]), float(weights[i])) for i in best]
