"""The folder of a run: what was fixed at its start, its metrics, its checkpoints.

run.json        settings and fingerprints, fixed
corpus/         the events
metrics.jsonl   one line a step, one a validation
checkpoints/    step-…: the model and what it takes to go on; the newest two
best/           the model with the lowest held-out loss
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from musicgen import configio
from musicgen.checkpoint import load_checkpoint, read_manifest, save_checkpoint
from musicgen.checkpoint.manifest import read_checked, read_json
from musicgen.checkpoint.weights import tensors_from_bytes, tensors_to_bytes
from musicgen.errors import CheckpointError, CheckpointMismatchError, ConfigError, TrainingError
from musicgen.files import is_file, is_folder
from musicgen.model import Decoder
from musicgen.tokens import Tokenizer
from musicgen.training import metrics
from musicgen.training.claim import unwritable
from musicgen.training.optim import Optimizers, make_optimizers
from musicgen.training.recipe import RunFacts, TrainingRecipe

OPTIMIZER = "optimizer.safetensors"
STATE = "state.json"
METRICS = "metrics.jsonl"
KEPT_CHECKPOINTS = 2
_STEP_FOLDER = re.compile(r"step-(\d{9})")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState:
    """Where a run stands.

    Attributes:
        step: Steps done.
        best_loss: Lowest held-out nats an event so far, or None.
        best_bits_per_note: The same in bits a note.
    """

    step: int
    best_loss: float | None
    best_bits_per_note: float | None

    @classmethod
    def none(cls) -> RunState:
        """Return the state before the first step."""
        return cls(step=0, best_loss=None, best_bits_per_note=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """What a run goes on with.

    Attributes:
        decoder: The model, on the run's device.
        optimizers: Its optimizers, as they were.
        state: Where the run stood.
        passed_over: A sentence for each later checkpoint that is damaged.
    """

    decoder: Decoder
    optimizers: Optimizers
    state: RunState
    passed_over: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run's folder.

    Attributes:
        folder: Where it lies.
    """

    folder: Path

    @property
    def corpus_folder(self) -> Path:
        """Where its events lie."""
        return self.folder / "corpus"

    @property
    def best(self) -> Path:
        """Where its best model lies."""
        return self.folder / "best"

    def facts(self) -> RunFacts | None:
        """Return what was fixed at its start, or None for a folder without a run."""
        path = self.folder / "run.json"
        return configio.load_json(path, RunFacts) if is_file(path) else None

    def begin(self, facts: RunFacts) -> None:
        """Write down what is fixed.

        Raises:
            TrainingError: The folder cannot be written.
        """
        try:
            partial = self.folder / "run.json.partial"
            partial.write_text(configio.to_json(facts), encoding="utf-8")
            os.replace(partial, self.folder / "run.json")
            (self.folder / METRICS).write_text("", encoding="utf-8")
        except OSError as error:
            raise unwritable(self.folder, error) from error

    def log(self, line: Mapping[str, Any]) -> None:
        """Add a line to the metrics.

        Raises:
            TrainingError: The file cannot be written.
        """
        try:
            metrics.add_line(self.folder / METRICS, line)
        except OSError as error:
            raise unwritable(self.folder, error) from error

    def rewind_log(self, step: int) -> None:
        """Drop the metrics after `step`: a resumed run writes them again.

        Raises:
            TrainingError: The file cannot be written.
        """
        try:
            metrics.rewind(self.folder / METRICS, step)
        except OSError as error:
            raise unwritable(self.folder, error) from error

    def save(
        self,
        state: RunState,
        *,
        decoder: Decoder,
        optimizers: Optimizers,
        tokenizer: Tokenizer,
        training: Mapping[str, Any],
    ) -> Path:
        """Write a checkpoint to go on from, and drop all but the newest two.

        Raises:
            TrainingError: The folder cannot be written.
        """
        folder = self.folder / "checkpoints" / f"step-{state.step:09d}"
        extra = {
            OPTIMIZER: tensors_to_bytes(optimizers.tensors(decoder)),
            STATE: configio.to_json(state).encode(),
        }
        self._save(folder, state.step, decoder, tokenizer, training, extra)
        for old in self._checkpoints()[:-KEPT_CHECKPOINTS]:
            shutil.rmtree(old, ignore_errors=True)
        return folder

    def save_best(
        self, step: int, *, decoder: Decoder, tokenizer: Tokenizer, training: Mapping[str, Any]
    ) -> None:
        """Write the model as the run's best.

        Raises:
            TrainingError: The folder cannot be written.
        """
        self._save(self.best, step, decoder, tokenizer, training, {})

    def _save(
        self,
        folder: Path,
        step: int,
        decoder: Decoder,
        tokenizer: Tokenizer,
        training: Mapping[str, Any],
        extra: Mapping[str, bytes],
    ) -> None:
        try:
            save_checkpoint(
                folder,
                decoder=decoder,
                tokenizer=tokenizer,
                name=self.folder.name,
                step=step,
                training=training,
                extra=extra,
            )
        except OSError as error:
            raise unwritable(self.folder, error) from error

    def newest(self, recipe: TrainingRecipe, device: torch.device) -> Resumed | None:
        """Return what the newest sound checkpoint holds, or None if there is none at all.

        Damaged ones are passed over, each with a sentence.

        Args:
            recipe: Of the run.
            device: Where it trains.

        Raises:
            TrainingError: There are checkpoints, and all are damaged.
        """
        passed_over: list[str] = []
        for folder in reversed(self._checkpoints()):
            try:
                decoder, optimizers, state = _read(folder, recipe, device)
            except (CheckpointError, ConfigError) as error:
                passed_over.append(error.message)
                continue
            return Resumed(
                decoder=decoder, optimizers=optimizers, state=state, passed_over=tuple(passed_over)
            )
        if passed_over:
            raise TrainingError(
                f"No checkpoint of {self.folder} is sound: {passed_over[0]}",
                hint="Start again in another folder.",
            )
        return None

    def _checkpoints(self) -> list[Path]:
        parent = self.folder / "checkpoints"
        if not is_folder(parent):
            return []
        return sorted(path for path in parent.iterdir() if _STEP_FOLDER.fullmatch(path.name))


def _read(
    folder: Path, recipe: TrainingRecipe, device: torch.device
) -> tuple[Decoder, Optimizers, RunState]:
    manifest = read_manifest(folder)
    state = configio.from_mapping(RunState, read_json(folder, manifest, STATE), where=STATE)
    data = read_checked(folder, manifest, OPTIMIZER)
    decoder = load_checkpoint(folder).decoder.to(device).train()
    optimizers = make_optimizers(decoder, recipe)
    try:
        optimizers.restore(decoder, tensors_from_bytes(data, folder, OPTIMIZER))
    except ValueError as error:
        raise CheckpointMismatchError(
            f"{OPTIMIZER} of {folder} does not fit its model: {error}."
        ) from error
    return decoder, optimizers, state
