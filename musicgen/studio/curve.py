"""A run's metrics as a curve short enough for a page."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path

from musicgen.training.gain import UNTOUCHED

MOST_POINTS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """What a run has learned so far.

    Attributes:
        steps: Where the points stand, at most `MOST_POINTS`.
        losses: Means of the training loss up to each from the one before, in nats an event.
        validated: Steps with a validation.
        held_out: Held-out loss there, in nats an event like the others.
        bits_per_note: The same in bits a note.
        untouched_bits_per_note: Of the model that the run began with, on the same held-out music,
            or None.
    """

    steps: tuple[int, ...]
    losses: tuple[float, ...]
    validated: tuple[int, ...]
    held_out: tuple[float, ...]
    bits_per_note: tuple[float, ...]
    untouched_bits_per_note: float | None

    @property
    def training_bits_per_note(self) -> tuple[float, ...]:
        """The training loss in bits a note, by as many events a note as held-out music has.

        Before the first validation an event counts as a note, which it is but for the first and the
        last of a piece.
        """
        scale = 1 / math.log(2)
        if self.held_out and self.held_out[0] > 0:
            scale = self.bits_per_note[0] / self.held_out[0]
        return tuple(round(loss * scale, 4) for loss in self.losses)


def read_curve(path: Path) -> Curve:
    """Return the curve of a run's metrics.jsonl; what is not a whole line yet is left out."""
    losses: list[tuple[int, float]] = []
    validated: list[tuple[int, float, float]] = []
    untouched: float | None = None
    for line in _lines(path):
        try:
            told = json.loads(line)
            if "loss" in told:
                losses.append((int(told["step"]), float(told["loss"])))
            elif "validation_bits_per_note" in told:
                loss, bits = told["validation_loss"], told["validation_bits_per_note"]
                validated.append((int(told["step"]), float(loss), float(bits)))
            elif UNTOUCHED in told:
                untouched = float(told[UNTOUCHED])  # the last one, should the music have changed
        except (ValueError, TypeError, KeyError):
            continue  # a process that was killed may leave a part of a line
    width = -(-len(losses) // MOST_POINTS) or 1
    parts = [losses[at : at + width] for at in range(0, len(losses), width)]
    return Curve(
        steps=tuple(part[-1][0] for part in parts),
        losses=tuple(round(sum(loss for _, loss in part) / len(part), 4) for part in parts),
        validated=tuple(step for step, _, _ in validated),
        held_out=tuple(round(loss, 4) for _, loss, _ in validated),
        bits_per_note=tuple(round(bits, 4) for _, _, bits in validated),
        untouched_bits_per_note=None if untouched is None else round(untouched, 4),
    )


def _lines(path: Path) -> list[bytes]:
    try:
        return path.read_bytes().splitlines()
    except OSError:
        return []  # no step was done yet
