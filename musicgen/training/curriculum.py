"""Short windows first, whole ones later.

A model that knows nothing yet learns sooner from many short windows than from few long ones. The
length doubles in equal shares of the steps while the number of windows halves, so every step reads
as many events. Source: Li et al. (2022), "The Stability-Efficiency Dilemma: Investigating Sequence
Length Warmup for Training GPT Models"; the gain here is in docs/lab_log.md.

Legend: B windows a step, T events a window predicts, K attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from musicgen.corpus import Piece
from musicgen.training.recipe import TrainingRecipe
from musicgen.training.windows import WindowSampler


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """Steps that read windows of one length.

    Attributes:
        share: Share of all steps.
        sampler: Gives the batch of any step.
    """

    share: float
    sampler: WindowSampler


@dataclass(frozen=True, slots=True, kw_only=True)
class Curriculum:
    """The windows of every step.

    Attributes:
        phases: In the order in which they are read; their shares sum to 1.
    """

    phases: tuple[Phase, ...]

    def sampler(self, step: int, steps: int) -> WindowSampler:
        """Return what gives the batch of step 0 … steps − 1."""
        until = 0.0
        for phase in self.phases[:-1]:
            until += phase.share
            if step < int(until * steps):
                return phase.sampler
        return self.phases[-1].sampler

    def mean(self, of: Callable[[WindowSampler], float]) -> float:
        """Return the mean over all steps of something that steps of one phase have in common."""
        return sum(phase.share * of(phase.sampler) for phase in self.phases)

    def readings(self, steps: int) -> float:
        """Return how many times so many steps go through the music."""
        events = steps * self.mean(lambda each: each.events_a_step)
        return events / self.phases[-1].sampler.events_an_epoch


def curriculum_of(
    recipe: TrainingRecipe, events: np.ndarray, pieces: Sequence[Piece]
) -> Curriculum:
    """Return the windows that a recipe reads.

    Args:
        recipe: The settings.
        events: The training events (N, K).
        pieces: Where each piece begins and how long it is.

    Raises:
        CorpusError: There are fewer than two events.
    """
    lengths = _early_lengths(recipe)
    shares = [recipe.early_share / len(lengths)] * len(lengths) if lengths else []
    return Curriculum(
        phases=tuple(
            Phase(
                share=share,
                sampler=WindowSampler(
                    events,
                    pieces,
                    seq_len=length,
                    batch_size=max(1, recipe.batch_size * recipe.seq_len // length),
                    seed=recipe.seed,
                ),
            )
            for length, share in zip(
                [*lengths, recipe.seq_len], [*shares, 1 - sum(shares)], strict=True
            )
        )
    )


def _early_lengths(recipe: TrainingRecipe) -> list[int]:
    """Return the doubling lengths below the whole one."""
    if recipe.early_seq_len is None or not recipe.early_share:
        return []
    lengths = [recipe.early_seq_len]
    while lengths[-1] < recipe.seq_len:
        lengths.append(2 * lengths[-1])
    return lengths[:-1]
