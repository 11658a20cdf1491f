"""What decides a take's bytes, as it stands in the take's own file.

A MIDI file that musicgen makes holds one text event more than its music: `PREFIX` and a line of
JSON (`docs/recipe.md`). It names no date, no path and no duration of the work, so the same inputs
still give the same bytes. Whoever gets the file may have changed it: reading is strict.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Final

import musicgen
from musicgen.errors import MusicgenError, RecipeError
from musicgen.generation import LengthPlan, SamplingSettings
from musicgen.midi import MidiDocument, printable, read_midi, texts
from musicgen.pipeline.arguments import checked_seed, checked_span

PREFIX: Final = "musicgen-recipe:"
VERSION: Final = 1
MAX_NAME: Final = 120  # characters of a model's name
_MAX_BYTES: Final = 8192  # ours have about 500
_MAX_STEPS: Final = 10**8
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_WORD: Final = re.compile(r"[0-9A-Za-z.+_-]{1,64}")
_MADE_ANEW: Final = "The notes are not touched by that: the file can be played and gone on from."


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """All that a take depends on.

    Attributes:
        version: Of this format.
        musicgen: The version of musicgen that made it.
        model: What the model is called: to be shown, never to be looked for.
        model_sha256: Hash of the model's weights; "" for a model that was never saved.
        engine: What computed, and how exactly ("numba-int8"), as `Take.engine`.
        device: Where: "cpu" or "cuda".
        seed: What the random numbers began from.
        seconds: Length of the new music that was asked for; None left it to the model.
        temperature: See `SamplingSettings`, as the next ones.
        top_p: None for the defaults.
        top_k: 0 for all.
        min_p: 0 for all.
        per_attribute: Other values for single attributes.
        may_end_early: Whether the model's own end was accepted.
        prompt_sha256: SHA-256 of the file that was gone on from; None where there was none.
        prompt_seconds: How much of it was used; None for all of it.
        only_new: Whether the prompt was left out of the file.
        stopped_after: After so many steps of the stream it was stopped by hand; None if it was not.

    Raises:
        RecipeError: A value is out of its range.
    """

    version: int = VERSION
    musicgen: str = musicgen.__version__
    model: str
    model_sha256: str
    engine: str
    device: str
    seed: int
    seconds: float | None
    temperature: float = 1.0
    top_p: float | None = None
    top_k: int = 0
    min_p: float = 0.0
    per_attribute: Mapping[str, Mapping[str, int | float]] = field(default_factory=dict, hash=False)
    may_end_early: bool = False
    prompt_sha256: str | None = None
    prompt_seconds: float | None = None
    only_new: bool = False
    stopped_after: int | None = None

    def __post_init__(self) -> None:
        words = (self.musicgen, self.engine, self.device)
        hashes = [each for each in (self.model_sha256, self.prompt_sha256) if each]
        prompt = self.prompt_sha256 is not None
        steps = self.stopped_after
        for is_right, what in (
            (all(_WORD.fullmatch(word) for word in words), "a name is none"),
            (all(_SHA256.fullmatch(each) for each in hashes), "a hash is no SHA-256"),
            (self.prompt_sha256 != "", "the prompt's hash is empty"),
            (self.model == printable(self.model, limit=MAX_NAME), "the model's name is none"),
            (prompt or self.prompt_seconds is None, "there is a prompt's length and no prompt"),
            (prompt or not self.only_new, "a prompt is left out, and there is none"),
            (steps is None or 0 < steps <= _MAX_STEPS, "it was stopped at no step"),
        ):
            if not is_right:
                raise _damaged(what)
        try:
            self.settings()
            LengthPlan(seconds=self.seconds)
            checked_seed(self.seed)
            checked_span(self.prompt_seconds)
        except MusicgenError as error:
            raise _damaged(error.message) from error

    def settings(self) -> SamplingSettings:
        """Return the settings of the draw.

        Raises:
            ConfigError: One is out of its range.
        """
        return SamplingSettings(
            temperature=self.temperature,
            top_p=self.top_p,
            top_k=self.top_k,
            min_p=self.min_p,
            per_attribute=self.per_attribute,
        )

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, in the order of the file."""
        return asdict(self)

    def to_text(self) -> str:
        """Return the text that stands in the file, in ASCII."""
        return PREFIX + json.dumps(self.as_dict(), separators=(",", ":"), allow_nan=False)


def recipe_of(source: bytes | str | Path | MidiDocument) -> Recipe | None:
    """Return the recipe that stands in a MIDI file; None where there is none.

    A file that goes on from a take holds that take's recipe too, in the take's own track. The last
    one is the file's own: new music is the last track.

    Args:
        source: The file's bytes, its path, or what `read_midi` returned.

    Raises:
        MidiReadError: It is no MIDI file.
        RecipeError: What stands there is damaged, or of a version that is not known.
    """
    document = source if isinstance(source, MidiDocument) else read_midi(source)
    found = texts(document, prefix=PREFIX.encode())
    return _read(found[-1]) if found else None


def _read(raw: bytes) -> Recipe:
    if len(raw) > _MAX_BYTES:
        raise _damaged(f"it has {len(raw):,} bytes, and {_MAX_BYTES:,} are the most")
    from musicgen import configio  # pydantic is slow to import, and most files hold no recipe

    try:
        given = configio.strict_json(raw[len(PREFIX) :].decode("ascii"))
    except (ValueError, RecursionError) as error:
        raise _damaged("it is not JSON") from error
    version = given.get("version") if isinstance(given, dict) else None
    if not isinstance(version, int) or isinstance(version, bool):
        raise _damaged("it names no version")
    if version != VERSION:
        raise RecipeError(
            f"The recipe in the file is of version {printable(str(version), limit=40)}; this "
            f"program reads version {VERSION}.",
            hint="Update musicgen to make it again.",
            code="recipe-version",
        )
    missing = [each.name for each in fields(Recipe) if each.name not in given]
    if missing:  # what is left out today may mean something else tomorrow
        raise _damaged(f"it does not say {missing[0]}")
    try:
        return configio.from_mapping(Recipe, given, where="it")
    except RecipeError:
        raise
    except MusicgenError as error:
        raise _damaged(error.message) from error


def _damaged(what: str) -> RecipeError:
    return RecipeError(
        f"The recipe in the file cannot be used: {printable(what, limit=300).rstrip('.')}.",
        hint=_MADE_ANEW,
        code="recipe-damaged",
    )
