"""Can a simple judge tell generated music from real music that neither of them has seen?

A logistic regression on an excerpt's statistics and histograms. Excerpts of one piece (or take) are
never on both sides of a split.

Shapes: E excerpts, F features.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from musicgen.evaluation.histograms import HISTOGRAM_EDGES
from musicgen.evaluation.statistics import STATISTICS, Measured

SECONDS = 20.0
"""Length of the excerpts that are told apart."""

N_FOLDS = 5
RIDGE = 10.0
"""Penalty on the squared weights of the standardized features."""

_NEWTON_STEPS = 30


def told_apart(
    real: Sequence[Measured], generated: Sequence[Measured], *, generator: np.random.Generator
) -> float:
    """Return how often the judge is right on held-out pieces, both kinds weighing the same.

    Pieces are split into five parts; each part is judged by a regression fitted on the others.

    Args:
        real: Excerpts of real music.
        generated: Excerpts of generated music.
        generator: Splits the pieces.

    Raises:
        ValueError: There are fewer pieces of a kind than parts.
    """
    rows = np.concatenate([features(real), features(generated)])
    labels = np.repeat([0.0, 1.0], [len(real), len(generated)])
    folds = np.concatenate([_folds(real, generator), _folds(generated, generator)])
    right = np.zeros(len(rows), dtype=bool)
    for fold in range(N_FOLDS):
        held = folds == fold
        mean, scale = _scale(rows[~held])
        weights = fit((_filled(rows[~held], mean) - mean) / scale, labels[~held])
        score = _with_one((_filled(rows[held], mean) - mean) / scale) @ weights
        right[held] = (score > 0) == (labels[held] > 0)
    return float((right[labels == 0].mean() + right[labels == 1].mean()) / 2)


def features(measured: Sequence[Measured]) -> np.ndarray:
    """Return the features (E, F): the statistics, then the square roots of the histograms' shares.

    The square root makes the distance of two histograms Hellinger's, in which rare bins count too.
    """
    return np.array(
        [
            np.concatenate(
                [
                    [getattr(m.statistics, name) for name in STATISTICS],
                    *(np.sqrt(m.histograms[name]) for name in HISTOGRAM_EDGES),
                ]
            )
            for m in measured
        ]
    )


def fit(rows: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Fit a logistic regression by Newton's method; both kinds weigh the same.

    Args:
        rows: Standardized features (E, F).
        labels: 0 or 1 (E,).

    Returns:
        Weights (F + 1,), the last one for the constant.
    """
    rows = _with_one(rows)
    share = np.where(labels > 0, labels.mean(), 1 - labels.mean())
    importance = 0.5 / np.maximum(share, 1e-9)
    penalty = np.full(rows.shape[1], RIDGE)
    penalty[-1] = 1e-6
    weights = np.zeros(rows.shape[1])
    for _ in range(_NEWTON_STEPS):
        chance = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        slope = rows.T @ (importance * (chance - labels)) + penalty * weights
        curve = importance * np.maximum(chance * (1 - chance), 1e-6)
        step = np.linalg.solve((rows.T * curve) @ rows + np.diag(penalty), slope)
        weights = weights - step
        if np.abs(step).max() < 1e-6:
            break
    return weights


def _folds(measured: Sequence[Measured], generator: np.random.Generator) -> np.ndarray:
    pieces = sorted({m.piece for m in measured})
    if len(pieces) < N_FOLDS:
        raise ValueError(f"{len(pieces)} pieces cannot be split into {N_FOLDS} parts")
    order = generator.permutation(len(pieces))
    fold = {piece: int(order[row]) % N_FOLDS for row, piece in enumerate(pieces)}
    return np.array([fold[m.piece] for m in measured])


def _scale(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    known = np.where(np.isfinite(rows), rows, np.nan)
    mean = np.nan_to_num(np.nanmean(known, axis=0))
    spread = np.nan_to_num(np.nanstd(known, axis=0))
    return mean, np.where(spread > 1e-9, spread, 1.0)


def _filled(rows: np.ndarray, mean: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(rows), rows, mean)


def _with_one(rows: np.ndarray) -> np.ndarray:
    return np.concatenate([rows, np.ones((len(rows), 1))], axis=1)
