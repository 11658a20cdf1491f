"""The folder of a run: what was fixed at its start, its metrics, its checkpoints.

run.json        settings and fingerprints, fixed
corpus/         the events
metrics.jsonl   one line a step, one a validation, one for the model that it began with
loss.png        a picture of them, drawn after the first checkpoint and now and then
checkpoints/    step-…: the model and what it takes to go on; the newest two
parent/         the model that it began with, if it did not begin with random weights
best/           the model with the lowest held-out loss
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from musicgen import configio
from musicgen.checkpoint import Checkpoint, load_checkpoint, read_manifest, save_checkpoint
from musicgen.checkpoint.copy import copy_checkpoint, is_copy
from musicgen.checkpoint.extend import add_file
from musicgen.checkpoint.folder import put_back, remove_partial
from musicgen.checkpoint.manifest import Manifest, read_checked, read_json
from musicgen.checkpoint.weights import tensors_from_bytes, tensors_to_bytes
from musicgen.errors import CheckpointError, CheckpointMismatchError, ConfigError, TrainingError
from musicgen.files import is_file, is_folder, is_there, write_whole
from musicgen.model import Decoder
from musicgen.tokens import Tokenizer
from musicgen.training import metrics
from musicgen.training.averaging import Average
from musicgen.training.claim import unwritable
from musicgen.training.lora import (
    adapt,
    is_adapted,
    merged,
    narrow_matrices,
    restore_narrow_matrices,
)
from musicgen.training.optim import Optimizers, make_optimizers
from musicgen.training.recipe import RunFacts, TrainingRecipe

OPTIMIZER = "optimizer.safetensors"
LORA = "lora.safetensors"
AVERAGE = "average.safetensors"
STATE = "state.json"
METRICS = "metrics.jsonl"
PICTURE = "loss.png"
KEPT_CHECKPOINTS = 2
_STEP_FOLDER = re.compile(r"step-(\d{9})")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState:
    """Where a run stands.

    Attributes:
        step: Steps done.
        best_loss: Lowest held-out nats an event so far, or None.
        best_bits_per_note: The same in bits a note.
        windows_at_once: Windows of `seq_len` that were read at once; None for all of a step's.
        lowest_loss: Lowest held-out nats an event so far, whatever the recipe keeps, or None.
        n_since_lowest: Validations since then.
    """

    step: int
    best_loss: float | None
    best_bits_per_note: float | None
    windows_at_once: int | None = None
    lowest_loss: float | None = None
    n_since_lowest: int = 0

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
        average: Mean of the weights, where the recipe asks for it, else None.
        passed_over: A sentence for each later checkpoint that is damaged.
    """

    decoder: Decoder
    optimizers: Optimizers
    state: RunState
    average: Average | None
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
    def checkpoints(self) -> Path:
        """Where its checkpoints lie."""
        return self.folder / "checkpoints"

    @property
    def best(self) -> Path:
        """Where its best model lies."""
        return self.folder / "best"

    @property
    def parent_folder(self) -> Path:
        """Where a copy of the model lies that it began with, if any."""
        return self.folder / "parent"

    def parent(self) -> Manifest | None:
        """Return the manifest of the model that it began with; None for random weights."""
        return read_manifest(self.parent_folder) if is_folder(self.parent_folder) else None

    def keep_parent(self, checkpoint: Checkpoint | None) -> None:
        """Keep a copy of the model that it begins with: to go on and to compare need no other.

        Raises:
            TrainingError: The folder cannot be written, or something of that name is there that
                is not a copy of a run that never began.
        """
        place = self.parent_folder
        if is_there(place) and (checkpoint is None or not is_copy(place)):
            raise TrainingError(
                f"{place} is there already, where a run keeps the model that it begins with.",
                hint="Choose another folder for the run, or remove that one if you do not need it.",
            )
        try:
            if checkpoint is not None:
                copy_checkpoint(checkpoint.folder, place)
        except OSError as error:
            raise unwritable(self.folder, error) from error

    def facts(self) -> RunFacts | None:
        """Return what was fixed at its start, or None for a folder without a run."""
        path = self.folder / "run.json"
        return configio.load_json(path, RunFacts) if is_file(path) else None

    def begin(self, facts: RunFacts) -> None:
        """Write down what is fixed.

        Raises:
            TrainingError: The folder cannot be written.
        """
        self.rewrite(facts)
        try:
            (self.folder / METRICS).write_text("", encoding="utf-8")
            (self.folder / PICTURE).unlink(missing_ok=True)  # of another run: see `lost_steps`
        except OSError as error:
            raise unwritable(self.folder, error) from error

    def rewrite(self, facts: RunFacts) -> None:
        """Write down what has been changed by leave.

        Raises:
            TrainingError: The folder cannot be written.
        """
        try:
            write_whole(self.folder / "run.json", configio.to_json(facts).encode("utf-8"))
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

    def logged(self, name: str) -> tuple[dict[str, Any], ...]:
        """Return the lines of the metrics that tell a figure, newest first."""
        try:
            return tuple(metrics.lines_with(self.folder / METRICS, name))[::-1]
        except OSError:
            return ()  # no step was done yet

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
        average: Average | None = None,
    ) -> Path:
        """Write a checkpoint to go on from, and drop all but the newest two.

        Args:
            state: Where the run stands.
            decoder: The model.
            optimizers: Its optimizers.
            tokenizer: Its tokenizer.
            training: What is told of the training.
            average: Mean of the weights, where the recipe asks for it.

        Raises:
            TrainingError: The folder cannot be written.
        """
        folder = self.checkpoints / f"step-{state.step:09d}"
        extra = {
            OPTIMIZER: tensors_to_bytes(optimizers.tensors(decoder)),
            STATE: configio.to_json(state).encode(),
        }
        if is_adapted(decoder):
            extra[LORA] = tensors_to_bytes(narrow_matrices(decoder))
        if average is not None:
            extra[AVERAGE] = tensors_to_bytes(average.tensors())
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

    def describe_best(self, card: str, text: str, training: Mapping[str, Any]) -> None:
        """Put a model card and further facts of the training into the run's best model.

        Raises:
            CheckpointError: It is damaged.
            TrainingError: The folder cannot be written.
        """
        try:
            add_file(self.best, card, text.encode(), training=training)
        except OSError as error:
            raise unwritable(self.folder, error) from error

    def _save(
        self,
        folder: Path,
        step: int,
        decoder: Decoder,
        tokenizer: Tokenizer,
        training: Mapping[str, Any],
        extra: Mapping[str, bytes],
    ) -> None:
        parent = self.parent()
        try:
            save_checkpoint(
                folder,
                decoder=merged(decoder),
                tokenizer=tokenizer,
                name=self.folder.name,
                step=step,
                training=training,
                licence="" if parent is None else parent.licence,
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
                found = _read(folder, recipe, device, self.parent_folder)
            except (CheckpointError, ConfigError) as error:
                passed_over.append(error.message)
                continue
            return replace(found, passed_over=tuple(passed_over))
        if passed_over:
            raise TrainingError(
                f"No checkpoint of {self.folder} is sound: {passed_over[0]}",
                hint="Start again in another folder.",
            )
        return None

    def lost_steps(self) -> int:
        """Return how many steps a run has done whose checkpoints are gone; 0 if none are missing.

        A run that was killed before its first checkpoint has lost none: it has metrics, and maybe
        a best model, but no picture, for that is drawn after the first checkpoint.

        Raises:
            TrainingError: The metrics cannot be read.
        """
        if not is_file(self.folder / PICTURE) or self._checkpoints():
            return 0
        try:
            return metrics.last_step(self.folder / METRICS)
        except OSError as error:
            raise unwritable(self.folder, error) from error

    def mend(self) -> None:
        """Remove what a killed process left half written, and put back what it was replacing.

        Raises:
            TrainingError: The folder cannot be written.
        """
        try:
            put_back(self.best)
        except OSError as error:
            raise unwritable(self.folder, error) from error
        remove_partial(self.folder, "best")
        remove_partial(self.checkpoints, "step-*")

    def _checkpoints(self) -> list[Path]:
        if not is_folder(self.checkpoints):
            return []
        return sorted(
            path for path in self.checkpoints.iterdir() if _STEP_FOLDER.fullmatch(path.name)
        )


def _read(folder: Path, recipe: TrainingRecipe, device: torch.device, parent: Path) -> Resumed:
    manifest = read_manifest(folder)
    state = configio.from_mapping(RunState, read_json(folder, manifest, STATE), where=STATE)
    data = read_checked(folder, manifest, OPTIMIZER)
    # An adapted model's own matrices are its parent's to the bit; the sum would not give them back.
    source = folder if recipe.lora_rank is None else parent
    decoder = load_checkpoint(source).decoder.to(device).train()
    try:
        if recipe.lora_rank is not None:
            narrow = tensors_from_bytes(read_checked(folder, manifest, LORA), folder, LORA)
            adapt(decoder, recipe.lora_rank, recipe.seed)
            restore_narrow_matrices(decoder, narrow)
        optimizers = make_optimizers(decoder, recipe)
        optimizers.restore(decoder, tensors_from_bytes(data, folder, OPTIMIZER))
        average = None
        if recipe.ema_decay is not None:
            data = read_checked(folder, manifest, AVERAGE)
            average = Average(decoder, recipe.ema_decay)
            average.restore(tensors_from_bytes(data, folder, AVERAGE))
    except ValueError as error:
        raise CheckpointMismatchError(
            f"What {folder} keeps beside its model does not fit it: {error}."
        ) from error
    return Resumed(
        decoder=decoder, optimizers=optimizers, state=state, average=average, passed_over=()
    )
