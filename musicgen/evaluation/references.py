"""The references that ship with musicgen: what MAESTRO's training pieces are like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from musicgen import configio
from musicgen.assets import asset_dir
from musicgen.errors import ConfigError
from musicgen.evaluation.excerpts import SCHEME
from musicgen.evaluation.histograms import HISTOGRAM_EDGES
from musicgen.evaluation.spread import Reference
from musicgen.evaluation.statistics import STATISTICS
from musicgen.tokens import get_tokenizer

FORMAT = "musicgen-statistics"
VERSION = 1
FILE = "statistics.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceFile:
    """What `checkpoints/statistics.json` holds.

    Attributes:
        format: Always "musicgen-statistics".
        version: Of the format and of the definitions.
        tokenizer: Fingerprint of the tokens through which the music went.
        references: One for each length of excerpts.
    """

    format: str
    version: int
    tokenizer: str
    references: tuple[Reference, ...]


def load_reference(seconds: float, path: Path | None = None) -> Reference:
    """Return the reference for excerpts of a length.

    Args:
        seconds: Length of the excerpts.
        path: The file; None for the one that ships.

    Raises:
        ConfigError: The file cannot be used, or has none of this length.
    """
    references = load_references(path)
    for reference in references:
        if reference.seconds == seconds:
            return reference
    lengths = ", ".join(f"{reference.seconds:g}" for reference in references)
    raise ConfigError(
        f"There is no reference for excerpts of {seconds:g} s; there is one for {lengths} s.",
        hint="Choose one of these lengths, or compare with a folder of music.",
    )


def load_references(path: Path | None = None) -> tuple[Reference, ...]:
    """Return the references of a file, one for each length of excerpts.

    Args:
        path: The file; None for the one that ships.

    Raises:
        ConfigError: The file cannot be used.
    """
    path = asset_dir("checkpoints") / FILE if path is None else path
    file = configio.load_json(path, ReferenceFile)
    if (file.format, file.version) != (FORMAT, VERSION):
        raise ConfigError(
            f"{path} is a {file.format!r} of version {file.version}; this program reads "
            f"{FORMAT!r} of version {VERSION}.",
            hint="Make it anew with checkpoints/make_statistics.py.",
        )
    if file.tokenizer != get_tokenizer(SCHEME).fingerprint:
        raise ConfigError(
            f"{path} was made from music in other tokens than this version's.",
            hint="Make it anew with checkpoints/make_statistics.py.",
        )
    for reference in file.references:
        _check_names(reference, path)
    return file.references


def reference_file(references: Sequence[Reference]) -> ReferenceFile:
    """Return references as the file holds them."""
    return ReferenceFile(
        format=FORMAT,
        version=VERSION,
        tokenizer=get_tokenizer(SCHEME).fingerprint,
        references=tuple(references),
    )


def _check_names(reference: Reference, path: Path) -> None:
    found = (set(reference.statistics), set(reference.histograms))
    if found != (set(STATISTICS), set(HISTOGRAM_EDGES)):
        raise ConfigError(
            f"{path} holds other statistics than this version's.",
            hint="Make it anew with checkpoints/make_statistics.py.",
        )
