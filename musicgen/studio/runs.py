"""The training runs that the app began: begun, found again, stopped, gone on with."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from musicgen.errors import ConfigError, TrainingError
from musicgen.files import is_file, is_folder, is_there
from musicgen.studio.curve import Curve, read_curve
from musicgen.studio.desk import TrainingDesk, unwritable
from musicgen.studio.models import NAME, ORDER, trained_model
from musicgen.studio.orders import TrainingOrder
from musicgen.studio.status import ENDED, TrainingStatus
from musicgen.studio.surroundings import beside_others
from musicgen.studio.trays import MUSIC, Trays, laid_again, new_place
from musicgen.training.claim import is_held

_WAKES_S: Final = 60.0  # so long a process may take until it holds its lock


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """A run as a page shows it.

    Attributes:
        name: Of its folder.
        order: What was asked for.
        status: How it stands.
        model: Folder of the model that it has so far, or None.
        samples: Pieces that it made on the way, oldest first.
        told_at_s: When its process last said how it stands, in seconds since 1970.
    """

    name: str
    order: TrainingOrder
    status: TrainingStatus
    model: Path | None
    samples: tuple[Path, ...]
    told_at_s: float = 0.0

    @property
    def is_active(self) -> bool:
        """Whether its process is at work."""
        return self.status.state not in ENDED


class Runs:
    """The folder of all runs. Whatever is known of them stands in files: any number may look.

    Args:
        folder: Where they lie; made when the first begins.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.trays = Trays(folder)
        self._beginning = threading.Lock()

    def all(self) -> tuple[RunView, ...]:
        """Return every run, newest first."""
        if not is_folder(self._folder):
            return ()
        names = sorted(
            (p.name for p in self._folder.iterdir() if NAME.fullmatch(p.name)), reverse=True
        )
        views = (self.view(name) for name in names)
        return tuple(view for view in views if view is not None)

    def view(self, name: str) -> RunView | None:
        """Return a run, or None if there is none of that name."""
        desk = self._desk(name)
        if desk is None:
            return None
        try:
            order = desk.order()
        except ConfigError:
            return None  # it was never begun, or is damaged
        model = trained_model(desk.folder)
        return RunView(
            name=name,
            order=order,
            status=_truly(desk, desk.status()),
            model=None if model is None else model.folder,
            samples=tuple(sorted((desk.run / "samples").glob("*.mid"))),
            told_at_s=desk.told_at_s(),
        )

    def curve(self, name: str) -> Curve | None:
        """Return what a run has learned so far, or None if there is none of that name."""
        desk = self._desk(name)
        return None if desk is None else read_curve(desk.run / "metrics.jsonl")

    def start(self, order: TrainingOrder) -> RunView:
        """Begin a run in a process of its own.

        Raises:
            TrainingError: Another one is at work, or it cannot be begun.
        """
        with self._beginning:
            self._check_idle()
            place = Path(order.music).parent
            if not self.is_laid(order.music):
                place = new_place(self._folder)
            elif is_there(place / ORDER):  # that run may be removed while this one reads
                place = laid_again(Path(order.music), self._folder)
                order = replace(order, music=str(place / MUSIC))
            desk = TrainingDesk(folder=place)
            desk.write_order(order)
            return self._spawn(desk)

    def is_laid(self, music: str) -> bool:
        """Say whether some music was laid down here, and is no folder of somebody's own."""
        return Path(music).parent.parent == self._folder

    def stop(self, name: str) -> None:
        """Ask a run to stop and keep what it learned.

        Raises:
            TrainingError: The studio's folder takes no files.
        """
        desk = self._desk(name)
        if desk is not None:
            desk.ask_to_stop()

    def go_on(self, name: str) -> RunView:
        """Let a run go on from where it stopped.

        Raises:
            TrainingError: There is none, another one is at work, or it cannot be begun.
        """
        desk = self._desk(name)
        if desk is None:
            raise TrainingError(f"There is no run {name[:40]!r}.", hint="Look at the page anew.")
        with self._beginning:
            self._check_idle()
            return self._spawn(desk)

    def remove(self, name: str) -> None:
        """Remove a run with all that it learned, unless it is at work."""
        desk = self._desk(name)
        view = self.view(name)
        if desk is not None and (view is None or not view.is_active):
            shutil.rmtree(desk.folder, ignore_errors=True)

    def _check_idle(self) -> None:
        busy = next((view for view in self.all() if view.is_active), None)
        if busy is not None:
            raise TrainingError(
                f"{busy.order.title} is being trained; two at once would both be slow.",
                hint="Wait until it has ended, or stop it.",
            )

    def _spawn(self, desk: TrainingDesk) -> RunView:
        desk.ask_to_stop(False)
        known = desk.status() if is_file(desk.run / "run.json") else None
        fresh = TrainingStatus(state="starting")
        desk.write_status(fresh if known is None else replace(known, state="starting", error=""))
        try:
            with desk.log.open("ab") as log:
                subprocess.Popen(
                    [sys.executable, "-m", "musicgen.studio.trainer", str(desk.folder)],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env=beside_others(os.environ),
                    **_apart(),
                )
        except OSError as error:
            raise unwritable(desk.folder, error) from error
        view = self.view(desk.folder.name)
        if view is None:
            raise TrainingError(f"The order in {desk.folder} cannot be read back.")
        return view

    def _desk(self, name: str) -> TrainingDesk | None:
        folder = self._folder / name
        is_one = NAME.fullmatch(name) is not None and is_folder(folder)
        return TrainingDesk(folder=folder) if is_one else None


def _truly(desk: TrainingDesk, told: TrainingStatus) -> TrainingStatus:
    """Return how a run stands, whatever its process was still able to say."""
    if told.state in ENDED or is_held(desk.lock):
        return told
    again = desk.status()  # it may have ended between the two looks
    if again.state in ENDED:
        return again
    age_s = time.time() - desk.told_at_s()
    is_waking = again.state == "starting" and age_s < _WAKES_S
    return again if is_waking else replace(again, state="lost", seconds_left=None)


def _apart() -> dict[str, Any]:
    """Return what makes a process live on when the one that began it ends."""
    if sys.platform == "win32":
        return {
            "creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP,
        }
    return {"start_new_session": True}
