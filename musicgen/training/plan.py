"""Everything that the loop needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from musicgen import configio
from musicgen.corpus import Corpus
from musicgen.model import Decoder
from musicgen.tokens import Tokenizer
from musicgen.training.averaging import Average
from musicgen.training.curriculum import Curriculum, curriculum_of
from musicgen.training.optim import Optimizers
from musicgen.training.recipe import TrainingRecipe
from musicgen.training.run import Run, RunState


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that the loop needs.

    Attributes:
        run: The run's folder.
        recipe: The settings.
        corpus: The events.
        tokenizer: How they were made.
        decoder: The model, on `device`.
        optimizers: Its optimizers.
        device: Where it trains.
        steps: Steps in all.
        seconds_per_step: From the trial for `minutes`, else None.
        state: Where the run stands as it begins or goes on.
        average: Mean of the weights to go on with, where the recipe asks for it, or None.
        parent: Hash of the model it started from, or empty.
        notice: Something the user should know, or empty.
    """

    run: Run
    recipe: TrainingRecipe
    corpus: Corpus
    tokenizer: Tokenizer
    decoder: Decoder
    optimizers: Optimizers
    device: torch.device
    steps: int
    seconds_per_step: float | None
    state: RunState
    average: Average | None
    parent: str
    notice: str

    def curriculum(self) -> Curriculum:
        """Return the order of the training windows."""
        corpus = self.corpus
        return curriculum_of(self.recipe, corpus.events("train"), corpus.pieces("train"))

    def readings(self) -> float:
        """Return how often the run goes through its music.

        The steps before a restart are those of a run that ends there.
        """
        return self.curriculum().readings(self.recipe.first_steps(self.steps))

    def summary(self, step: int, bits_per_note: float | None) -> dict[str, Any]:
        """Return what a checkpoint tells about its training."""
        report, parent = self.corpus.report, self.run.parent()
        return {
            "recipe": configio.to_mapping(self.recipe),
            "steps": self.steps,
            "step": step,
            "pieces": len(report.of_split("train")),
            "notes": sum(piece.n_notes for piece in report.of_split("train")),
            "corpus": self.corpus.report.fingerprint(),
            "parent": self.parent,
            "parent_name": "" if parent is None else parent.name,
            "validation_bits_per_note": bits_per_note,
        }
