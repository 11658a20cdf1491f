"""A pipeline's engine, made once; and others beside it, for takes that were made with them."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from musicgen.engine import TorchEngine, make_engine
from musicgen.errors import ConfigError
from musicgen.pipeline.again import engine_lacks, wanted_engine

if TYPE_CHECKING:
    from musicgen.engine import Engine
    from musicgen.model import Decoder
    from musicgen.pipeline.recipe import Recipe

_LOADING_S: Final = 0.5
"""Code that was compiled before is there by then; a machine that compiles it takes longer."""
_MEANWHILE: Final = (
    "This take was made by the slower engine, torch, while the faster one was compiled, which "
    "happens once on a machine. The faster one makes other music of its seed; the recipe in its "
    "file makes this take again."
)


class Engines:
    """Makes engines of a model when they are first needed.

    Args:
        model: The decoder.
        wanted: What the pipeline's own takes are made with: one of `musicgen.engine.ENGINES`.
    """

    def __init__(self, model: Decoder, wanted: str) -> None:
        self._model, self._wanted = model, wanted
        self._made: dict[str, Engine] = {}
        self._making = threading.Lock()

    def own(self) -> Engine:
        """Return the pipeline's own.

        Raises:
            ConfigError: It does not run here.
        """
        return self._engine(self._wanted)

    def at_once(self) -> Engine:
        """Return the pipeline's own if it is ready in a moment; else torch's, which always is.

        The own one is made in the background then, for the takes to come.

        Raises:
            ConfigError: The own one does not run here.
        """
        if self._wanted not in self._made:
            # Whoever comes meanwhile begins one, too, which waits behind the first, for nothing.
            making = threading.Thread(
                target=self._make_quietly, name="musicgen-engine", daemon=True
            )
            making.start()
            making.join(_LOADING_S)
            if making.is_alive():
                return TorchEngine(self._model, warnings=(_MEANWHILE,))
        return self.own()

    def of(self, recipe: Recipe, device: str) -> Engine:
        """Return the one that a recipe names.

        Args:
            recipe: What is to be made again.
            device: Where the model is.

        Raises:
            RecipeError: It does not run here.
        """
        wanted = wanted_engine(recipe)
        if device != recipe.device:
            raise engine_lacks(recipe)
        own = self.own()
        if own.name == recipe.engine:
            return own
        try:
            engine = self._engine(wanted)
        except ConfigError as error:
            raise engine_lacks(recipe) from error
        if engine.name != recipe.engine:
            raise engine_lacks(recipe)
        return engine

    def _make_quietly(self) -> None:
        with suppress(ConfigError):  # said to whoever needs it
            self.own()

    def _engine(self, wanted: str) -> Engine:
        with self._making:
            engine = self._made.get(wanted)
            if engine is None:
                engine = self._made[wanted] = make_engine(self._model, wanted)
            return engine
