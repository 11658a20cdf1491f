"""What `musicgen train` says while a run goes on."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from musicgen.cli.console import Console, counted, duration


def follow_run(
    console: Console, run: Iterable[Any], folder: Path, output: Path, *, is_new: bool
) -> None:
    """Say what happens until the run is finished.

    Args:
        console: Where to.
        run: What `musicgen.training.train` yields.
        folder: The music, as it was given.
        output: The run's folder, as it was given.
        is_new: Whether it begins here.
    """
    from musicgen import training

    report: dict[str, Any] = {"run": str(output)}
    for event in run:
        if isinstance(event, training.StepDone):
            console.progress(
                f"step {event.step:,} of {event.steps:,}, loss {event.loss:.3f}, "
                f"{event.events_per_s:,.0f} events a second, {duration(event.seconds_left)} left",
                last=event.step == event.steps,
            )
        elif isinstance(event, training.Validated):
            kept = ", kept in best/" if event.is_kept else ""
            console.note(f"step {event.step:,}: {event.bits_per_note:.3f} bits a note{kept}")
        elif isinstance(event, training.ParentMeasured):
            console.note(f"{event.parent} as it is: {event.bits_per_note:.3f} bits a note")
        elif isinstance(event, training.Scanned):
            report |= {"pieces": event.n_pieces, "refused": event.n_refused}
            console.note(event.summary)
            if is_new:
                console.progress("Finding out how long a step takes ...", last=True)
        elif isinstance(event, training.Planned):
            report |= {"parameters": event.parameters, "steps": event.steps}
            console.how_to_go_on = f"Go on with: musicgen train {folder} -o {output} --resume"
            _say_plan(console, event)
        elif isinstance(event, training.MemoryStepDown):
            console.note(_memory_line(event))
        elif isinstance(event, training.SamplesMade):
            console.note(_samples_line(event))
        elif isinstance(event, training.StoppedEarly):
            report |= {"stopped_early": True}
            console.note(
                f"No lower held-out loss in {counted(event.n_validations, 'validation')}: it ends "
                f"at step {event.step:,} of {event.steps:,}."
            )
        elif isinstance(event, training.Stopped):
            raise KeyboardInterrupt  # another process of this run was interrupted
        elif isinstance(event, training.CheckpointSaved):
            console.progress(f"step {event.step:,}: kept in {event.folder}")
        elif isinstance(event, training.Finished):
            _say_end(console, event, report, output)
        else:
            line = f"{event.done:,} of {event.total:,} files read"
            console.progress(line, last=event.done == event.total)


def _memory_line(event: Any) -> str:
    return (
        f"Step {event.step + 1:,} did not fit into memory: it is taken again, "
        f"{counted(event.windows_at_once, 'window')} of {event.batch_size} at once. "
        "What is learned does not change."
    )


def _samples_line(event: Any) -> str:
    if not event.files:
        return f"step {event.step:,}: the model makes no note yet"
    return f"step {event.step:,}: {counted(len(event.files), 'piece')} in {event.files[0].parent}"


def _say_plan(console: Console, plan: Any) -> None:
    begun = f", {plan.first_step:,} of them done" if plan.first_step else ""
    console.note(f"{plan.parameters:,} parameters, {counted(plan.steps, 'step')}{begun}")
    if plan.seconds_per_step is not None:
        left_s = (plan.steps - plan.first_step) * plan.seconds_per_step
        pace = f"{plan.seconds_per_step:.2f} s a step in a trial"
        console.note(f"about {duration(left_s)} of training ({pace})")
    if plan.notice:
        console.note(plan.notice)


def _say_end(console: Console, end: Any, report: dict[str, Any], output: Path) -> None:
    bits = end.bits_per_note if math.isfinite(end.bits_per_note) else None
    quality = "no held-out music to measure" if bits is None else f"{bits:.3f} bits a note"
    gain = [] if end.gain is None else [end.gain.sentence()]
    if end.gain is not None and end.gain.licence:
        gain.append(f"Licence, inherited from {end.gain.parent}: {end.gain.licence}")
    console.result(
        {
            **report,
            "model": str(end.best),
            "bits_per_note": bits,
            "gain": None if end.gain is None else end.gain.as_dict(),
        },
        f"{output}: {counted(end.step, 'step')}, {quality}; the model is in {end.best}",
        *gain,
        f"Make music with it: musicgen generate -o OUT.mid --model {output}",
    )
