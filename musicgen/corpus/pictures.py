"""A corpus in pictures: pitches, velocities, density, length, keys."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from musicgen.corpus.diagnosis import Figures
from musicgen.figures import bars_png
from musicgen.midi import PLAIN_TONIC_NAMES

_DENSITIES_PER_S = (0.0, *(2 ** (step / 2) for step in range(-2, 13)))  # 0.5 to 64
_LENGTHS_S = (0.0, 5, 10, 20, 30, 45, 60, 90, 120, 180, 240, 300, 420, 600, 900, 1800, 3600, 10800)


def pictures(figures: Figures, theme: str) -> Iterator[tuple[str, bytes]]:
    """Yield a sentence on each picture, and the picture as PNG.

    Args:
        figures: Of one kept file at least.
        theme: "light" or "dark".
    """
    octaves = [(pitch + 0.5, f"C{pitch // 12 - 1}") for pitch in range(0, 128, 12)]
    yield (
        "How often each pitch is played.",
        bars_png(
            figures.pitches,
            octaves,
            title="Pitch",
            x_label="pitch (C4 is middle C)",
            y_label="notes",
            theme=theme,
        ),
    )
    yield (
        "How loud the notes are.",
        bars_png(
            figures.velocities,
            [(value / 4, str(value)) for value in range(0, 129, 16)],
            title="Velocity",
            x_label="velocity",
            y_label="notes",
            theme=theme,
        ),
    )
    yield (
        "How dense the files are.",
        _spread(figures.density_per_s, _DENSITIES_PER_S, "Density", "notes a second", theme),
    )
    yield (
        "How long the files last.",
        _spread(figures.seconds, _LENGTHS_S, "Length", "duration", theme),
    )
    names = [*PLAIN_TONIC_NAMES[:12], *(name.lower() for name in PLAIN_TONIC_NAMES[12:])]
    yield (
        "Which key each file is nearest to; small letters are minor keys.",
        bars_png(
            figures.keys,
            [(place + 0.5, name) for place, name in enumerate(names)],
            title="Key",
            x_label="key (small letters: minor)",
            y_label="files",
            theme=theme,
        ),
    )


def _spread(
    values: np.ndarray, edges: tuple[float, ...], title: str, x_label: str, theme: str
) -> bytes:
    """Draw how many files lie between edges, the last bin open above."""
    counts, _ = np.histogram(values, bins=[*edges, np.inf])
    used = np.flatnonzero(counts)
    first, last = int(used[0]), int(used[-1]) + 1
    as_text = _length if title == "Length" else _plain
    labels = [(place - first, as_text(edges[place])) for place in range(first, last)]
    if last < len(edges):
        labels.append((last - first, as_text(edges[last])))
    return bars_png(
        counts[first:last], labels, title=title, x_label=x_label, y_label="files", theme=theme
    )


def _plain(value: float) -> str:
    return f"{value:.2g}"


def _length(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.3g} min" if seconds < 3600 else f"{seconds / 3600:.0f} h"
