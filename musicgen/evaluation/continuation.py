"""How near a continuation is to its own prompt, compared with other pieces' prompts.

Shapes: I pairs of a prompt and its continuation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from musicgen.corpus.keys import sounding_seconds
from musicgen.evaluation.distance import js_distance
from musicgen.evaluation.excerpts import Excerpt
from musicgen.evaluation.onsets import onsets

TRAITS = ("key", "density", "register", "dynamics", "tempo")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContinuationFit:
    """How well continuations fit their prompts.

    Attributes:
        pairs: Prompts with a continuation.
        nearer: How often a continuation is nearer to its own prompt than to that of another piece,
            over all such other prompts.
        nearer_by_trait: The same by each trait alone.
    """

    pairs: int
    nearer: float
    nearer_by_trait: Mapping[str, float]


def continuation_fit(
    prompts: Sequence[Excerpt], continuations: Sequence[Excerpt]
) -> ContinuationFit:
    """Compare each continuation with its own prompt and with those of other pieces.

    The distance of two excerpts is the mean over five traits, each divided by its mean between
    prompts of different pieces: the Jensen–Shannon distance of the seconds that each pitch class
    sounds (key), and the differences of the binary logarithm of notes a second (density), of the
    mean pitch (register), of the mean velocity (dynamics) and of the binary logarithm of the median
    time between onsets (tempo). A continuation without two onsets is near to nothing.

    Args:
        prompts: What was gone on from (I,).
        continuations: What was made of it (I,), without the prompt, in the same order.

    Raises:
        ValueError: The two are not as many, or all prompts are of one piece.
    """
    if len(prompts) != len(continuations):
        raise ValueError(f"{len(prompts)} prompts and {len(continuations)} continuations")
    pieces = np.array([prompt.piece for prompt in prompts])
    other = pieces[:, None] != pieces
    if not other.any():
        raise ValueError("all prompts are of one piece: there is no other to compare with")
    between = trait_distances(prompts, prompts)
    scale = np.array([np.nanmean(distance[other]) for distance in between])
    apart = trait_distances(continuations, prompts) / np.maximum(scale, 1e-9)[:, None, None]
    return ContinuationFit(
        pairs=len(prompts),
        nearer=_nearer(apart.mean(axis=0), other),
        nearer_by_trait={
            trait: _nearer(distance, other) for trait, distance in zip(TRAITS, apart, strict=True)
        },
    )


def trait_distances(one: Sequence[Excerpt], other: Sequence[Excerpt]) -> np.ndarray:
    """Return the distances by each trait: (5, len(one), len(other)), nan where one is undefined."""
    classes_one, figures_one = _traits(one)
    classes_other, figures_other = _traits(other)
    key = np.array([[js_distance(p, q) for q in classes_other] for p in classes_one])
    figures = np.abs(figures_one[:, None] - figures_other)
    return np.concatenate([key[None], figures.transpose(2, 0, 1)])


def _traits(excerpts: Sequence[Excerpt]) -> tuple[np.ndarray, np.ndarray]:
    """Return pitch-class shares (I, 12), and the four other traits (I, 4)."""
    classes, figures = [], []
    for excerpt in excerpts:
        notes = excerpt.notes
        chroma = sounding_seconds(notes, np.array([0.0, excerpt.seconds]))[0]
        classes.append(chroma / max(float(chroma.sum()), 1e-12))
        onset_s, _ = onsets(notes)
        if len(onset_s) < 2:
            figures.append([np.nan] * 4)
            continue
        figures.append(
            [
                np.log2(len(notes) / excerpt.seconds),
                notes.pitch.mean(),
                notes.velocity.mean(),
                np.log2(np.median(np.diff(onset_s))),
            ]
        )
    return np.array(classes).reshape(-1, 12), np.array(figures).reshape(-1, 4)


def _nearer(apart: np.ndarray, other: np.ndarray) -> float:
    """Return how often (I, I) distances from row to its own column are the smaller ones."""
    return float((np.diagonal(apart)[:, None] < apart)[other].mean())
