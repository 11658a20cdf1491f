"""Fitting the byte-pair encoding of a flat token scheme to a folder."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from musicgen.corpus import Refusal, ScanProgress, Source, find_sources, read_sources
from musicgen.corpus.split import HELD_FOLDERS, IGNORED_FOLDERS
from musicgen.errors import MidiError
from musicgen.midi import read_midi
from musicgen.tokens import Tokenizer

if TYPE_CHECKING:
    from symusic.core import ScoreTick as Score

_MAX_FILES = 200
"""Merges settle on far fewer files than a corpus has."""


def fit_flat_tokenizer(
    folder: Path, scheme: str, vocab_size: int
) -> Generator[ScanProgress, None, Tokenizer]:
    """Fit a flat scheme to an even choice of a folder's files; yield progress, return it."""
    from musicgen.tokens.flat import train_flat_tokenizer

    aside = set(HELD_FOLDERS + IGNORED_FOLDERS)
    sources = [
        source
        for source in find_sources(folder).music
        if not aside & {part.lower() for part in source.name.split("/")[:-1]}
    ]
    chosen = sources[:: max(1, len(sources) // _MAX_FILES)][:_MAX_FILES]
    yield ScanProgress(done=0, total=len(chosen), refused=0)
    return train_flat_tokenizer(scheme, _scores(chosen), vocab_size=vocab_size)


def _scores(sources: list[Source]) -> Iterator[Score]:
    for source, data in read_sources(sources):
        if isinstance(data, Refusal):
            continue  # the scan that follows tells the reason
        try:
            yield read_midi(data, name=source.name).score
        except MidiError:
            continue  # the scan that follows refuses it with its reason
