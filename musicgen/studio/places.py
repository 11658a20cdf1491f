"""Where the studio keeps what outlives it."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

HOME_VARIABLE = "MUSICGEN_HOME"


def studio_home() -> Path:
    """Return the studio's folder: MUSICGEN_HOME, else where the system keeps a program's data."""
    given = os.environ.get(HOME_VARIABLE)
    return Path(given) if given else platformdirs.user_data_path("musicgen", appauthor=False)


def runs_folder() -> Path:
    """Return the folder of the training runs that the app began."""
    return studio_home() / "runs"


def takes_folder() -> Path:
    """Return the folder of all visitors' takes."""
    return studio_home() / "takes"
