"""How long each size of a model would train on this computer, and in how much memory.

That is tried out in a process of its own: one that runs out of memory takes nothing with it, and
the app stays quick meanwhile.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from musicgen.errors import MusicgenError, TrainingError

_PATIENCE_S = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a run of one size would take.

    Attributes:
        size: The preset's name.
        parameters: Trainable numbers of the model.
        verdict: Whether it suits this computer and the time, in a few words.
        seconds_per_step: Of a step with whole windows; None where it does not fit.
        steps: Of the whole run.
        epochs: How often it reads the music.
        memory_bytes: What it takes.
    """

    size: str
    parameters: int
    verdict: str
    seconds_per_step: float | None
    steps: int | None
    epochs: float | None
    memory_bytes: int | None


def estimate(folder: str, minutes: float, *, start_from: str | None = None) -> tuple[Estimate, ...]:
    """Try a few steps of each size on some music, or of fine-tuning.

    Args:
        folder: The music.
        minutes: How long the run is to be.
        start_from: A model to fine-tune, all of its weights; None for new ones.

    Raises:
        MusicgenError: The folder cannot be used, or the trial did not come to its end.
    """
    command = [sys.executable, "-m", "musicgen", "train", folder, "--plan", "--json"]
    begins = [] if start_from is None else ["--from", start_from]
    try:
        done = subprocess.run(
            [*command, "--minutes", str(minutes), *begins],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE_S,
            check=False,
        )
        told = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError, OSError) as error:
        raise TrainingError(
            "The sizes could not be tried out on this computer.",
            hint="Choose a small one, or less music.",
        ) from error
    if "sizes" not in told:
        error = told["error"]
        raise MusicgenError(error["message"], hint=error["hint"], code=error["code"])
    # Of a model that is there the first line is for all of its weights, as the studio trains it.
    sizes = told["sizes"] if start_from is None else told["sizes"][:1]
    return tuple(_estimate(size) for size in sizes)


def _estimate(told: dict[str, Any]) -> Estimate:
    return Estimate(
        size=told["size"],
        parameters=told["parameters"],
        verdict=told["verdict"],
        seconds_per_step=told["seconds_per_step"],
        steps=told["steps"],
        epochs=told["epochs"],
        memory_bytes=told["memory_bytes"],
    )
