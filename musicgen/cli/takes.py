"""What `generate` and `continue` share: making takes, saving each as soon as it is done."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from musicgen.cli.console import EXIT_ERROR, Console, counted
from musicgen.cli.options import MAX_SEED
from musicgen.cli.paths import make_folder_of, midi_path, save, take_paths, try_out
from musicgen.errors import MusicgenError

if TYPE_CHECKING:
    from musicgen.pipeline import MusicPipeline, Take


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeOptions:
    """What was asked for on the command line."""

    output: Path
    model: str
    device: str
    engine: str
    takes: int | None
    seed: int | None
    wav: bool
    sampling: Mapping[str, Any]
    source: Path | None = None


def make_takes(console: Console, wanted: TakeOptions) -> None:
    """Make the takes, as many side by side as the engine takes, and report each when it is done.

    Raises:
        typer.BadParameter: The output cannot be what was asked for.
        MusicgenError: A file cannot be read or written, or no music came of it.
    """
    paths = take_paths(midi_path(wanted.output), wanted.takes)
    first_seed = wanted.seed if wanted.seed is not None else secrets.randbelow(2**32)
    if first_seed + len(paths) - 1 > MAX_SEED:
        raise typer.BadParameter(
            f"the last take's seed would be above {MAX_SEED}.", param_hint="'--seed'"
        )
    try_out(
        [*paths, *(path.with_suffix(".wav") for path in paths if wanted.wav)],
        inputs=[wanted.source] if wanted.source else [],
    )
    source = _read(wanted.source)

    from musicgen.checkpoint import find_device, resolve_checkpoint

    # What is wrong with these is said before all else is imported and loaded.
    resolve_checkpoint(wanted.model)
    find_device(wanted.device)
    console.progress(f"Loading the model {wanted.model} ...")

    from musicgen.pipeline import MusicPipeline

    pipeline = MusicPipeline.load(
        wanted.model, device=wanted.device, threads=1, engine=wanted.engine
    )
    console.progress("Making the engine ready ...")
    engine = pipeline.prepare()
    for warning in engine.warnings:
        console.note(warning)
    console.how_to_go_on = _how_to_go_on([])
    reports: dict[int, dict[str, Any]] = {}
    made = _make(console, pipeline, source, wanted, range(first_seed, first_seed + len(paths)))
    for number, take in made:
        path = paths[number]
        make_folder_of(path)
        take.save(path)
        report: dict[str, Any] = {"file": str(path), **take.as_dict()}
        if wanted.wav:
            report |= _save_sound(take, path.with_suffix(".wav"))
        reports[number] = report
        console.how_to_go_on = _how_to_go_on([paths[done] for done in sorted(reports)])
        console.kept = {"takes": [reports[done] for done in sorted(reports)]}
        if not console.as_json:
            console.result(report, *_describe(report, said=engine.warnings))
    if console.as_json:
        console.result({"takes": [reports[number] for number in range(len(paths))]})
    if wanted.wav and not all(report["wav"] for report in reports.values()):
        console.note("Error: a take has no sound; its warnings say why.")
        raise typer.Exit(EXIT_ERROR)


def _read(source: Path | None) -> Any:
    """Read the prompt before the model is loaded: a bad file is found out at once."""
    if source is None:
        return None
    from musicgen.midi import read_midi

    return read_midi(source)


def _make(
    console: Console,
    pipeline: MusicPipeline,
    source: Any,
    wanted: TakeOptions,
    seeds: Sequence[int],
) -> Iterator[tuple[int, Take]]:
    """Make a take of each seed; yield their numbers and them as they are done."""
    from musicgen.pipeline import Take, make_together

    streams = [pipeline.stream(source, seed=seed, **wanted.sampling) for seed in seeds]
    with closing(make_together(streams)) as making:
        for number, made in making:
            if isinstance(made, Take):
                console.end_progress()
                yield number, made
                continue
            label = f"take {number + 1} of {len(seeds)}: " if len(seeds) > 1 else ""
            console.progress(
                f"{label}{made.seconds_made:.0f} of {made.seconds_wanted:.0f} s, "
                f"{counted(made.notes, 'note')}"
            )


def _save_sound(take: Take, path: Path) -> dict[str, Any]:
    from musicgen.audio import render, wav_bytes

    try:
        sound = render(take.midi)
        save(path, wav_bytes(sound))
    except MusicgenError as error:
        # The music is made and saved: that it has no sound costs nobody the take.
        return {"wav": None, "warnings": [*take.warnings, str(error)]}
    return {"wav": str(path), "warnings": [*take.warnings, *sound.warnings]}


def _describe(report: Mapping[str, Any], *, said: Sequence[str]) -> list[str]:
    lines = [
        f"{report['file']}: {counted(report['notes'], 'note')}, {report['seconds']:.1f} s, "
        f"seed {report['seed']}"
    ]
    if report.get("wav"):
        lines.append(f"{report['wav']}: its sound")
    if report["prompt_notes"]:
        lines.append(
            f"  goes on from {counted(report['prompt_notes'], 'note')} "
            f"in {report['prompt_seconds']:.1f} s"
        )
    speed = f", {report['events_per_s']:,.0f} a second" if report["events_per_s"] else ""
    lines.append(
        f"  ended: {report['finish_reason']}; {counted(report['events'], 'event')}{speed} "
        f"({report['engine']}, {report['model']})"
    )
    if report["repairs"]:
        lines.append(
            f"  repairs: {report['repairs']} (keys struck while down, places sampled again)"
        )
    lines.extend(f"  note: {warning}" for warning in report["warnings"] if warning not in said)
    return lines


def _how_to_go_on(done: list[Path]) -> str:
    if not done:
        return "Nothing was written."
    return f"The finished takes are kept: {', '.join(map(str, done))}."
