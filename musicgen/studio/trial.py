"""The process of one trial: `python -m musicgen.studio.trial FOLDER MINUTES [MODEL]`.

It tries a few steps of each size of a model on some music, or of going on with a model, and tells
what it finds as it finds it, a line of JSON each. It ends when its standard input does: whoever
waits for it holds the other end, and what ends them ends the trial.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import Any, Final

from musicgen.errors import MusicgenError
from musicgen.training import (
    Outlook,
    Scanned,
    TrainingRecipe,
    fine_tuning_recipe,
    look_ahead,
)

_NICENESS: Final = 5  # as the run's own process, whose pace this is to tell


def main() -> None:
    """Try what the command line names."""
    folder, minutes, *model = sys.argv[1:]
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    threading.Thread(target=_end_with_who_waits, daemon=True).start()
    try:
        _try(folder, float(minutes), model[0] if model else None)
    except MusicgenError as error:
        _tell(error={"message": error.message, "hint": error.hint, "code": error.code})


def _end_with_who_waits() -> None:
    sys.stdin.read()
    os._exit(0)


def _try(folder: str, minutes: float, model: str | None) -> None:
    recipe = TrainingRecipe(minutes=minutes)
    if model is not None:
        recipe = fine_tuning_recipe(minutes=minutes)
    for event in look_ahead(folder, recipe, start_from=model):
        if isinstance(event, Outlook):
            _tell(size=_as_data(event))
            if model is not None:
                break  # the first is for all of its weights, as the studio trains it
        elif isinstance(event, Scanned):
            _tell(read=True)
        else:
            _tell(files=[event.done, event.total])
    _tell(over=True)


def _as_data(outlook: Outlook) -> dict[str, Any]:
    trial = outlook.trial
    return {
        "size": outlook.size,
        "parameters": outlook.parameters,
        "verdict": outlook.verdict,
        "seconds_per_step": None if trial is None else trial.seconds_per_step,
        "steps": None if trial is None else trial.steps,
        "epochs": None if trial is None else trial.epochs,
        "memory_bytes": None if trial is None else trial.memory_bytes,
    }


def _tell(**told: Any) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
