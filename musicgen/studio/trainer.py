"""The process of one training run: `python -m musicgen.studio.trainer FOLDER`.

It outlives the page and the app that began it. It tells how it stands in a file, and looks for
another that asks it to stop; so it needs no connection to anybody, on any system.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from musicgen.errors import MusicgenError
from musicgen.files import is_file
from musicgen.studio.desk import TrainingDesk
from musicgen.studio.models import RUN
from musicgen.studio.status import State, TrainingStatus, without_options
from musicgen.training import (
    Finished,
    MemoryStepDown,
    Planned,
    Scanned,
    StepDone,
    StoppedEarly,
    Validated,
    train,
)
from musicgen.training.augmentation import told_readings
from musicgen.training.claim import holds
from musicgen.training.preparing import begins_with

_EVERY_S: Final = 0.5  # so often it says how it stands
_NICENESS: Final = 5  # the app beside it stays quick
_BROKEN: Final = "Something in musicgen broke while it trained."
_BROKEN_HINT: Final = "What was saved is kept. Report it with the lines of {log}."


def main() -> None:
    """Train what is ordered in the folder that the command line names."""
    desk = TrainingDesk(folder=Path(sys.argv[1]))
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    with holds(desk.lock):
        work(desk)


def work(desk: TrainingDesk) -> None:
    """Do what is ordered, from where it stands, until it is finished or somebody asks to stop.

    Args:
        desk: Whose order it is.
    """
    teller = _Teller(desk)
    threading.Thread(target=_stop_early, args=(desk, teller), daemon=True).start()
    try:
        _train(desk, teller)
    except MusicgenError as error:
        teller.say(state="failed", error=error.message, hint=error.hint)
    except Exception:  # whatever it was, it is logged, and the page must learn of it
        logging.getLogger(__name__).exception("training broke")
        teller.say(state="failed", error=_BROKEN, hint=_BROKEN_HINT.format(log=desk.log))


def _stop_early(desk: TrainingDesk, teller: _Teller) -> None:
    """End the process if it is asked to stop before the first step: there is nothing to keep yet.

    Reading files and trying steps out take long, and cannot be asked in between.
    """
    while teller.nothing_to_keep:
        if desk.is_asked_to_stop:
            teller.say(state="stopped")
            os._exit(0)
        time.sleep(_EVERY_S)


def _train(desk: TrainingDesk, teller: _Teller) -> None:
    order = desk.order()
    goes_on = is_file(desk.run / "run.json")
    run = train(
        order.music,
        desk.run,
        None if goes_on else order.recipe,
        start_from=None if goes_on else order.start_from,
        resume=goes_on,
    )
    with closing(run):
        for event in run:
            teller.hear(event)
            if desk.is_asked_to_stop and not isinstance(event, Finished):
                run.close()  # between two steps, where a checkpoint is written
                teller.say(state="stopped", seconds_left=None, notice=teller.notice_of_the_past)
                return


class _Teller:
    """Keeps the status, and writes it down now and then.

    Args:
        desk: Where to.
    """

    def __init__(self, desk: TrainingDesk) -> None:
        self._desk = desk
        self._told_s = 0.0
        self._status = TrainingStatus(state="reading")
        self._readings: float | None = None

    @property
    def nothing_to_keep(self) -> bool:
        """Whether no step was done yet."""
        return self._status.state in ("reading", "measuring")

    @property
    def notice_of_the_past(self) -> str:
        """The notice, for a run that reads on no more."""
        if self._readings is None or not self._status.step:
            return self._status.notice
        return self._status.notice.replace(told_readings(self._readings), self._was_read)

    @property
    def _was_read(self) -> str:
        """How often the run has read its music: each of its steps reads as much."""
        if self._readings is None:
            return ""
        share = self._status.step / max(1, self._status.steps)
        return told_readings(self._readings * share, is_over=True)

    def hear(self, event: Any) -> None:
        """Take in what happened."""
        if isinstance(event, StepDone):
            self._keep(
                state="training",
                step=event.step,
                steps=event.steps,
                loss=event.loss,
                events_per_s=event.events_per_s,
                seconds_left=event.seconds_left,
            )
        elif isinstance(event, Validated):
            self.say(bits_per_note=event.bits_per_note)
        elif isinstance(event, Scanned):
            self.say(state="measuring", music=event.summary)
        elif isinstance(event, Planned):
            self._readings = event.readings
            self.say(
                state="training",
                step=event.first_step,
                steps=event.steps,
                parameters=event.parameters,
                notice=self._named(without_options(event.notice)),
            )
        elif isinstance(event, MemoryStepDown):
            self.say(
                notice=f"Memory did not hold a step: from step {event.step + 1:,} on "
                f"{event.windows_at_once} of its {event.batch_size} windows are read at once. "
                "What is learned does not change."
            )
        elif isinstance(event, StoppedEarly):
            self.say(notice=f"No lower held-out loss in {event.n_validations} looks: it ends here.")
        elif isinstance(event, Finished):
            self._status = replace(self._status, step=event.step)
            told = self.notice_of_the_past
            if event.gain is not None:
                told = f"{event.gain.sentence()} {self._was_read}".strip()
            self.say(state="finished", seconds_left=0.0, notice=told)
        elif hasattr(event, "done"):
            self._keep(state="reading", files_done=event.done, files=event.total)

    def _named(self, notice: str) -> str:
        """Call a model that was trained here by what its run is called: its own name is `run`."""
        after = self._desk.order().after
        return notice.replace(begins_with(RUN), begins_with(f"“{after}”")) if after else notice

    def say(self, *, state: State | None = None, **told: Any) -> None:
        """Write down how it stands."""
        given = told if state is None else {"state": state, **told}
        self._status = replace(self._status, **given)
        self._desk.write_status(self._status)
        self._told_s = time.monotonic()

    def _keep(self, **told: Any) -> None:
        self._status = replace(self._status, **told)
        if time.monotonic() - self._told_s > _EVERY_S:
            self.say()


if __name__ == "__main__":
    main()
