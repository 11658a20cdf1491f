"""What a visitor asked for: settings, and the music to go on from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from musicgen.studio.take_sheets import LONGEST_TITLE, TakeOrigin, TakeSettings
from musicgen.ui.markup import one_line
from musicgen.ui.pieces import Piece

if TYPE_CHECKING:
    from musicgen.pipeline import Recipe


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a visitor asked for: settings, and the music to go on from.

    Attributes:
        upload: The visitor's whole file, if they gave one.
        prompt: The part of it that is used, as the roll shows it.
        prompt_seconds: How much that is; None is all of it.
        parent: Name of the take that the music goes on from, if it is one.
        model: Folder of the model that is to make it; None for the studio's own.
        recipe: What is to be made again, from `upload` if it goes on from something; all that
            decides its bytes stands there.
    """

    seconds: float
    temperature: float
    top_p: float | None
    top_k: int
    min_p: float
    seed: int | None
    upload: Piece | None = None
    prompt: Piece | None = None
    prompt_seconds: float | None = None
    parent: str | None = None
    model: str | None = None
    recipe: Recipe | None = None

    def sampling(self) -> dict[str, Any]:
        """Return the settings as the pipeline takes them."""
        return {
            "seconds": self.seconds,
            "temperature": self.temperature,
            "top_p": self.top_p,
            "top_k": self.top_k,
            "min_p": self.min_p,
            "seed": self.seed,
        }

    def settings(self) -> TakeSettings:
        """Return the settings as they are kept with a take."""
        return TakeSettings(**self.sampling(), model_folder=self.model)

    def origin(self) -> TakeOrigin | None:
        """Return what the music goes on from, as it is kept with a take."""
        if self.upload is None:
            return None
        title = one_line(self.upload.title, longest=LONGEST_TITLE)
        return TakeOrigin(title=title, take=self.parent, at_s=self.prompt_seconds)
