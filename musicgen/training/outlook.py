"""What a run would take on this machine, size by size, from a few steps: before training."""

from __future__ import annotations

import copy
from collections.abc import Generator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from musicgen.checkpoint import find_device, load_checkpoint
from musicgen.corpus import Corpus, ScanProgress, build_corpus
from musicgen.errors import OutOfMemoryError, TrainingError
from musicgen.training.batches import plain_batch
from musicgen.training.candidates import Candidate, fine_tuned, new_models
from musicgen.training.claim import claimed
from musicgen.training.curriculum import curriculum_of
from musicgen.training.events import Scanned
from musicgen.training.length import (
    FEW_STEPS,
    FEW_STEPS_ON,
    Tried,
    counted_steps,
    minutes_of,
    seconds_a_step,
    steps_in,
)
from musicgen.training.memory import free_bytes, peak_bytes
from musicgen.training.optim import make_optimizers
from musicgen.training.precision import faster_precision
from musicgen.training.recipe import DEFAULT_MINUTES, TrainingRecipe
from musicgen.training.run import Run
from musicgen.training.step import Stepper
from musicgen.training.tokenizing import run_tokenizer
from musicgen.training.validating import held_out_windows
from musicgen.training.windows import WHOLE

_TRIAL_S = 6.0
_TRIAL_RATE = 1e-6
_CPU_FACTOR, _CPU_SCRATCH_BYTES = 1.4, 100_000_000
"""What a process takes beside its tensors: two steps of 4 × 512 events of tiny and small took
318 and 686 MB (VmHWM); their tensors took 168 and 441 MB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What a few steps tell of a whole run.

    Attributes:
        seconds_per_step: Of a step with whole windows.
        events_per_s: At that pace.
        steps: Of the whole run.
        minutes: Of the whole run, with a share for validation and saving.
        epochs: How often the run reads the training music.
        memory_bytes: Of weights, gradients, optimizer and the largest step, beside the program.
        windows_at_once: How many of the step's windows fit at once; None for all of them.
    """

    seconds_per_step: float
    events_per_s: float
    steps: int
    minutes: float
    epochs: float
    memory_bytes: int
    windows_at_once: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What a run of one size would take.

    Attributes:
        size: The preset's name, or `candidates.OWN_SIZE`; of fine-tuning, the model and the way.
        parameters: Numbers that it learns.
        trial: A few steps of it; None where not even one window fits into memory.
        free_bytes: What the device has left, or None where that cannot be asked.
        few_steps: With fewer steps it learns little.
    """

    size: str
    parameters: int
    trial: Trial | None
    free_bytes: int | None
    few_steps: int = FEW_STEPS

    @property
    def is_too_large(self) -> bool:
        """Whether the memory that is left does not hold it."""
        if self.trial is None:
            return True
        return self.free_bytes is not None and self.trial.memory_bytes > self.free_bytes

    @property
    def verdict(self) -> str:
        """Whether this size suits the machine and the time, in a few words."""
        trial = self.trial
        if trial is None or self.is_too_large:
            return "too large for the memory"
        if trial.steps < self.few_steps:
            return f"too slow: below {self.few_steps} steps a model learns little"
        if trial.windows_at_once is not None:
            return f"fits, {trial.windows_at_once} of its windows at once"
        return "fits"


def look_ahead(
    folder: str | Path,
    recipe: TrainingRecipe,
    *,
    run_folder: str | Path | None = None,
    start_from: str | Path | None = None,
    device: str = "auto",
) -> Generator[ScanProgress | Scanned | Outlook, None, None]:
    """Read the folder, then try some steps of every size, or of both ways to fine-tune a model.

    Nothing is trained.

    Args:
        folder: MIDI files at any depth.
        recipe: The settings; its preset is one of those tried.
        run_folder: Where the run will lie: its events are made there and used again. None makes
            them for this look alone.
        start_from: A model to fine-tune; None for new ones.
        device: "auto", "cpu" or "cuda".

    Yields:
        Progress, `Scanned`, and an `Outlook` for each size, the smallest first; of fine-tuning one
        for all weights, then one for LoRA.

    Raises:
        MusicgenError: The folder or the settings do not allow it.
    """
    own_device = torch.device(find_device(device))
    if recipe.precision == "auto":
        recipe = replace(recipe, precision=faster_precision(own_device))
    recipe = replace(recipe, compile=bool(recipe.compile))
    parent = None if start_from is None else load_checkpoint(start_from)
    with ExitStack() as stack:
        if run_folder is None:
            place = Path(stack.enter_context(TemporaryDirectory(prefix="musicgen-plan-")))
        else:
            place = Path(run_folder)
            stack.enter_context(claimed(place))
        run = Run(folder=place)
        if parent is None:
            tokenizer = yield from run_tokenizer(Path(folder), run, recipe)
        else:
            tokenizer = parent.tokenizer
        corpus = None
        for found in build_corpus(Path(folder), run.corpus_folder, tokenizer, skip=run.folder):
            if isinstance(found, Corpus):
                corpus = found
            else:
                yield found
        if corpus is None:
            raise TrainingError(f"The corpus of {folder} was not finished.")
        yield Scanned.of(corpus)
        if parent is None:
            for each in new_models(recipe, tokenizer.vocab_sizes):
                yield _outlook(each, corpus, own_device, few_steps=FEW_STEPS)
        else:
            for each in fine_tuned(recipe, parent):
                yield _outlook(each, corpus, own_device, few_steps=FEW_STEPS_ON)


def _outlook(
    candidate: Candidate, corpus: Corpus, device: torch.device, *, few_steps: int
) -> Outlook:
    # Every step reads as many events; those of whole windows are the slowest and the largest.
    whole = replace(candidate.recipe, early_seq_len=None)
    tried = Tried(
        recipe=whole,
        decoder=candidate.decoder.to(device).train(),
        curriculum=curriculum_of(whole, corpus.events("train"), corpus.pieces("train")),
        device=device,
        n_held_out=len(held_out_windows(corpus, candidate.recipe)),
    )
    free = free_bytes(device)
    return Outlook(
        size=candidate.name,
        parameters=candidate.n_learning,
        trial=_trial(tried),
        free_bytes=free,
        few_steps=few_steps,
    )


def _trial(tried: Tried) -> Trial | None:
    recipe, sampler = tried.recipe, tried.curriculum.phases[-1].sampler
    fits = _largest_step(tried)
    if fits is None:
        return None
    memory, at_once = fits
    fitting = replace(tried, recipe=replace(recipe, micro_batch_size=at_once))
    seconds = seconds_a_step(fitting, _TRIAL_S)
    minutes = DEFAULT_MINUTES if recipe.minutes is None else recipe.minutes
    steps = counted_steps(recipe, tried.curriculum) or steps_in(minutes, seconds, tried)
    return Trial(
        seconds_per_step=seconds,
        events_per_s=sampler.events_a_step / seconds,
        steps=steps,
        minutes=minutes_of(steps, seconds, tried),
        epochs=steps * sampler.events_a_step / sampler.events_an_epoch,
        memory_bytes=memory,
        windows_at_once=at_once,
    )


def _largest_step(tried: Tried) -> tuple[int, int | None] | None:
    """Return the bytes that a step's run takes, and how many windows fit at once.

    None where not even one window fits.
    """
    decoder = copy.deepcopy(tried.decoder)
    stepper = Stepper(
        decoder,
        make_optimizers(decoder, tried.recipe),
        replace(tried.recipe, compile=False),
        tried.device,
        windows_at_once=tried.recipe.micro_batch_size,
    )
    batch = plain_batch(tried.curriculum.phases[-1].sampler, 0, WHOLE)
    weights = sum(parameter.nbytes for parameter in decoder.parameters())
    taken = None
    while taken is None:
        with peak_bytes(tried.device) as peak:
            taken = stepper.take(batch, _TRIAL_RATE, turn=0)
        if taken is None:
            try:
                stepper.halve()
            except OutOfMemoryError:
                return None
    counted = weights + peak.bytes
    if tried.device.type == "cpu":
        counted = int(_CPU_FACTOR * counted) + _CPU_SCRATCH_BYTES
    return counted, stepper.windows_at_once
