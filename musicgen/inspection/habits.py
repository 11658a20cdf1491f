"""What each head is in the habit of looking at: measured from the maps, in numbers and words.

A habit's weight is the share of a head's attention, on average over the notes of a piece, that
falls on events of one kind; its chance is what a head would give to them that looks at all events
before it alike. Kinds overlap: the same key a bar ago counts for both. The event after an earlier
stroke of the same key is what an "induction head" looks at (Olsson et al., 2022, *In-context
Learning and Induction Heads*), which lets a model go on as it did before.

Attention is not explanation: a habit says where a head gathers from, not what it makes of it.

Shapes: L layers, H heads, C kinds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

KINDS: Final = {
    "first": "the first event of all",
    "itself": "the note itself",
    "previous": "the event just before",
    "together": "notes struck with it",
    "same_key": "earlier strokes of the same key",
    "octave": "earlier notes one or more octaves away",
    "after_same": "what came after the same key before",
    "beat": "notes one beat back",
    "bar": "notes one bar back",
}
"""What heads look at, by name; the last two only where the music has bars."""
_LEAST_SHARE, _LEAST_LIFT, _MOST_SAID = 0.08, 1.5, 2  # what is worth a word
_FEW = 1.5  # events at a time are one
_IDLE = "first"  # where heads put attention that they do not need: it tells none from another


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Habits:
    """What the heads of a model look at in a piece.

    Attributes:
        kinds: Names of what was measured, keys of `KINDS`, C of them.
        weights: Share of each head's attention by kind, float32 (L, H, C).
        chance: The same of a head that looks at everything before it alike, float32 (C,).
        events: How many events a head looks at at once: 1 ÷ the sum of squared weights, on average,
            float32 (L, H).
        back_s: How far back the notes lie that a head looks at, weighted mean in seconds without
            the note itself; NaN for a head that looks at none, float32 (L, H).
        n_notes: Over how many notes was measured.
    """

    kinds: tuple[str, ...]
    weights: NDArray[np.float32]
    chance: NDArray[np.float32]
    events: NDArray[np.float32]
    back_s: NDArray[np.float32]
    n_notes: int

    def strongest(self, layer: int, head: int) -> list[str]:
        """Return the kinds that a head looks at far more than chance would, the strongest first."""
        weights = self.weights[layer, head]
        excess = weights - self.chance
        return [
            self.kinds[kind]
            for kind in np.argsort(-excess, kind="stable")
            if excess[kind] >= _LEAST_SHARE and weights[kind] >= _LEAST_LIFT * self.chance[kind]
        ]

    def leading(self, layer: int) -> list[str]:
        """Return the habits by which a layer's heads are told apart: each head's strongest, once.

        A look at the first event of all does not count: many heads put there what they do not need.
        """
        own = (
            next((kind for kind in self.strongest(layer, head) if kind != _IDLE), None)
            for head in range(self.weights.shape[1])
        )
        return list(dict.fromkeys(kind for kind in own if kind is not None))

    def most_telling(self) -> int:
        """Return the layer whose heads differ most: by what two of them give a kind, on average."""
        told = [place for place, kind in enumerate(self.kinds) if kind != _IDLE]
        heads = self.weights[:, :, told]
        apart = np.abs(heads[:, :, None] - heads[:, None]).sum(axis=3)
        return int(apart.mean(axis=(1, 2)).argmax())

    def sentence(self, layer: int, head: int) -> str:
        """Say in words what a head looks at."""
        found = self.strongest(layer, head)[:_MOST_SAID]
        said = "; ".join(self._said(layer, head, kind) for kind in found)
        events, back_s = float(self.events[layer, head]), float(self.back_s[layer, head])
        width = "one event" if events < _FEW else f"about {events:.0f} events"
        if not said:
            return f"No habit among these: its attention is spread over {width}."
        far = "" if np.isnan(back_s) else f", on average {back_s:.1f} s before the note"
        return f"{said[0].upper()}{said[1:]}. It gathers from {width} at a time{far}."

    def _said(self, layer: int, head: int, kind: str) -> str:
        place = self.kinds.index(kind)
        weight, chance = self.weights[layer, head, place], self.chance[place]
        times = f", {_rounded(weight / chance)} times chance" if chance > 0 else ""
        return f"{KINDS[kind]} ({weight:.0%}{times})"


def _rounded(figure: float) -> str:
    return f"{figure:.0f}" if figure >= 3 else f"{figure:.1f}"
