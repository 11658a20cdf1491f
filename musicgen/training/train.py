"""The one door to training."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator
from contextlib import closing
from pathlib import Path

from musicgen.checkpoint import find_device
from musicgen.corpus import Corpus, ScanProgress
from musicgen.engine.learning import warnings_about_training
from musicgen.training.augmentation import is_varied_for_little
from musicgen.training.boards import check_tensorboard
from musicgen.training.events import Planned, Scanned, TrainingEvent
from musicgen.training.group import Group
from musicgen.training.joining import joined
from musicgen.training.loop import run_steps
from musicgen.training.memory import is_out_of_memory, out_of_memory
from musicgen.training.plan import Plan
from musicgen.training.preparing import prepare
from musicgen.training.processes import Processes
from musicgen.training.recipe import TrainingRecipe
from musicgen.training.settling import settled
from musicgen.training.sharing import hand_out, take_over


def train(
    folder: str | Path,
    run_folder: str | Path,
    recipe: TrainingRecipe | None,
    *,
    device: str = "auto",
    start_from: str | Path | None = None,
    resume: bool = False,
    allow: Collection[str] = (),
) -> Generator[TrainingEvent | ScanProgress, None, None]:
    """Train a model on a folder of MIDI files.

    Closing the iterator stops the run after a checkpoint; `resume` goes on from it and ends, on a
    CPU, with the same weights as an unbroken run.

    Where torchrun started several processes, each calls this alike: they share every step's
    windows, the first of them (rank 0) writes, and the others yield their steps alone.

    Args:
        folder: MIDI files at any depth.
        run_folder: Where the run is kept.
        recipe: The settings; None for a resumed run's own, or for the defaults.
        device: "auto" (CUDA if there is one), "cpu" or "cuda".
        start_from: A model to begin with, by name or folder; None for random weights.
        resume: Go on with the run in `run_folder`.
        allow: What a resumed run may change: "settings", "music".

    Yields:
        What happens, in order; `Finished` at the end.

    Raises:
        MusicgenError: The folder, the settings or the machine do not allow it; what was saved
            stays.
    """
    if recipe is not None and recipe.tensorboard:
        check_tensorboard()
    try:
        with joined(find_device(device)) as (group, own_device):
            if isinstance(group, Processes) and not group.is_writer:
                yield from _trained(take_over(Path(run_folder), own_device, group), group)
                return
            prepared = prepare(
                Path(folder),
                Path(run_folder),
                recipe,
                device=own_device,
                start_from=start_from,
                resume=resume,
                allow=allow,
            )
            yield from _written(prepared, group)
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        raise out_of_memory() from error


def _written(
    prepared: Generator[ScanProgress | Corpus | Plan, None, None], group: Group
) -> Iterator[TrainingEvent | ScanProgress]:
    """Read the folder and train, as the process that writes."""
    with closing(prepared):
        for found in prepared:
            if isinstance(found, Plan):
                plan = hand_out(found, group) if isinstance(group, Processes) else found
                yield from _trained(plan, group)
            elif isinstance(found, Corpus):
                yield Scanned.of(found)
            else:
                yield found


def _trained(plan: Plan, group: Group) -> Iterator[TrainingEvent]:
    """Settle what is open, then train; the same on all processes."""
    if not plan.steps:
        plan = settled(plan, group)
    try:
        yield _planned(plan)
    except GeneratorExit:
        group.leave()
        raise
    yield from run_steps(plan, group)


def _planned(plan: Plan) -> Planned:
    readings, recipe, d_head = plan.readings(), plan.recipe, plan.decoder.config.d_head
    told = warnings_about_training(recipe.precision, plan.device, d_head)
    return Planned(
        steps=plan.steps,
        first_step=plan.state.step,
        parameters=plan.decoder.config.parameter_count(),
        seconds_per_step=plan.seconds_per_step,
        notice=" ".join(filter(None, (plan.notice, *told))),
        readings=readings if is_varied_for_little(plan.recipe, readings) else None,
    )
