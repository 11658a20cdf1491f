"""What every step reads: the same windows whatever number of processes share them.

Legend: B windows that this process reads, T events a window predicts, K attributes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musicgen.training.augmentation import Augmentation
from musicgen.training.curriculum import Curriculum
from musicgen.training.windows import WHOLE, Share, WindowSampler


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The windows of one step that this process reads.

    Attributes:
        ids: Their events (B, T + 1, K), int64.
        n_windows: How many windows all processes read in this step.
    """

    ids: np.ndarray
    n_windows: int

    @property
    def n_events(self) -> int:
        """How many events all processes predict in this step."""
        return self.n_windows * (self.ids.shape[1] - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batches:
    """The windows of every step.

    Attributes:
        curriculum: How long they are, and their order.
        augmentation: How they are varied.
        steps: Steps that the curriculum is spread over.
        share: Which of them this process reads.
    """

    curriculum: Curriculum
    augmentation: Augmentation
    steps: int
    share: Share = WHOLE

    def of(self, step: int) -> Batch:
        """Return what this process reads in a step, counted from 0."""
        sampler = self.curriculum.sampler(step, self.steps)
        batch = plain_batch(sampler, step, self.share)
        first = self.share.rows(batch.n_windows).start
        varied = self.augmentation.vary(batch.ids, step, first)
        return Batch(ids=varied, n_windows=batch.n_windows)


def plain_batch(sampler: WindowSampler, step: int, share: Share) -> Batch:
    """Return this process's windows of a step, as they are in the corpus."""
    return Batch(ids=sampler.batch(step, share), n_windows=sampler.batch_size)
