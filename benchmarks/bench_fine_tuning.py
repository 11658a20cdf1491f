"""What fine-tuning is worth: a model untouched, fine-tuned, by LoRA, and others from nothing.

    python benchmarks/bench_fine_tuning.py FOLDER -o RUNS [--seconds 300]

FOLDER has `train` and `validation`. Each contender trains for as many seconds of processor time,
which a busy machine falsifies least; its steps follow from a few tried before. All are measured on
the whole held-out pieces, in bits a note.
"""

from __future__ import annotations

import argparse
import shutil
import time
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from musicgen.checkpoint import load_checkpoint
from musicgen.evaluation import EvaluationReport, evaluate
from musicgen.training import StepDone, TrainingRecipe, fine_tuning_recipe, train

_TRIED = 4
_COMMON: dict[str, Any] = {
    "precision": "float32",
    "compile": False,
    "validate_steps": 100_000_000,
    "checkpoint_minutes": 100_000.0,
}


@dataclass(frozen=True)
class Contender:
    """A way to a model of the music.

    Attributes:
        name: In the table.
        recipe: Its settings.
        start_from: What it begins with; None for random weights.
    """

    name: str
    recipe: TrainingRecipe = field(default_factory=TrainingRecipe)
    start_from: str | None = None


def contenders(model: str, rank: int) -> list[Contender]:
    return [
        Contender("fine-tuned", fine_tuning_recipe(**_COMMON), model),
        Contender(f"LoRA {rank}", fine_tuning_recipe(lora_rank=rank, **_COMMON), model),
        Contender("tiny from nothing", TrainingRecipe(preset="tiny", **_COMMON)),
        Contender("small from nothing", TrainingRecipe(preset="small", **_COMMON)),
    ]


def seconds_a_step(contender: Contender, music: Path, run: Path) -> float:
    """Return the processor seconds of a step, the mean of a few; the run is thrown away."""
    recipe = replace(contender.recipe, steps=1_000)
    times = []
    with closing(
        train(music, run, recipe, device="cpu", start_from=contender.start_from)
    ) as trained:
        for event in trained:
            if isinstance(event, StepDone):
                times.append(time.process_time())
                if len(times) > _TRIED:
                    break
    shutil.rmtree(run)
    return (times[-1] - times[0]) / _TRIED


def held_out_bits(model: str | Path, music: Path) -> float:
    for step in evaluate(load_checkpoint(model), music / "validation"):
        if isinstance(step, EvaluationReport):
            return step.bits_per_note
    raise SystemExit("the evaluation ended without a report")


def main() -> None:
    parser = argparse.ArgumentParser(description="What fine-tuning is worth")
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--model", default="piano")
    parser.add_argument("--seconds", type=float, default=300.0, help="of processor time, each")
    parser.add_argument("--rank", type=int, default=8)
    options = parser.parse_args()
    torch.set_num_threads(1)
    print("| model | steps | processor time | bits a note, held out |")
    print("|---|---|---|---|")
    untouched = held_out_bits(options.model, options.folder)
    print(f"| {options.model}, untouched | | | {untouched:.3f} |", flush=True)
    for contender in contenders(options.model, options.rank):
        run = options.output / contender.name.replace(" ", "-")
        cost = seconds_a_step(contender, options.folder, run)
        recipe = replace(contender.recipe, steps=max(1, round(options.seconds / cost)))
        began = time.process_time()
        for _ in train(options.folder, run, recipe, device="cpu", start_from=contender.start_from):
            pass
        took = time.process_time() - began
        bits = held_out_bits(run, options.folder)
        print(f"| {contender.name} | {recipe.steps} | {took:.0f} s | {bits:.3f} |", flush=True)


if __name__ == "__main__":
    main()
