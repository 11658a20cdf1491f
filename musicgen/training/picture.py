"""A picture of a run's losses, drawn anew now and then: RUN/loss.png."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from musicgen.figures import curves_png
from musicgen.files import is_file, write_whole
from musicgen.training.claim import unwritable
from musicgen.training.run import METRICS, PICTURE

_POINTS = 200


def draw_losses(folder: Path) -> Path | None:
    """Draw the losses of a run's metrics; None where no step is told of yet.

    Args:
        folder: The run's.

    Raises:
        TrainingError: The folder cannot be written.
    """
    training, held_out = _losses(folder / METRICS)
    if not len(training):
        return None
    curves = {"training": _means(training), "held out": (held_out[:, 0], held_out[:, 1])}
    picture = curves_png(curves, title=folder.name, y_label="nats an event")
    try:
        write_whole(folder / PICTURE, picture)
    except OSError as error:
        raise unwritable(folder, error) from error
    return folder / PICTURE


def _losses(metrics: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return steps and losses, of training and of held-out music: two of (P, 2)."""
    training: list[tuple[int, float]] = []
    held_out: list[tuple[int, float]] = []
    lines = metrics.read_bytes().splitlines() if is_file(metrics) else []
    for line in lines:
        told = json.loads(line)
        if "loss" in told:
            training.append((told["step"], told["loss"]))
        elif "validation_loss" in told:
            held_out.append((told["step"], told["validation_loss"]))
    return np.array(training).reshape(-1, 2), np.array(held_out).reshape(-1, 2)


def _means(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return means of neighbours, at most so many: a single step's loss is mostly chance."""
    parts = np.array_split(points, min(_POINTS, len(points)))
    means = np.array([part.mean(axis=0) for part in parts])
    return means[:, 0], means[:, 1]
