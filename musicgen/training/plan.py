"""Everything that the loop needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from musicgen import configio
from musicgen.corpus import Corpus
from musicgen.model import Decoder
from musicgen.tokens import Tokenizer
from musicgen.training.curriculum import Curriculum, curriculum_of
from musicgen.training.optim import Optimizers
from musicgen.training.recipe import TrainingRecipe
from musicgen.training.run import Run


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
        first_step: Steps already done.
        best_loss: Lowest held-out nats an event so far, or None.
        best_bits_per_note: The same in bits a note.
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
    first_step: int
    best_loss: float | None
    best_bits_per_note: float | None
    parent: str
    notice: str

    def curriculum(self) -> Curriculum:
        """Return the order of the training windows."""
        corpus = self.corpus
        return curriculum_of(self.recipe, corpus.events("train"), corpus.pieces("train"))

    def summary(self, step: int, bits_per_note: float | None) -> dict[str, Any]:
        """Return what a checkpoint tells about its training."""
        report = self.corpus.report
        return {
            "recipe": configio.to_mapping(self.recipe),
            "steps": self.steps,
            "step": step,
            "pieces": len(report.of_split("train")),
            "notes": sum(piece.n_notes for piece in report.of_split("train")),
            "corpus": self.corpus.report.fingerprint(),
            "parent": self.parent,
            "validation_bits_per_note": bits_per_note,
        }
