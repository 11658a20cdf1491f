"""What the page *Train* shows and does, without Streamlit.

What trains is imported when somebody trains or looks at a run; a page that only asks whether there
are trained models does not wait for it.
"""

from __future__ import annotations

import functools
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from musicgen.errors import MusicgenError
from musicgen.studio.models import TrainedModel, trained_models
from musicgen.studio.places import runs_folder
from musicgen.ui import training_strings as strings
from musicgen.ui.pieces import Piece, new_id
from musicgen.ui.shelf import Shelf

if TYPE_CHECKING:
    from collections.abc import Iterator

    from musicgen.corpus import Diagnosis, ScanProgress
    from musicgen.studio.curve import Curve
    from musicgen.studio.estimates import Estimate
    from musicgen.studio.runs import Runs, RunView


class TrainingRoom:
    """The training runs of this computer's studio.

    Args:
        shelf: Where the pieces that were made on the way can be heard.
    """

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._samples: dict[Path, str | None] = {}
        self._reading = threading.Lock()

    @functools.cached_property
    def runs(self) -> Runs:
        """The runs, found in the studio's folder."""
        from musicgen.studio.runs import Runs

        return Runs(runs_folder())

    def start(
        self, folder: str, *, title: str, size: str | None, minutes: float, begun_s: float
    ) -> RunView:
        """Begin to train.

        Args:
            folder: The music.
            title: What the run is called.
            size: Of the model; None to begin with the shipped one.
            minutes: How long it is planned for.
            begun_s: Now, in seconds since 1970.

        Raises:
            TrainingError: Another run is at work, or it cannot be begun.
        """
        from musicgen.studio.orders import training_order

        return self.runs.start(
            training_order(folder, title=title, preset=size, minutes=minutes, begun_s=begun_s)
        )

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

    def estimate(
        self, folder: str, minutes: float, *, from_model: bool = False
    ) -> tuple[Estimate, ...]:
        """Try a few steps of each size of a model on some music, or of going on with the piano's.

        Raises:
            MusicgenError: The folder cannot be used, or that did not come to its end.
        """
        from musicgen.studio.estimates import estimate
        from musicgen.studio.orders import PIANO

        return estimate(folder, minutes, start_from=PIANO if from_model else None)

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
            "state": status.state,
            "active": view.is_active,
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
            "notice": status.notice,
            "error": status.error,
            "hint": status.hint,
            "curve": {
                "steps": curve.steps,
                "losses": curve.losses,
                "validated": curve.validated,
                "held_out": curve.held_out,
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
    """Return figures that tell what a run's bits a note mean."""
    from musicgen.studio.yardsticks import blind_bits, piano_bits

    recipe = view.order.recipe
    begins_blind = view.order.start_from is None and recipe.scheme == "piano"
    has_several = len(curve.bits_per_note) > 1
    return {
        "blind": blind_bits() if begins_blind else None,
        "first": curve.bits_per_note[0] if has_several else None,
        "piano": piano_bits() if recipe.scheme == "piano" else None,
    }
