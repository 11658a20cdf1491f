"""The one door to training."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import torch

from musicgen.checkpoint import find_device
from musicgen.corpus import Corpus, ScanProgress
from musicgen.errors import OutOfMemoryError
from musicgen.training.events import Planned, Scanned, TrainingEvent
from musicgen.training.loop import run_steps
from musicgen.training.plan import Plan
from musicgen.training.preparing import prepare
from musicgen.training.recipe import TrainingRecipe


def train(
    folder: str | Path,
    run_folder: str | Path,
    recipe: TrainingRecipe | None,
    *,
    device: str = "auto",
    start_from: str | Path | None = None,
    resume: bool = False,
) -> Generator[TrainingEvent | ScanProgress, None, None]:
    """Train a model on a folder of MIDI files.

    Closing the iterator stops the run after a checkpoint; `resume` goes on from it and ends, on a
    CPU, with the same weights as an unbroken run.

    Args:
        folder: MIDI files at any depth.
        run_folder: Where the run is kept.
        recipe: The settings; None for a resumed run's own, or for the defaults.
        device: "auto" (CUDA if there is one), "cpu" or "cuda".
        start_from: A model to begin with, by name or folder; None for random weights.
        resume: Go on with the run in `run_folder`.

    Yields:
        What happens, in order; `Finished` at the end.

    Raises:
        MusicgenError: The folder, the settings or the machine do not allow it; what was saved
            stays.
    """
    try:
        prepared = prepare(
            Path(folder),
            Path(run_folder),
            recipe,
            device=torch.device(find_device(device)),
            start_from=start_from,
            resume=resume,
        )
        with closing(prepared):
            for found in prepared:
                if isinstance(found, Plan):
                    recipe = found.recipe
                    yield _planned(found)
                    yield from run_steps(found)
                elif isinstance(found, Corpus):
                    yield _scanned(found)
                else:
                    yield found
    except torch.OutOfMemoryError as error:
        raise _out_of_memory(recipe) from error
    except RuntimeError as error:
        # On a CPU torch reports memory that it did not get as a plain RuntimeError.
        if "can't allocate memory" not in str(error):
            raise
        raise _out_of_memory(recipe) from error


def _scanned(corpus: Corpus) -> Scanned:
    report = corpus.report
    return Scanned(
        summary=report.sentence(),
        n_pieces=len(report.pieces),
        n_refused=len(report.refused),
    )


def _planned(plan: Plan) -> Planned:
    return Planned(
        steps=plan.steps,
        first_step=plan.first_step,
        parameters=plan.decoder.config.parameter_count(),
        seconds_per_step=plan.seconds_per_step,
        notice=plan.notice,
    )


def _out_of_memory(recipe: TrainingRecipe | None) -> OutOfMemoryError:
    recipe = recipe or TrainingRecipe()
    return OutOfMemoryError(
        f"The memory does not hold batches of {recipe.batch_size} windows of {recipe.seq_len} "
        "events.",
        hint="Lower batch_size or seq_len, or choose a smaller preset.",
    )
