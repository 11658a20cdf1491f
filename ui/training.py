"""What the page *Train* shows and does, without Streamlit.

What trains is imported when somebody trains or looks at a run; a page that only asks whether there
are trained models does not wait for it.
"""

from __future__ import annotations

import functools
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from musicgen.errors import MusicgenError, TrainingError
from musicgen.studio.models import TrainedModel, trained_models
from musicgen.studio.places import runs_folder
from musicgen.ui import training_strings as strings
from musicgen.ui.pieces import Piece, new_id
from musicgen.ui.shelf import Shelf

if TYPE_CHECKING:
    from collections.abc import Iterator

    from musicgen.corpus import Diagnosis, ScanProgress
    from musicgen.studio.curve import Curve
    from musicgen.studio.estimates import Trying
    from musicgen.studio.orders import TrainingOrder
    from musicgen.studio.runs import Runs, RunView


class TrainingRoom:
    """The training runs of this computer's studio.

    Args:
        shelf: Where the pieces that were made on the way can be heard.
    """

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._samples: dict[Path, str | None] = {}
        self._begun = 0  # runs, of this studio
        self._reading = threading.Lock()

    @functools.cached_property
    def runs(self) -> Runs:
        """The runs, found in the studio's folder."""
        from musicgen.studio.runs import Runs

        return Runs(runs_folder())

    def start(
        self,
        folder: str,
        *,
        title: str,
        size: str | None,
        minutes: float,
        begun_s: float,
        ends_early: bool = False,
    ) -> RunView:
        """Begin to train.

        Args:
            folder: The music.
            title: What the run is called.
            size: Of the model; None to begin with the shipped one.
            minutes: How long it is planned for.
            begun_s: Now, in seconds since 1970.
            ends_early: Whether it ends before, where it does not get better any more.

        Raises:
            TrainingError: Another run is at work, or it cannot be begun.
        """
        from musicgen.studio.orders import training_order

        order = training_order(
            folder,
            title=title,
            preset=size,
            minutes=minutes,
            begun_s=begun_s,
            ends_early=ends_early,
        )
        return self._start(order)

    def train_on(self, name: str, *, minutes: float, title: str, begun_s: float) -> RunView:
        """Begin a run that goes on with the model of one that has ended, on the same music.

        Args:
            name: Of the run that has ended.
            minutes: How long the new one is planned for.
            title: What it is called.
            begun_s: Now, in seconds since 1970.

        Raises:
            TrainingError: There is no such model, another run is at work, or it cannot be begun.
        """
        from musicgen.studio.orders import further_order

        ended = self.runs.view(name)
        if ended is None or ended.model is None:
            raise TrainingError(strings.NO_MODEL, hint=strings.LOOK_ANEW)
        order = further_order(
            ended.order,
            str(ended.model),
            steps=ended.status.step,
            title=title,
            minutes=minutes,
            begun_s=begun_s,
        )
        return self._start(order)

    def go_on(self, name: str) -> RunView:
        """Let a run go on from where it stopped.

        Raises:
            TrainingError: There is none, another one is at work, or it cannot be begun.
        """
        self._begun += 1
        return self.runs.go_on(name)

    def _start(self, order: TrainingOrder) -> RunView:
        self._begun += 1  # trials end with that
        return self.runs.start(order)

    def refusal(self, folder: str) -> MusicgenError | None:
        """Return why there is no music to be had of a path; None where it can be looked over."""
        from musicgen.studio.music import refusal

        return refusal(folder)

    def look_over(self, folder: str) -> Iterator[ScanProgress | Diagnosis]:
        """Look at every file of a folder; yield progress, then what becomes of each.

        Raises:
            CorpusError: There is no such folder, or nothing in it can be used.
        """
        from musicgen.studio.music import look_over

        return look_over(folder)

    def advice(self, found: Diagnosis) -> str:
        """Return a sentence for who would train a new model on little music, or nothing."""
        from musicgen.studio.music import advice

        return advice(found)

    def try_sizes(
        self, folder: str, minutes: float, *, from_model: bool = False
    ) -> Iterator[Trying]:
        """Try a few steps of each size of a model on some music, or of going on with the piano's.

        It ends when a run begins, whose steps would be the slower for it, and when the iterator is
        closed.

        Raises:
            MusicgenError: The folder cannot be used, or the trial broke.
        """
        from musicgen.studio.estimates import try_sizes
        from musicgen.studio.orders import PIANO

        begun = self._begun
        trial = try_sizes(folder, minutes, start_from=PIANO if from_model else None)
        with closing(trial):  # pyright: ignore[reportArgumentType] - it is a generator
            for step in trial:
                if begun != self._begun:
                    return
                yield step

    def models(self) -> tuple[TrainedModel, ...]:
        """Return the models that were trained here."""
        return trained_models(runs_folder())

    def title(self, model: str) -> str | None:
        """Return what the run of a model that was trained here is called; None if it is gone."""
        return next((m.title for m in self.models() if str(m.folder) == model), None)

    def written_s(self, model: str) -> float:
        """Return when a model that was trained here was last written; 0 if it is gone."""
        found = (m.written_s for m in self.models() if str(m.folder) == model)
        return next(found, 0.0)

    def standing(self, name: str) -> dict[str, Any] | None:
        """Return how a run stands, as the board shows it; None if there is none of that name."""
        view = self.runs.view(name)
        curve = self.runs.curve(name)
        if view is None or curve is None:
            return None
        status = view.status
        return {
            "state": "empty" if status.state == "stopped" and not status.step else status.state,
            "active": view.is_active,
            "told_s": max(0, round(time.time() - view.told_at_s)),
            "files_done": status.files_done,
            "files": status.files,
            "step": status.step,
            "steps": status.steps,
            # Of the model that is kept: later ones may have learned the music by heart.
            "bits_per_note": min(curve.bits_per_note, default=status.bits_per_note),
            "beside": _beside(view, curve),
            "events_per_s": status.events_per_s,
            "seconds_left": status.seconds_left,
            "parameters": status.parameters,
            "music": status.music,
            "notice": status.standing_notice,
            "error": status.error,
            "hint": status.hint,
            "curve": {
                "steps": curve.steps,
                "bits": curve.training_bits_per_note,
                "validated": curve.validated,
                "held_out": curve.bits_per_note,
            },
            "samples": self._made_on_the_way(view),
        }

    def _made_on_the_way(self, view: RunView) -> list[dict[str, str]]:
        """Return what a run made on the way, each with where it can be heard."""
        found = []
        for path in view.samples:
            with self._reading:
                name = self._samples.get(path, "")
                if name is not None and self._shelf.get(name) is None:
                    name = self._samples[path] = self._lay(path)
            if name is not None:
                title = strings.sample_title(path.stem.split("-")[1].lstrip("0"))
                found.append({"title": title, "audio": f"listen/{name}.wav"})
        return found

    def _lay(self, path: Path) -> str | None:
        """Put a piece on the shelf; None for one that cannot be heard."""
        from musicgen.pipeline import preview

        try:
            seen = preview(path.read_bytes(), name=path.name)
        except (OSError, MusicgenError):
            return None
        piece = Piece(id=new_id(), kind="example", title=path.stem, preview=seen)
        return self._shelf.put(piece).id


def _beside(view: RunView, curve: Curve) -> dict[str, float | None]:
    """Return figures that tell what a run's bits a note mean.

    Of fine-tuning that is the model it began with, on the same music; what the piano model reaches
    on its own music tells nothing there.
    """
    from musicgen.studio.orders import PIANO
    from musicgen.studio.yardsticks import blind_bits, piano_bits

    begins_with, is_piano_scheme = view.order.start_from, view.order.recipe.scheme == "piano"
    is_new, untouched = begins_with is None, curve.untouched_bits_per_note
    has_several = len(curve.bits_per_note) > 1
    return {
        "blind": blind_bits() if is_new and is_piano_scheme else None,
        "first": curve.bits_per_note[0] if has_several and untouched is None else None,
        "piano": piano_bits() if is_new and is_piano_scheme else None,
        "untouched": untouched if begins_with == PIANO else None,
        "before": None if begins_with == PIANO else untouched,
    }
