"""Where the things that travel with the package lie: models, starter music, the app."""

from __future__ import annotations

from pathlib import Path

from musicgen.files import is_folder

_PACKAGE = Path(__file__).resolve().parent


def asset_dir(name: str) -> Path:
    """Return the folder `name` ("checkpoints", "data", "ui") that came with musicgen.

    A wheel holds it inside the package; in a checkout it stands beside the package.

    Args:
        name: The folder's name.

    Raises:
        FileNotFoundError: It is in neither place, so the installation is damaged.
    """
    for parent in (_PACKAGE, _PACKAGE.parent):
        folder = parent / name
        if is_folder(folder):
            return folder
    raise FileNotFoundError(f"musicgen's own folder {name!r} is missing: reinstall musicgen")
