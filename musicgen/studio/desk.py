"""The folder of one training run that the app began, and who may write what in it.

order.json    what was asked for; written once, before the process begins
status.json   how it stands; the process writes it
stop          there while somebody asks it to stop
alive.lock    held by the process as long as it lives
music/        the files that were uploaded, where they were
run/          the run, as `musicgen train` makes it
trainer.log   what the process said beyond that
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from musicgen import configio
from musicgen.errors import ConfigError, TrainingError
from musicgen.files import is_there, reason, way_out
from musicgen.studio.models import ORDER, RUN
from musicgen.studio.orders import TrainingOrder
from musicgen.studio.status import TrainingStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingDesk:
    """The folder of one training run.

    Attributes:
        folder: Where it lies.
    """

    folder: Path

    @property
    def run(self) -> Path:
        """The run's own folder."""
        return self.folder / RUN

    @property
    def lock(self) -> Path:
        """What its process holds as long as it lives."""
        return self.folder / "alive.lock"

    @property
    def log(self) -> Path:
        """What its process says beyond its status."""
        return self.folder / "trainer.log"

    def order(self) -> TrainingOrder:
        """Return what was asked for.

        Raises:
            ConfigError: It cannot be read.
        """
        return configio.load_json(self.folder / ORDER, TrainingOrder)

    def status(self) -> TrainingStatus:
        """Return how it stood when its process last said so."""
        try:
            return configio.load_json(self.folder / "status.json", TrainingStatus)
        except ConfigError:
            return TrainingStatus(state="starting")

    def told_at_s(self) -> float:
        """Return when that was, in seconds since 1970."""
        try:
            return (self.folder / "status.json").stat().st_mtime
        except OSError:
            return 0.0

    def write_order(self, order: TrainingOrder) -> None:
        """Write down what was asked for.

        Raises:
            TrainingError: The folder takes no files.
        """
        self._write(ORDER, order)

    def write_status(self, status: TrainingStatus) -> None:
        """Write down how it stands.

        Raises:
            TrainingError: The folder takes no files.
        """
        self._write("status.json", status)

    @property
    def is_asked_to_stop(self) -> bool:
        """Whether somebody asked it to stop."""
        return is_there(self.folder / "stop")

    def ask_to_stop(self, asked: bool = True) -> None:
        """Ask its process to stop and keep what was learned, or take that back.

        Raises:
            TrainingError: The folder takes no files.
        """
        try:
            if asked:
                (self.folder / "stop").touch()
            else:
                (self.folder / "stop").unlink(missing_ok=True)
        except OSError as error:
            raise unwritable(self.folder, error) from error

    def _write(self, name: str, told: Any) -> None:
        partial = self.folder / f"{name}.partial"
        try:
            partial.write_text(configio.to_json(told), encoding="utf-8")
            os.replace(partial, self.folder / name)
        except OSError as error:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
            raise unwritable(self.folder, error) from error


def unwritable(folder: Path, error: OSError) -> TrainingError:
    """Return the error for a folder of the studio that takes no files."""
    return TrainingError(
        f"The studio's folder {folder} takes no files: {reason(error)}.",
        hint=way_out(error, "Set MUSICGEN_HOME to a folder that you may write."),
    )
